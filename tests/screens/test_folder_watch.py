"""New files in a folder: only files that appear after the first listing are new."""

from __future__ import annotations

from pathlib import Path

import pytest

from viewer.sources.folder import Found, list_transcripts
from viewer.tui.files.folder_watch import FolderWatch
from viewer.tui.files.listing import FileListing

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
