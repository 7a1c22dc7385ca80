"""Kinds of transcripts with sub-agents, times, and costs, and of files with many transcripts, for the app."""

from __future__ import annotations

import json

from tests.support.converting import InMemory
from tests.support.leaks.planted import KINDS, Kind, Part, Planted
from viewer.document.document import Document
from viewer.model.visibility import EVERYTHING
from viewer.render.blocks.agents import Agents


def _line(**members: object) -> str:
    """Return one record of a session, with a time for the timeline."""
    common = {"sessionId": "s", "cwd": "/proj/user/kites", "timestamp": "2026-01-02T03:04:0%m.000Z"}
    return json.dumps({**common, **members}, ensure_ascii=False) + "\n"


def _said(role: str, *parts: object, **members: object) -> str:
    message: dict[str, object] = {"role": role, "content": list(parts)}
    if role == "assistant":
        usage = {"input_tokens": 1200, "output_tokens": 34, "cache_read_input_tokens": 800}
        message |= {"id": "m%d-%m", "model": "claude-opus-4-5", "usage": usage}
    return _line(type=role, uuid=f"{role}%d-%m", message=message, **members)


def _text(text: str) -> dict[str, object]:
    return {"type": "text", "text": text}


def _use(id: str, name: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": id, "name": name, "input": {"command": "{c}", **given}}


def _result(id: str, *, failed: bool = False) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": "{c}\n{c}"}


def _timed(text: str) -> str:
    """Fill in the seconds of consecutive records."""
    lines = text.splitlines(keepends=True)
    return "".join(line.replace("%m", str(number % 10)) for number, line in enumerate(lines))


_ASIDE = {"isSidechain": True, "agentId": "s%d"}
SHOWN_IN_SESSIONS = [
    _timed(_said("user", _text("Is it warm?"))),
    _timed(_said("assistant", _text("It is **warm**.\n\n- one\n- two"))),
]
HIDDEN_IN_SESSIONS: list[Part] = [
    ("injected text", _timed(_said("user", _text("{c}"), isMeta=True, slug="{c}"))),
    ("thought", _timed(_said("assistant", {"type": "thinking", "thinking": "{c}", "signature": "{c}"}))),
    (
        "call and reply",
        _timed(
            _said("assistant", _use("t%d", "Bash", **{"{c}": "{c}"}))
            + _said("user", _result("t%d"), toolUseResult={"stdout": "{c}", "{c}": "{c}"})
        ),
    ),
    (
        "parallel and failed calls",
        _timed(
            _said("assistant", _use("p%d", "Read"), _use("q%d", "Bash"))
            + _said("user", _result("q%d", failed=True))
            + _said("user", _result("p%d"), toolUseResult="{c}")
        ),
    ),
    ("open call", _timed(_said("assistant", _text("I look."), _use("o%d", "Grep")))),
    (
        "sub-agent",
        _timed(
            _said("assistant", _use("s%d", "Task", prompt="{c}", description="{c}", subagent_type="{c}"))
            + _said("user", _text("{c}"), **_ASIDE)
            + _said("assistant", _text("{c}"), _use("i%d", "Bash"), **_ASIDE)
            + _said("user", _result("i%d"), **_ASIDE)
            + _said("assistant", _text("{c} and {c}"), **_ASIDE)
            + _said("user", _result("s%d"), toolUseResult={"agentId": "s%d", "content": [_text("{c}")]})
        ),
    ),
    ("summary of a session", _timed(_said("user", _text("{c}"), isCompactSummary=True))),
    ("record of the system", _timed(_line(type="system", subtype="{c}", uuid="y%d", content="{c}", level="error"))),
    ("unknown record", _timed(_line(type="{c}", uuid="z%d", message={"role": "user", "content": "{c}"}, **{"{c}": 1}))),
    ("title of a session", _timed(_line(type="ai-title", uuid="w%d", title="{c}", aiTitle="{c}"))),
    (
        "fields of an answer",
        _timed(_said("assistant", _text("Shown."), requestId="{c}", gitBranch="{c}", **{"{c}": 1})),
    ),
]


def _row(*messages: object, **members: object) -> str:
    return json.dumps({"messages": list(messages), **members}, ensure_ascii=False) + "\n"


_SYSTEM = {"role": "system", "content": "{c}"}
_ASKED, _ANSWERED = {"role": "user", "content": "Question %d?"}, {"role": "assistant", "content": "Answer %d."}
SHOWN_IN_ROWS = [_row(_ASKED, _ANSWERED), _row(_ASKED, _ANSWERED, _ASKED, _ANSWERED)]
HIDDEN_IN_ROWS: list[Part] = [
    ("system of a row", _row(_SYSTEM, _ASKED, _ANSWERED)),
    ("row without shown messages", _row(_SYSTEM)),
    ("members of a row", _row(_ASKED, _ANSWERED, title="{c}", id="{c}", name="{c}", prompt="{c}", **{"{c}": "{c}"})),
    ("tools of a row", _row(_ASKED, tools=[{"type": "function", "function": {"name": "{c}", "description": "{c}"}}])),
    ("thought of a row", _row(_ASKED, {"role": "assistant", "reasoning_content": "{c}", "content": "Answer %d."})),
    (
        "call of a row",
        _row(
            _ASKED,
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c%d", "type": "function", "function": {"name": "f", "arguments": '{"{c}":1}'}}],
            },
            {"role": "tool", "tool_call_id": "c%d", "content": "{c}"},
            _ANSWERED,
        ),
    ),
    ("row that is no transcript", json.dumps({"{c}": "{c}"}) + "\n"),
]
SESSION_KINDS = {
    "claude-code": Kind(SHOWN_IN_SESSIONS, HIDDEN_IN_SESSIONS, version=SHOWN_IN_SESSIONS[0].replace("%d", "first")),
    "many rows": Kind(SHOWN_IN_ROWS, HIDDEN_IN_ROWS, version=SHOWN_IN_ROWS[0].replace("%d", "0") * 10, format="json"),
}
"""Sub-agents, timeline, and costs; and enough transcripts for a list."""
ALL_KINDS = {**KINDS, **SESSION_KINDS}


def agents_in(planted: Planted) -> list[str]:
    """Return positions in the transcripts of sub-agents, as an operator types them after `:`."""
    projection = Document(InMemory(planted.data), planted.format).load().project(EVERYTHING)
    agents = Agents(projection)
    calls = {agents.of(number).call for number in range(1, projection.message_count + 1)} - {0}
    return [f"{call}>{inner}" for call in sorted(calls) for inner in (1, 2)]
