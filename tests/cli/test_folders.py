"""`check`, `show`, and `stats` read a folder with all folders below it."""

from __future__ import annotations

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from tests.support.program import BROKEN, CHAT, run

COMMANDS = ["show", "check", "stats"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    top = tmp_path / "logs"
    for name in (
        "b10.ocml",
        "b9.ocml",
        "2024/x/deep.ocml",
        "2024/a.log",
        ".hidden.ocml",
        ".git/x.ocml",
        "2024/.no.ocml",
    ):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(BROKEN if name == "2024/a.log" else CHAT)
    (top / "zipped.gz").write_bytes(gzip.compress(CHAT.encode()))
    (top / "notes.txt").write_text("nothing of that kind")
    (top / "quotes.py").write_text(CHAT)
    os.mkfifo(top / "pipe.ocml")
    (top / "2024" / "x" / "loop").symlink_to(top)
    (top / "2024" / "again").symlink_to(top / "2024" / "x")
    (top / "zero.ocml").symlink_to("/dev/zero")
    return top


READ = ["b9.ocml", "b10.ocml", "zipped.gz", "2024/a.log", "2024/again/deep.ocml"]


@pytest.mark.parametrize("command", COMMANDS)
def test_its_transcripts_are_read_in_order_and_each_folder_once(command: str, folder: Path) -> None:
    result = run(command, "--json", folder)
    files = [json.loads(line).get("file") for line in result.out.splitlines()]
    assert result.err == ""
    assert result.code == (1 if command == "check" else 0)
    wanted = [str(folder / name) for name in READ]
    assert list(dict.fromkeys(filter(None, files))) == ([wanted[3]] if command == "check" else wanted)


def test_the_text_names_each_file(folder: Path) -> None:
    for command in ("show", "stats"):
        out = run(command, folder).out
        places = [out.index(f" {folder / name} ") for name in READ]
        assert places == sorted(places)
    assert run("check", folder).out.startswith(f"{folder / '2024' / 'a.log'}:3:")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_unreadable_file_does_not_stop_the_rest(command: str, folder: Path) -> None:
    (folder / "a0.ocml").symlink_to(folder / "gone")
    result = run(command, folder)
    assert result.code == 2
    assert result.err == f"ocmlview: {folder / 'a0.ocml'} cannot be read: no such file or directory\n"
    assert "2024" in result.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_does_not_stop_the_rest(folder: Path) -> None:
    (folder / "b9.ocml").chmod(0)
    result = run("show", folder)
    assert (result.code, result.err) == (2, f"ocmlview: {folder / 'b9.ocml'} cannot be read: permission denied\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_folder_without_transcripts_is_reported_in_one_sentence(command: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing of that kind")
    result = run(command, "--json", tmp_path)
    assert result.code == 2
    assert result.err == f"ocmlview: no transcripts found in {tmp_path}\n"


def test_a_folder_and_a_file_can_be_mixed(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.ocml"
    other.write_text(CHAT)
    files = [json.loads(line)["file"] for line in run("show", "--json", other, folder / "2024").out.splitlines()]
    assert list(dict.fromkeys(files)) == [
        str(other),
        *(str(folder / "2024" / name) for name in ("a.log", "again/deep.ocml")),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--theme", "lihgt"], "unknown theme lihgt. Did you mean light?"),
        (["--theme", "../dark"], "unknown theme ../dark"),
        (["--goto", "nowhere"], "invalid position nowhere: expected a message (12)"),
        (["--format", "nonsense"], "unknown format nonsense; known formats: "),
        (["--stall-after", "3"], "--stall-after needs -f."),
        (["--color", "pink"], "'pink' is not one of"),
        (["--preambles", "pink"], "'pink' is not"),
        (["--reveal", "secrets"], "unknown kind 'secrets'"),
    ],
)
@pytest.mark.parametrize("target", ["file", "folder", "follow"])
def test_options_are_validated_without_a_screen_too(
    arguments: list[str], words: str, target: str, folder: Path
) -> None:
    if target == "follow" and arguments[0] == "--stall-after":
        return
    paths: dict[str, list[str | Path]] = {
        "file": [folder / "b9.ocml"],
        "folder": [folder],
        "follow": ["-f", "/dev/null"],
    }
    result = run("view", *arguments, *paths[target])
    assert (result.code, result.out) == (2, "")
    assert words in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("command", [*COMMANDS, "view", "convert", "export"])
def test_an_unknown_format_is_refused_before_anything_is_read(command: str) -> None:
    result = run(command, *(["--to", "json"] if command == "convert" else []), "--format", "nonsense", "/dev/zero")
    assert result.code == 2
    assert result.err.startswith("ocmlview: unknown format nonsense; known formats: ")


WRITING = {"export": (["export", "--to", "text"], ".safe.txt"), "convert": (["convert", "--to", "json"], ".json")}
OUT = ["b9", "b10", "zipped", "2024/a", "2024/again/deep"]
every_writing = pytest.mark.parametrize("command", WRITING)


def written_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@every_writing
def test_each_transcript_of_a_folder_gets_its_own_file(command: str, folder: Path, tmp_path: Path) -> None:
    words, ending = WRITING[command]
    out = tmp_path / "made" / "here"
    result = run(*words, "-o", out, folder)
    assert (result.code, result.out) == (0, "")
    assert written_below(out) == sorted(f"{name}{ending}" for name in OUT)
    alone = run(*words, "-o", "-", folder / "b9.ocml").out
    assert (out / f"b9{ending}").read_text("utf-8") == alone
    assert f" {out / f'2024/a{ending}'}" in result.err


@every_writing
def test_a_file_of_the_output_folder_is_replaced_only_by_force(command: str, folder: Path, tmp_path: Path) -> None:
    words, ending = WRITING[command]
    kept = tmp_path / f"b9{ending}"
    kept.write_text("mine")
    result = run(*words, "-o", tmp_path, folder)
    assert (result.code, kept.read_text()) == (2, "mine")
    assert f"ocmlview: {kept} already exists (use --force to overwrite)\n" in result.err
    assert (tmp_path / f"2024/a{ending}").exists()
    assert run(*words, "--force", "-o", tmp_path, folder).code == 0
    assert kept.read_text() != "mine"


@every_writing
def test_transcripts_with_the_same_name_do_not_overwrite_each_other(command: str, folder: Path) -> None:
    words, ending = WRITING[command]
    (folder / "b9.log").write_text(CHAT)
    result = run(*words, "--force", "-o", folder / "out", folder)
    assert result.code == 2
    assert (
        f"{folder / 'b9.ocml'} was not written: {folder / 'out' / f'b9{ending}'} contains another transcript"
        in result.err
    )


@every_writing
def test_an_output_folder_inside_the_folder_is_not_an_input(command: str, folder: Path) -> None:
    words, _ = WRITING[command]
    for _ in range(2):
        assert run(*words, "--force", "-o", folder / "out", folder).code == 0
        assert len(written_below(folder / "out")) == len(OUT)


@every_writing
def test_a_folder_without_an_output_folder_is_refused(command: str, folder: Path, tmp_path: Path) -> None:
    words, _ = WRITING[command]
    for more in ([], ["-o", "-"]):
        result = run(*words, *more, folder)
        assert (result.code, result.out) == (2, "")
        assert "A folder needs an output folder: -o DIR." in result.err
    assert run(*words, "-o", folder, folder).err == f"ocmlview: {folder} is the input; choose another folder\n"
    (tmp_path / "file").touch()
    assert run(*words, "-o", tmp_path / "file", folder).err == f"ocmlview: {tmp_path / 'file'} is not a directory\n"
    assert "One file or folder at a time." in run(*words, "-o", tmp_path, folder, folder).err


@every_writing
def test_revealed_files_of_a_folder_are_readable_by_their_owner_only(
    command: str, folder: Path, tmp_path: Path
) -> None:
    words, _ = WRITING[command]
    out = tmp_path / "made"
    assert run(*words, "-d", "-o", out, folder).code == 0
    assert {stat.S_IMODE((out / name).stat().st_mode) for name in written_below(out)} == {0o600}


def test_a_transcript_that_cannot_be_converted_does_not_stop_the_rest(folder: Path, tmp_path: Path) -> None:
    (folder / "a0.json").write_text(json.dumps([{"role": "user", "content": "a <|end|> b"}]))
    result = run("convert", "--to", "harmony", "-o", tmp_path, folder)
    assert result.code == 1
    assert f"ocmlview: {folder / 'a0.json'}: " in result.err
    assert written_below(tmp_path / "2024") == ["a.harmony", "again/deep.harmony"]


def test_convert_writes_one_file(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    result = run("convert", "--to", "json", "-o", path, folder / "b9.ocml")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith(f"Converted {folder / 'b9.ocml'} to {path}.\n")
    assert path.read_text("utf-8") == run("convert", "--to", "json", folder / "b9.ocml").out
    assert run("convert", "--to", "json", "-o", path, folder / "b9.ocml").code == 2
