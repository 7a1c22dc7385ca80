"""Find the newest transcript of a folder and report newer ones as they appear."""

from __future__ import annotations

import time

from viewer.errors import ViewerError
from viewer.sources.folder import Found, look_through
from viewer.sources.followed_file import Clock

PAUSE, LONGEST_PAUSE = 0.5, 5.0
"""The minimum and maximum number of seconds between scans. After a slow scan, the pause is longer, so scanning takes at
most a tenth of the time. The maximum keeps one exceptionally slow scan from delaying the next by minutes."""


class NewestFile:
    """Scans a folder periodically. After the first scan, only a file that did not exist before is considered newer, so
    that the viewer does not alternate between two growing files."""

    def __init__(self, folder: str, clock: Clock = time.monotonic) -> None:
        self.folder = folder
        self._clock = clock
        self._known: dict[str, Found | None] = {}
        self._names: set[str] = set()
        self._next_look = clock()

    def look(self) -> str | None:
        """Scan the folder if a scan is due. Return the path of a newer file to follow, or None if there is none."""
        begun = self._clock()
        if begun < self._next_look:
            return None
        if len(self._known) > 2 * len(self._names) + 1000:  # each size of a growing file has its own entry
            self._known.clear()
        found = self._transcripts()
        new = [one for one in found if one.path not in self._names]
        self._names |= {one.path for one in found}
        self._next_look = self._clock() + min(LONGEST_PAUSE, max(PAUSE, 9 * (self._clock() - begun)))
        return max(new, key=lambda one: (one.modified, one.path)).path if new else None

    def _transcripts(self) -> list[Found]:
        """Return the readable transcripts, or none if the folder does not exist."""
        try:
            return [found for found in look_through(self.folder, self._known) if found and not found.reason]
        except (OSError, ViewerError):
            return []
