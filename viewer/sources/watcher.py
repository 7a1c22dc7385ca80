"""Waiting for a file to change: a pause between two polls, cut short by the events of the file system where it has any.

Polling alone must do: there are no events on network and container mounts, and none for what does not exist yet."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

_STEP_MS = 10
_DEBOUNCE_MS = 50
_LOOK_AGAIN_MS = 500
"""So often it is looked whether the folders are still the same."""


class Watcher(Protocol):
    """A pause that may be cut short."""

    def wait(self, timeout: float) -> bool:
        """Wait so many seconds at most; whether something happened meanwhile."""

    async def wait_async(self, timeout: float) -> bool:
        """The same in an event loop."""

    def close(self) -> None:
        """No longer needed."""


Watch = Callable[[str], Watcher]
"""Start to watch a file, given its path."""


class Polling:
    """Knows nothing but time."""

    def wait(self, timeout: float) -> bool:
        """Wait so many seconds."""
        time.sleep(timeout)
        return False

    async def wait_async(self, timeout: float) -> bool:
        """The same in an event loop."""
        await asyncio.sleep(timeout)
        return False

    def close(self) -> None:
        """Nothing to close."""


class FolderWatcher:
    """Is woken by events in the folder of a file, and in that of its target where it is a symlink.

    One thread watches; where there is nothing to be watched, this is polling."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._happened = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="wake", daemon=True)
        self._thread.start()

    def wait(self, timeout: float) -> bool:
        """Wait so many seconds at most; whether something happened meanwhile."""
        happened = self._happened.wait(timeout)
        self._happened.clear()
        return happened

    async def wait_async(self, timeout: float) -> bool:
        """The same in an event loop."""
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
                self._happened.set()  # the folders have changed, and what happened in between was not seen

    def _watch_folders(self, folders: dict[str, int]) -> bool:
        """Watch until these are no longer the folders to watch; False where they cannot be watched."""
        from watchfiles import watch  # only who follows a file needs it

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
        except (OSError, RuntimeError):  # no events here, or no more watches to be had
            return False
        return True

    def _names(self) -> set[str]:
        return {Path(self._path).name, Path(os.path.realpath(self._path)).name}


def watched_folders(path: str) -> dict[str, int]:
    """The folders in which a change may matter, each with its inode, by which one that came back is known."""
    folders = {}
    for file in (os.path.abspath(path), os.path.realpath(path)):  # noqa: PTH100 (the symlink must stay)
        folder = str(Path(file).parent)
        try:
            folders[folder] = os.stat(folder).st_ino  # noqa: PTH116
        except OSError:
            continue
    return folders
