"""`ocmlview export`: the file it writes, its notices, and its refusals."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.program import CHAT, ROOT, Result, run
from viewer.render.exports import EXPORTERS

SECRETS = ("plums", "Be brief", "functions.weather", '"city"')


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT)
    return path


def refused(result: Result, *words: str) -> None:
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("ocmlview: ")
    assert result.err.count("\n") == 1
    for word in words:
        assert word in result.err


@pytest.mark.parametrize("form", EXPORTERS)
def test_a_safe_export_is_written_next_to_the_input_under_its_name(chat: Path, form: str) -> None:
    result = run("export", "--to", form, chat)
    name = f"chat.safe{EXPORTERS[form].ending}"
    assert (result.code, result.out) == (0, "")
    assert (
        result.err
        == f"Exported {name}: SAFE view. What the end user saw: user messages, final answers, and flagged preambles.\n"
    )
    made = Path(name).read_text("utf-8")
    assert "Yes, it is." in made
    assert not [secret for secret in SECRETS if secret in made]


@pytest.mark.parametrize(("level", "name"), [("debug", "x.safe.html"), ("debug", "x.brief.md"), ("brief", "x.SAFE.md")])
def test_a_name_that_says_a_lower_level_is_refused(chat: Path, level: str, name: str) -> None:
    said = name.split(".")[1].lower()
    refused(
        run("export", "--level", level, "-o", name, chat), f"the name says {said}, but this is the {level.upper()} view"
    )
    assert not Path(name).exists()


def test_the_last_level_in_a_name_counts(chat: Path) -> None:
    assert run("export", "-d", "-o", "x.safe.DEBUG.html", chat).code == 0


def test_a_debug_export_is_named_so_and_readable_by_its_owner_only(chat: Path) -> None:
    result = run("export", "-d", chat)
    assert result.err.startswith("Exported chat.DEBUG.html: DEBUG view. Everything")
    assert stat.S_IMODE(Path("chat.DEBUG.html").stat().st_mode) == 0o600
    made = Path("chat.DEBUG.html").read_text("utf-8")
    assert "plums" in made
    assert "Be brief." in made


def test_only_what_is_named_is_revealed(chat: Path) -> None:
    made = run("export", "-o", "-", "--to", "text", "--reveal", "analysis", chat).out
    assert "plums" in made
    assert '"city"' not in made
    assert made.startswith(
        "DEBUG view of chat.ocml. What the end user saw, and some of what they did not see: analysis."
    )


def test_the_suffix_selects_the_form_unless_an_option_does(chat: Path) -> None:
    assert run("export", "-o", "a.md", chat).code == 0
    assert Path("a.md").read_text("utf-8").startswith("# `chat.ocml`")
    assert run("export", "-o", "a.dat", "--to", "jsonl", chat).code == 0
    assert json.loads(Path("a.dat").read_text("utf-8").splitlines()[0])["view"] == "SAFE"
    assert run("export", "-o", "a.dat2", chat).code == 0
    assert Path("a.dat2").read_text("utf-8").startswith("<!doctype html>")


def test_an_export_reads_standard_input_and_writes_standard_output(chat: Path) -> None:
    result = run("export", "-o", "-", "--to", "text", "-", stdin=CHAT)
    assert (result.code, result.err) == (0, "")
    assert result.out.split("\n\n", 1)[1] == run("show", chat).out


def test_an_existing_file_is_replaced_only_with_force(chat: Path) -> None:
    Path("a.html").write_text("mine")
    refused(run("export", "-o", "a.html", chat), "a.html already exists", "--force")
    assert Path("a.html").read_text() == "mine"
    assert run("export", "-o", "a.html", "--force", chat).code == 0
    assert Path("a.html").read_text("utf-8").startswith("<!doctype html>")


def test_the_transcript_itself_is_never_replaced(chat: Path) -> None:
    refused(run("export", "-o", "chat.ocml", "--force", chat), "is the input; choose another name")
    assert chat.read_text() == CHAT


def test_an_unwritable_file_is_reported_in_one_sentence(chat: Path) -> None:
    refused(run("export", "-o", "nowhere/a.html", chat), "nowhere/a.html cannot be written")
    refused(run("export", "-o", ".", chat), "is a directory")
    refused(run("export", "-o", "/dev/full", chat), "No space left on device")
    assert [path.name for path in chat.parent.iterdir()] == ["chat.ocml"]


def test_mistakes_exit_with_2(chat: Path) -> None:
    refused(run("export", "--to", "pdf", chat), "pdf")
    refused(run("export", chat, chat), "One file or folder at a time")
    refused(run("export", "nowhere.ocml"), "nowhere.ocml")
    refused(run("export", "--strict-safe", "-d", chat), "cannot be used together")


def test_help_names_every_form() -> None:
    out = run("export", "--help").out
    assert f"[{'|'.join(EXPORTERS)}|site]" in out
    assert "--force" in out


def test_an_empty_export_is_mentioned_except_to_a_strict_audience(chat: Path) -> None:
    Path("empty").write_text("")
    assert "no messages found" in run("export", "-o", "-", "empty").err
    assert run("export", "-o", "-", "--strict-safe", "empty").err == ""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_partial_file(number: int, tmp_path: Path) -> None:
    turn = "<|start|>user<|message|>Hello *there*.<|end|>\n"
    (tmp_path / "long.ocml").write_text("version: 2.2\n" + turn * 60_000, "utf-8")
    command = [sys.executable, "-m", "viewer", "export", "long.ocml", "-o", "out.html"]
    program = subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
    while len(list(tmp_path.iterdir())) == 1 and program.poll() is None:
        time.sleep(0.01)
    program.send_signal(number)
    assert program.wait(60) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["long.ocml"]
