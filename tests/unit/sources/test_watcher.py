"""What is told of changes to a folder, and how soon."""

from __future__ import annotations

import asyncio
import errno
import threading
import time
from pathlib import Path

import pytest

from tests.support.source_following import append, failing
from viewer.sources.changes import Grew
from viewer.sources.follow import FollowSource
from viewer.sources.watcher import FolderWatcher, Polling, watched_folders


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.log"
    file.write_bytes(b"first\n")
    return file


@pytest.mark.slow
class TestWaking:
    def wakes_for(self, wake: FolderWatcher, action: object) -> float:
        """How long it took until an action was noticed."""
        assert callable(action)
        time.sleep(0.3)
        while wake.wait(0.05):
            pass
        begun = time.monotonic()
        action()
        while not wake.wait(0.05):
            assert time.monotonic() - begun < 10
        return time.monotonic() - begun

    def test_an_event_cuts_the_wait_short(self, path: Path) -> None:
        wake = FolderWatcher(str(path))
        assert self.wakes_for(wake, lambda: append(path, b"more")) < 2
        wake.close()

    def test_over_a_symlink_into_another_folder(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "links").mkdir()
        link = tmp_path / "links" / "link"
        link.symlink_to(path)
        assert set(watched_folders(str(link))) == {str(tmp_path / "links"), str(tmp_path)}
        wake = FolderWatcher(str(link))
        assert self.wakes_for(wake, lambda: append(path, b"more")) < 2
        wake.close()

    def test_the_folder_disappears_and_comes_back(self, tmp_path: Path) -> None:
        folder = tmp_path / "folder"
        folder.mkdir()
        path = folder / "run.log"
        path.write_bytes(b"a")
        wake = FolderWatcher(str(path))
        path.unlink()
        folder.rmdir()
        time.sleep(0.7)
        folder.mkdir()
        time.sleep(1.2)
        self.wakes_for(wake, lambda: path.write_bytes(b"b"))
        wake.close()

    def test_the_file_is_read_without_any_event(self, path: Path) -> None:
        source = FollowSource(str(path), wake=Polling())
        source.poll()
        append(path, b"more")
        assert not source.wait(0.01)
        assert source.poll() == [Grew(b"more")]

    def test_polling_works_without_events(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import watchfiles

        monkeypatch.setattr(watchfiles, "watch", failing(errno.ENOSPC))
        wake = FolderWatcher(str(path))
        assert not wake.wait(0.2)
        wake.close()

    def test_waiting_in_an_event_loop(self, path: Path) -> None:
        async def wait() -> tuple[bool, bool]:
            wake = FolderWatcher(str(path))
            source = FollowSource(str(path), wake=wake)
            await asyncio.sleep(0.3)
            while await source.wait_async(0.1):
                pass
            append(path, b"more")
            woken = await source.wait_async(10)
            source.close()
            return woken, await Polling().wait_async(0.0)

        assert asyncio.run(wait()) == (True, False)

    def test_the_thread_ends_with_the_watcher(self, path: Path) -> None:
        before = threading.active_count()
        FolderWatcher(str(path)).close()
        assert threading.active_count() == before
