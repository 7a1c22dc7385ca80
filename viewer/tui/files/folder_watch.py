"""Folder watch: detects new transcripts while one is on the screen."""

from __future__ import annotations

from collections.abc import Iterable

from viewer.sources.folder import Found
from viewer.tui.files.listing import FileListing

BUDGET_SECONDS = 0.005


class FolderWatch:
    """Lists the folder repeatedly in small time slices."""

    def __init__(self, listing: FileListing, known: Iterable[str] | None) -> None:
        """`known` are the files that are not considered new; if None, the files of the first complete listing."""
        self._listing = listing
        self._known = None if known is None else set(known)

    def step(self) -> list[Found]:
        """List files until the time slice is used up. When a listing is complete, return the new files, newest last."""
        if self._listing.list_some(BUDGET_SECONDS):
            return []
        known = self._known if self._known is not None else {file.path for file in self.files}
        new = [file for file in self.files if file.path not in known]
        self._known = known | {file.path for file in new}
        self._listing.list_again()
        return sorted(new, key=lambda file: file.modified)

    @property
    def is_listed(self) -> bool:
        """True if the folder has been listed completely at least once."""
        return self._listing.is_listed

    @property
    def files(self) -> list[Found]:
        """The readable transcripts, in list order."""
        return [file for file in self._listing.files if not file.reason]
