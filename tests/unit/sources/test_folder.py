"""The transcripts of a folder: which files are included, their order, and unreadable files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from viewer.errors import ViewerError
from viewer.sources import folder
from viewer.sources.folder import Found, count_files, found_file, list_transcripts, look_through

TEXT = "version: 2.2\n\n<|start|>user<|message|>Hi<|end|>\n"
HARMONY = "<|start|>user<|message|>Hi<|end|><|start|>assistant<|channel|>final<|message|>Ho<|return|>"


def made(top: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return top


def names(top: Path) -> list[str]:
    return [found.name for found in list_transcripts(str(top))]


def test_transcripts_are_recognized_by_their_beginning(tmp_path: Path) -> None:
    made(
        tmp_path,
        {
            "a.txt": TEXT,
            "b.log": HARMONY,
            "c.json": '[{"role": "user", "content": "Hi"}]',
            "d.txt": TEXT.encode("utf-16"),
            "notes.txt": "nothing of that kind",
            "settings.json": '{"color": 1}',
            "quotes.py": HARMONY,
            "empty.txt": "",
            "empty.ocml": "",
        },
    )
    found = {each.name: each.format for each in list_transcripts(str(tmp_path))}
    assert found == {
        "a.txt": "openchatml-2.2",
        "b.log": "harmony",
        "c.json": "json",
        "d.txt": "openchatml-2.2",
        "empty.ocml": "openchatml-2.2",
    }


def test_size_and_time_are_those_of_the_file(tmp_path: Path) -> None:
    made(tmp_path, {"a.ocml": TEXT})
    os.utime(tmp_path / "a.ocml", (1000, 2000))
    (found,) = list_transcripts(str(tmp_path))
    assert found == Found(str(tmp_path / "a.ocml"), "a.ocml", "openchatml-2.2", found.confidence, len(TEXT), 2000)


def test_folders_of_any_depth_come_after_the_files_and_numbers_count(tmp_path: Path) -> None:
    files = ["b10.ocml", "B9.ocml", "a/z.ocml", "a/2/3/4.ocml", ".hidden.ocml", ".git/x.ocml", "run2/.no.ocml"]
    assert names(made(tmp_path, dict.fromkeys(files, TEXT))) == ["B9.ocml", "b10.ocml", "a/z.ocml", "a/2/3/4.ocml"]


def test_symlinks_to_a_folder_above_or_to_the_same_folder_are_not_followed_twice(tmp_path: Path) -> None:
    made(tmp_path, {"a/z.ocml": TEXT})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a/z.ocml"]
    assert count_files(str(tmp_path)) == 1


def test_unreadable_files_are_listed_with_the_reason(tmp_path: Path) -> None:
    made(tmp_path, {"a.ocml": TEXT, "sub/b.ocml": TEXT})
    (tmp_path / "broken.ocml").symlink_to(tmp_path / "gone")
    found = {each.name: each.reason for each in list_transcripts(str(tmp_path))}
    assert found == {"a.ocml": "", "broken.ocml": "no such file or directory", "sub/b.ocml": ""}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_permission(tmp_path: Path) -> None:
    made(tmp_path, {"a.ocml": TEXT, "sub/b.ocml": TEXT})
    (tmp_path / "a.ocml").chmod(0)
    (tmp_path / "sub").chmod(0)
    found = {each.name: each.reason for each in list_transcripts(str(tmp_path))}
    (tmp_path / "sub").chmod(0o700)
    assert found == {"a.ocml": "permission denied", "sub/": "permission denied"}


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.ocml")
    assert names(tmp_path) == []
    assert found_file(str(tmp_path / "pipe.ocml"), "pipe").format is None


def test_files_may_have_any_name(tmp_path: Path) -> None:
    made(tmp_path, {"\x1b]0;x\x07[red].ocml": TEXT, "٣.ocml": TEXT, "²2.ocml": TEXT})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.ocml"))).write_text(TEXT)
    assert len(names(tmp_path)) == 4


def test_the_number_of_files_is_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "MOST_FILES", 3)
    found = list_transcripts(str(made(tmp_path, {f"{n}.ocml": TEXT for n in range(9)})))
    assert [each.name for each in found] == ["0.ocml", "1.ocml", "2.ocml", "more files"]
    assert found[-1].reason == "only the first 3 are listed"


def test_a_second_scan_reads_only_changed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path, {"a.ocml": TEXT, "b.txt": "no"})
    read: list[str] = []
    recognised = folder._recognised

    def noted(path: str) -> tuple[str, float]:
        read.append(Path(path).name)
        return recognised(path)

    monkeypatch.setattr(folder, "_recognised", noted)
    known: dict[str, Found | None] = {}
    first = list(look_through(str(tmp_path), known))
    made(tmp_path, {"c.ocml": TEXT})
    second = list(look_through(str(tmp_path), known))
    assert read == ["a.ocml", "b.txt", "c.ocml"]
    assert second[:2] == first


def test_a_missing_folder_is_reported_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ViewerError, match="is not a directory"):
        list_transcripts(str(tmp_path / "gone"))
