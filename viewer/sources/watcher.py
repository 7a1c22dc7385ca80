"""Watch a file for changes: poll with a pause that file system events cut short.

Polling must suffice on its own: network and container mounts send no events, and neither does a missing file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

_STEP_MS = 10
_DEBOUNCE_MS = 50
_LOOK_AGAIN_MS = 500
"""The interval in milliseconds at which to check whether the watched folders were replaced."""


class Watcher(Protocol):
    """A pause that can be cut short."""

    def wait(self, timeout: float) -> bool:
        """Wait at most `timeout` seconds. Return True if something happened."""

    async def wait_async(self, timeout: float) -> bool:
        """Like `wait`, for use in an event loop."""

    def close(self) -> None:
        """Release the watcher."""


Watch = Callable[[str], Watcher]
"""A function that starts watching the file at this path."""


class Polling:
    """A fixed pause, without events."""

    def wait(self, timeout: float) -> bool:
        time.sleep(timeout)
        return False

    async def wait_async(self, timeout: float) -> bool:
        import asyncio  # already loaded where there is an event loop; commands with -f have none

        await asyncio.sleep(timeout)
        return False

    def close(self) -> None:
        """Do nothing."""


class FolderWatcher:
    """A watcher that wakes on events in the folder of a file and, for a symlink, in the folder of its target.

    One thread watches. If nothing can be watched, this falls back to polling."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._happened = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="wake", daemon=True)
        self._thread.start()

    def wait(self, timeout: float) -> bool:
        happened = self._happened.wait(timeout)
        self._happened.clear()
        return happened

    async def wait_async(self, timeout: float) -> bool:
        import asyncio

        return await asyncio.to_thread(self.wait, timeout)

    def close(self) -> None:
        """End the thread."""
        self._stopped.set()
        self._happened.set()
        self._thread.join(timeout=2 * _LOOK_AGAIN_MS / 1000)

    def _watch(self) -> None:
        while not self._stopped.is_set():
            folders = watched_folders(self._path)
            if not folders or not self._watch_folders(folders):
                self._stopped.wait(_LOOK_AGAIN_MS / 1000)
            elif not self._stopped.is_set():
                self._happened.set()  # the folders changed, so events may have been lost

    def _watch_folders(self, folders: dict[str, int]) -> bool:
        """Watch until the set of folders to watch changes. Return False if they cannot be watched."""
        from watchfiles import watch  # needed only for following a file

        try:
            for happened in watch(
                *folders,
                watch_filter=None,
                step=_STEP_MS,
                debounce=_DEBOUNCE_MS,
                rust_timeout=_LOOK_AGAIN_MS,
                yield_on_timeout=True,
                recursive=False,
                stop_event=self._stopped,
                raise_interrupt=False,
                ignore_permission_denied=True,
            ):
                if any(Path(path).name in self._names() for _, path in happened):
                    self._happened.set()
                if watched_folders(self._path) != folders:
                    return True
        except (OSError, RuntimeError):  # no events here, or no more watches are available
            return False
        return True

    def _names(self) -> set[str]:
        return {Path(self._path).name, Path(os.path.realpath(self._path)).name}


def watched_folders(path: str) -> dict[str, int]:
    """Return the folders where a change may matter, each with its inode, which shows whether a folder was recreated."""
    folders = {}
    for file in (os.path.abspath(path), os.path.realpath(path)):  # noqa: PTH100 (the symlink must stay)
        folder = str(Path(file).parent)
        try:
            folders[folder] = os.stat(folder).st_ino  # noqa: PTH116
        except OSError:
            continue
    return folders
