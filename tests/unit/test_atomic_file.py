"""A file is complete or absent."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from viewer.atomic_file import AtomicFile, OutputExistsError
from viewer.errors import ViewerError


def write(path: Path, text: str = "new", *, overwrite: bool = False, private: bool = False) -> None:
    with AtomicFile(path, overwrite=overwrite, private=private) as file:
        file.write(text)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("")
    write(tmp_path / "a", "ä\ud800")
    assert (tmp_path / "a").read_text("utf-8") == "ä?"
    assert mode(tmp_path / "a") == mode(tmp_path / "other")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "other"]


def test_a_private_file_is_for_its_owner_even_if_it_replaces_another(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o666)
    write(tmp_path / "a", overwrite=True, private=True)
    assert mode(tmp_path / "a") == 0o600
    assert (tmp_path / "a").read_text() == "new"


def test_an_existing_file_stays_unless_it_may_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(OutputExistsError):
        write(tmp_path / "a")
    assert (tmp_path / "a").read_text() == "old"


def test_a_file_created_in_the_meantime_stays_too(tmp_path: Path) -> None:
    with pytest.raises(OutputExistsError), AtomicFile(tmp_path / "a") as file:
        file.write("new")
        (tmp_path / "a").write_text("faster")
    assert (tmp_path / "a").read_text() == "faster"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ViewerError, ValueError])
def test_an_interruption_leaves_nothing(tmp_path: Path, error: type[BaseException]) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(error), AtomicFile(tmp_path / "a", overwrite=True) as file:
        file.write("half")
        raise error
    assert (tmp_path / "a").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_is_reported_in_one_sentence_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, call, full)
    with pytest.raises(ViewerError, match=r"a cannot be written: No space left on device$"):
        write(tmp_path / "a", overwrite=True)
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_or_a_folder_as_the_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ViewerError, match="No such file"):
        write(tmp_path / "nowhere" / "a")
    with pytest.raises(ViewerError, match="is a directory"):
        write(tmp_path)


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    write(tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "new"


def test_the_input_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("input")
    (tmp_path / "b").hardlink_to(tmp_path / "a")
    for name in ("a", "b"):
        with (
            pytest.raises(ViewerError, match="is the input"),
            AtomicFile(tmp_path / name, overwrite=True, never=tmp_path / "a"),
        ):
            pass
    assert (tmp_path / "a").read_text() == "input"


def test_without_hard_links_the_file_is_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    write(tmp_path / "a")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_pipes_and_devices_are_written_to(tmp_path: Path) -> None:
    write(Path(os.devnull))
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(fifo.read_text()))
    reader.start()
    write(fifo, "through")
    reader.join(5)
    assert got == ["through"]
