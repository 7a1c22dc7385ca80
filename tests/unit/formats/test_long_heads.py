"""Detection looks past a long start that reveals nothing, and past marks inside the strings of other JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.program import run
from viewer.formats import detect
from viewer.formats.detect import HEAD

LONG = "word " * (HEAD // 4)
TOOLS = [{"name": "look", "description": LONG}]
ASKED = {"role": "user", "content": "Where is the key?"}
SNAPSHOT = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {"messageId": "m", "note": LONG}}
PROMPT = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": ASKED}


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("request.json", [{"model": "m", "tools": TOOLS, "system": "Be kind.", "messages": [ASKED]}]),
        ("gemini.json", [{"tools": TOOLS, "contents": [{"role": "user", "parts": [{"text": ASKED["content"]}]}]}]),
        ("session.jsonl", [SNAPSHOT, PROMPT]),
    ],
)
def test_a_long_start_does_not_hide_the_format(name: str, records: list[object], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("\n".join(map(json.dumps, records)), "utf-8")
    shown = run("show", path)
    assert shown.code == 0
    assert "Where is the key?" in shown.out
    assert "word" not in shown.out


@pytest.mark.parametrize("mark", ["<|im_start|>", "<|start_header_id|>", "<start_of_turn>", "[INST]"])
def test_a_mark_inside_a_string_of_other_json_is_not_a_transcript(mark: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"template": f"{{{{ if }}}}{mark}user\nHello", "family": "f"}, indent=2), "utf-8")
    assert detect(path.read_bytes()).unknown == "json"
    refused = run("show", path)
    assert refused.code == 2
    assert '"template", "family"' in refused.err
    assert run("check", path).code == 1


def test_marks_after_a_json_header_still_count() -> None:
    assert detect(b'{"version": "2.2"}\n<|start|>user<|message|>Hello<|end|>').format == "openchatml-2.2"
    assert detect(b'{"version": "2.2"} <|start|>user<|message|>Hello<|end|>').unknown is None


@pytest.mark.parametrize("kind", ["progress", "last-prompt", "ai-title", "queue-operation"])
def test_a_session_of_claude_code_may_be_mostly_metadata(kind: str) -> None:
    asides = [{"type": kind, "uuid": f"p{number}", "sessionId": "s"} for number in range(40)]
    found = detect("\n".join(map(json.dumps, [*asides, PROMPT])).encode())
    assert found.format == "claude-code"


@pytest.mark.parametrize(
    "value",
    [
        {"title": "Body", "body": {"content": {"application/json": {"schema": {"type": "object"}}}}},
        {"watches": [], "request": {"url": "https://example.org/"}, "response": {"status": 200}},
        {"messages": [{"direction": "send", "note": "Hello"}]},
    ],
)
def test_json_with_the_members_of_messages_but_without_any_is_not_a_transcript(value: object, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps(value), "utf-8")
    assert (run("show", path).code, run("check", path).code) == (2, 1)


def test_json_with_weak_signs_is_a_transcript_if_it_holds_a_message(tmp_path: Path) -> None:
    path = tmp_path / "exchange.json"
    path.write_text(json.dumps({"request": {"messages": [ASKED]}, "response": {"status": 200}}), "utf-8")
    shown = run("show", path)
    assert shown.code == 0
    assert "Where is the key?" in shown.out
