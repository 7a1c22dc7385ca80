"""Watchers of a folder: which changes wake them, and polling without events."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.source_following import append, failing
from viewer.sources.changes import Grew
from viewer.sources.follow import FollowSource
from viewer.sources.watcher import FolderWatcher, Polling, watched_folders

LONGEST = 60.0
"""The longest wait in seconds."""
MOST_TRIES = 300


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.log"
    file.write_bytes(b"first\n")
    return file


def notices(watcher: FolderWatcher, act: Callable[[], object]) -> bool:
    """Repeat an action until the watcher reports an event, because early ones may precede its start. Return True if it
    reports one."""
    for _ in range(MOST_TRIES):
        act()
        if watcher.wait(0.2):
            return True
    return False


@pytest.mark.slow
class TestWaking:
    def test_an_event_cuts_the_wait_short(self, path: Path) -> None:
        watcher = FolderWatcher(str(path))
        assert notices(watcher, lambda: append(path, b"more"))
        watcher.close()

    def test_over_a_symlink_into_another_folder(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "links").mkdir()
        link = tmp_path / "links" / "link"
        link.symlink_to(path)
        assert set(watched_folders(str(link))) == {str(tmp_path / "links"), str(tmp_path)}
        watcher = FolderWatcher(str(link))
        assert notices(watcher, lambda: append(path, b"more"))
        watcher.close()

    def test_the_folder_disappears_and_comes_back(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        missed = threading.Event()

        def watched(path: str) -> dict[str, int]:
            folders = watched_folders(path)
            if not folders:
                missed.set()
            return folders

        monkeypatch.setattr("viewer.sources.watcher.watched_folders", watched)
        folder = tmp_path / "folder"
        folder.mkdir()
        path = folder / "run.log"
        path.write_bytes(b"a")
        watcher = FolderWatcher(str(path))
        path.unlink()
        folder.rmdir()
        assert missed.wait(LONGEST)
        folder.mkdir()
        assert notices(watcher, lambda: append(path, b"b"))
        watcher.close()

    def test_the_file_is_read_without_any_event(self, path: Path) -> None:
        source = FollowSource(str(path), wake=Polling())
        source.poll()
        append(path, b"more")
        assert not source.wait(0.01)
        assert source.poll() == [Grew(b"more")]

    def test_polling_works_without_events(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import watchfiles

        asked, fail = threading.Event(), failing(errno.ENOSPC)

        def watch(*folders: str, **options: object) -> None:
            asked.set()
            fail()

        monkeypatch.setattr(watchfiles, "watch", watch)
        watcher = FolderWatcher(str(path))
        assert asked.wait(LONGEST)
        assert not watcher.wait(0.01)
        watcher.close()

    def test_waiting_in_an_event_loop(self, path: Path) -> None:
        async def wait() -> tuple[bool, bool]:
            source = FollowSource(str(path), wake=FolderWatcher(str(path)))
            for _ in range(MOST_TRIES):
                append(path, b"more")
                if woken := await source.wait_async(0.2):
                    break
            source.close()
            return woken, await Polling().wait_async(0.0)

        assert asyncio.run(wait()) == (True, False)

    def test_the_thread_ends_with_the_watcher(self, path: Path) -> None:
        before = set(threading.enumerate())
        watcher = FolderWatcher(str(path))
        threads = set(threading.enumerate()) - before
        watcher.close()
        for thread in threads:
            thread.join(LONGEST)
        assert threads and not any(thread.is_alive() for thread in threads)
