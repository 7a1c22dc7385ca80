"""New files in a folder: only files that appear after the first listing are new."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from pathlib import Path
from threading import get_ident
from unittest.mock import Mock

import pytest
from textual.worker import Worker

from viewer.model.visibility import END_USER
from viewer.sources import walk as walk_module
from viewer.sources.folder import Found, list_transcripts
from viewer.sources.walk import walk
from viewer.tui.files.folder_watch import FolderWatch
from viewer.tui.files.listing import FileListing
from viewer.tui.files.lists import FileLists
from viewer.tui.files.screen import Choice

TEXT = "version: 2.2\n<|start|>user<|message|>Hello<|end|>\n"


def listing(watch: FolderWatch) -> list[Found]:
    """Return the new files of one complete listing."""
    for _ in range(1000):
        new = watch.step()
        if new or watch.is_listed:
            return new
    raise AssertionError("the folder was never listed")


@pytest.mark.parametrize("knows", [True, False], ids=["listed before", "listed by the first scan"])
def test_only_a_file_that_appears_later_is_new(tmp_path: Path, knows: bool) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.ocml").write_text(TEXT)
    known = [file.path for file in list_transcripts(str(tmp_path))] if knows else None
    watch = FolderWatch(FileListing(str(tmp_path)), known)
    assert listing(watch) == []
    (tmp_path / "three.ocml").write_text(TEXT)
    new: list[Found] = []
    for _ in range(1000):
        new += watch.step()
    assert [file.name for file in new] == ["three.ocml"]


async def test_a_folder_is_watched_in_a_thread_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.ocml").write_text(TEXT)
    lists = FileLists(END_USER, None, None, {}, follows=False)
    lists.open([str(tmp_path)])
    lists.choose(Choice(str(tmp_path / "one.ocml"), (), known=()))
    threads: set[int] = set()
    step = FolderWatch.step

    def noted(watch: FolderWatch) -> list[Found]:
        threads.add(get_ident())
        return step(watch)

    monkeypatch.setattr(FolderWatch, "step", noted)
    tasks: list[Callable[[], Coroutine[None, None, None]]] = []
    offered: list[Found] = []

    def start(task: Callable[[], Coroutine[None, None, None]]) -> Worker[None]:
        tasks.append(task)
        return Mock(is_finished=False)

    for _ in range(3):
        lists.look_for_files(start, offered.extend)
    assert len(tasks) == 1
    while not offered:
        await tasks[0]()
    assert [file.name for file in offered] == ["one.ocml"]
    assert threads and get_ident() not in threads


def test_a_large_folder_is_sorted_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{number}{ending}" for number in range(40) for ending in (".ocml", ".x")]
    for name in names:
        (tmp_path / name).touch()
    monkeypatch.setattr(walk_module, "_PORTION", 7)
    assert [Path(each.path).name for each in walk(str(tmp_path))] == names
