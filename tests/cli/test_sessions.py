"""`ocmlview sessions`: its list, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.program import run

RECORDS = (
    '{"type":"user","uuid":"u0","sessionId":"s","isMeta":true,"message":{"role":"user","content":"SECRET_META"}}\n'
    '{"type":"user","uuid":"u1","sessionId":"s","cwd":"/p","message":{"role":"user","content":"Fix \\u001b[31m it."}}\n'
    '{"type":"assistant","uuid":"u2","sessionId":"s","message":{"role":"assistant","content":'
    '[{"type":"thinking","thinking":"SECRET_T"},{"type":"text","text":"Done."}]}}\n'
)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with one session."""
    path = tmp_path / ".claude/projects/-p/one.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(RECORDS, "utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_row_has_the_title_that_the_user_typed() -> None:
    result = run("sessions")
    title, row = result.out.splitlines()
    assert title.split() == ["title", "agent", "turns", "size", "changed"]
    assert "it." in row
    assert "claude-code" in row
    assert "SECRET" not in result.out + result.err
    assert "\x1b" not in row


def test_machine_output_has_one_object_per_session(home: Path) -> None:
    line = json.loads(run("sessions", "--json").out)
    assert line | {"modified": "", "bytes": 0} == {
        "kind": "session",
        "agent": "claude-code",
        "path": str(home / ".claude/projects/-p/one.jsonl"),
        "cwd": "/p",
        "started": None,
        "modified": "",
        "bytes": 0,
        "turns": 1,
        "title": "Fix \x1b[31m it.",
        "live": True,
    }


def test_sessions_are_selected_by_age_and_agent() -> None:
    assert run("sessions", "--since", "1d", "--json").out
    assert run("sessions", "--agent", "codex").out == ""
    assert "use an age such as" in run("sessions", "--since", "soon").err
    assert run("sessions", "--since", "soon").code == 2


def test_places_are_listed() -> None:
    rows = [line.split() for line in run("sessions", "--places").out.splitlines()]
    assert ["claude-code", "yes"] in [[row[0], row[-1]] for row in rows]


def test_the_settings_turn_discovery_off(home: Path) -> None:
    config = home / "config/ocmlview/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text("discovery: false\n", "utf-8")
    result = run("sessions")
    assert result.out == ""
    assert "turned off" in result.err


def test_a_folder_from_the_settings_is_searched_too(home: Path) -> None:
    config = home / "config/ocmlview/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"places:\n  codex: {home / 'more'}\n  nobody: /x\n", "utf-8")
    (home / "more/sessions/2026/01/02").mkdir(parents=True)
    (home / "more/sessions/2026/01/02/rollout-1.jsonl").write_text("{}\n", "utf-8")
    assert json.loads(run("sessions", "--agent", "codex", "--json").out)["agent"] == "codex"
    assert run("config").code == 1


def test_without_a_terminal_the_usage_is_printed() -> None:
    result = run()
    assert result.code == 2 or result.out == ""
