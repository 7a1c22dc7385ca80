"""The brief level on the command line: what it can be combined with, what it excludes, and the files that it
produces."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from tests.support.program import CHAT, run
from viewer.render.exports import EXPORTERS

BRIEF = ("--reveal", "brief")
LATER = CHAT.partition("\n")[2].replace("c1", "c2")


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.ocml"
    file.write_text(CHAT, "utf-8")
    return file


def test_a_call_is_one_line_at_its_place(chat: Path) -> None:
    result = run("show", *BRIEF, chat)
    lines = [line.split() for line in result.out.splitlines() if line.strip()]
    at = lines.index(["ƒ", "weather", "✓", "ok"])
    assert [line[-1] for line in lines[at - 1 : at + 2]] == ["┄", "ok", "Assistant"]
    assert result.err == "BRIEF view: includes one line per call.\n"
    assert run("show", "--level", "brief", chat) == result
    assert run("show", "--level", "safe", chat) == run("show", chat)
    assert run("show", "--level", "debug", chat) == run("show", "-d", chat)
    assert run("view", *BRIEF, chat).out == result.out


def test_machine_output_has_four_facts_about_each_call(chat: Path) -> None:
    lines = [json.loads(line) for line in run("show", "--json", *BRIEF, chat).out.splitlines()]
    assert lines[0]["audience"] == "brief"
    assert [line for line in lines if line["kind"] == "call"] == [
        {
            "kind": "call", "transcript": 1, "call_id": None, "tool": "functions.weather", "call": 4, "reply": None,
            "state": "ok", "inferred": None, "latency_ms": None, "deadline_ms": None,
        }
    ]  # fmt: skip
    others = [line for line in lines if line["kind"] not in ("call", "transcript")]
    safe = [json.loads(line) for line in run("show", "--json", chat).out.splitlines()]
    assert others == [line for line in safe if line["kind"] != "transcript"]
    full = map(json.loads, run("show", "--json", "-d", chat).out.splitlines())
    keys = [list(line) for line in full if line["kind"] == "call"]
    assert [list(line) for line in lines if line["kind"] == "call"] == keys


@pytest.mark.parametrize("kind", [(), ("--json",)])
def test_following_prints_the_same_lines(chat: Path, kind: tuple[str, ...]) -> None:
    text = CHAT + LATER
    chat.write_text(text, "utf-8")
    whole = run("show", *kind, *BRIEF, chat).out.splitlines()
    followed = run("show", *kind, *BRIEF, "-f", "-", stdin=text).out.splitlines()
    assert sorted(followed) == sorted(whole)
    assert kind or followed == whole


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--reveal", "brief,tool"], "--reveal brief cannot be combined with other kinds."),
        (["--reveal", "brief", "-d"], "--reveal brief cannot be combined with other kinds."),
        (["--reveal", "brief", "--strict-safe"], "--strict-safe and --reveal cannot be used together."),
        (["--level", "brief", "--strict-safe"], "--strict-safe and --reveal cannot be used together."),
        (["--level", "brief", "-d"], "--level and --reveal cannot be used together."),
        (["--level", "safe", "--reveal", "tool"], "--level and --reveal cannot be used together."),
        (["--level", "all"], "'all' is not one of 'safe', 'brief', 'debug'"),
    ],
)
def test_options_that_exclude_each_other(options: list[str], sentence: str, chat: Path) -> None:
    result = run("show", *options, chat)
    assert (result.code, result.out) == (2, "")
    assert sentence in result.err


def test_exports_name_the_level_and_are_private(chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, exporter in EXPORTERS.items():
        assert run("export", *BRIEF, "--to", name, chat).code == 0
        made = tmp_path / f"chat.brief{exporter.ending}"
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
        text = made.read_text("utf-8")
        assert "BRIEF" in text[:2500] or (name == "html" and "BRIEF" in text)
        assert "SAFE" not in text and "DEBUG" not in text
        assert "weather" in text
        for hidden in ("plums", 'city":1', '"c1'):
            assert hidden not in text, (name, hidden)


def test_a_filter_has_the_fields_of_the_safe_view(chat: Path) -> None:
    result = run("show", *BRIEF, "--where", "tool:weather", chat)
    assert result.code == 2
    assert result.err.startswith('ocmlview: filter, column 1: "tool" needs --reveal tool')
    assert "weather" not in run("show", *BRIEF, "--where", "role:user", chat).out


def test_a_sealed_view_excludes_what_reveals(chat: Path) -> None:
    assert run("view", "--safe-only", chat).out == run("view", chat).out
    assert run("view", "--safe-only", "--level", "safe", chat).code == 0
    for options in (["--reveal", "tool"], ["-d"], ["--level", "brief"], ["--reveal", "brief"]):
        result = run("view", "--safe-only", *options, chat)
        assert (result.code, result.out) == (2, "")
        assert "--safe-only cannot be used with --reveal, --debug, or --level." in result.err


@pytest.mark.parametrize("line", [("leaks",), ("diff", "other"), ("show",), ("stats",), ("timing",), ("next",)])
def test_an_input_that_cannot_be_read_has_no_level(line: tuple[str, ...], tmp_path: Path) -> None:
    missing = [str(tmp_path / name) for name in ("missing", *line[1:])]
    result = run(line[0], "-d", *missing)
    assert (result.code, result.out) == (2, "")
    assert result.err.splitlines() == [f"ocmlview: no such file: {missing[0]}"]
