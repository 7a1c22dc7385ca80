"""Rows of the brief level: one per call. Everything else that is hidden is still counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from viewer.document import rows as rows_module
from viewer.document.document import Document, open_document
from viewer.document.rows import RowKind
from viewer.document.values import BriefCall, HiddenRun, ShownMessage
from viewer.errors import HiddenError
from viewer.model.visibility import BRIEF, END_USER

USER = "<|start|>user<|message|>Go.<|end|>\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>Done.<|return|>\n"
THOUGHT = "<|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>\n"
PREAMBLE = "<|start|>assistant intent=preamble<|channel|>commentary<|message|>First this.<|end|>\n"


def call(number: int, tool: str = "functions.get") -> str:
    header = f"<|start|>assistant to={tool} call_id=c{number}<|channel|>commentary<|constrain|>json"
    return header + '<|message|>{"a":1}<|call|>\n'


def reply(number: int, text: str = '{"ok":true}') -> str:
    header = f"<|start|>tool name=functions.get call_id=c{number} to=assistant<|channel|>commentary"
    return f"{header}<|message|>{text}<|end|>\n"


CASES: dict[str, tuple[list[str], list[str | int]]] = {
    "a reply below its call": ([USER, call(1), reply(1), ANSWER], ["Go.", "get ok", "Done."]),
    "several calls at once": (
        [USER, call(1), call(2), reply(1), reply(2, '{"ok":false}'), ANSWER],
        ["Go.", "get ok", "get failed", "Done."],
    ),
    "thoughts between": (
        [USER, THOUGHT, call(1), THOUGHT, reply(1), THOUGHT, ANSWER],
        ["Go.", 1, "get ok", 2, "Done."],
    ),
    "a reply on its own": ([USER, call(1), PREAMBLE, reply(1), ANSWER], ["Go.", "get ok", "First this.", 1, "Done."]),
    "no reply": ([USER, call(1), ANSWER, USER], ["Go.", "get unanswered", "Done.", "Go."]),
    "a repeated reply": ([USER, call(1), reply(1), reply(1), ANSWER], ["Go.", "get ok", "Done."]),
    "a reply without a call": ([USER, reply(9), ANSWER], ["Go.", 1, "Done."]),
    "names that may be text": (
        [USER, call(1, "functions.sécret"), call(2, "functions." + "x" * 70), call(3, "a.b:c/d-e_1"), ANSWER],
        ["Go.", "tool unanswered", "tool unanswered", "a.b:c/d-e_1 unanswered", "Done."],
    ),
    "two transcripts": (
        [USER, call(1), "version: 2.2\n", reply(1), ANSWER],
        ["Go.", "get pending", 1, "Done."],
    ),
}


def document_of(parts: list[str], folder: Path) -> Document:
    path = folder / "chat.ocml"
    path.write_text("version: 2.2\n" + "".join(parts), "utf-8")
    return open_document(str(path), format="openchatml-2.2")


def outline(document: Document) -> list[str | int]:
    found: list[str | int] = []
    for item in document.project(BRIEF).items():
        if isinstance(item, BriefCall):
            found.append(f"{item.tool.removeprefix('functions.')} {item.state}")
        elif isinstance(item, HiddenRun):
            found.append(item.count)
        elif isinstance(item, ShownMessage):
            found.append(item.body)
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_call_is_one_row(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parts, expected = CASES[name]
    document = document_of(parts, tmp_path)
    assert outline(document) == expected
    for size in range(1, 5):  # messages are taken in batches, and a call and its replies may be in several
        monkeypatch.setattr(rows_module, "AT_ONCE", size)
        assert outline(document) == expected, size


def test_every_message_has_a_row(tmp_path: Path) -> None:
    parts = [USER, THOUGHT, call(1), call(2), reply(2), THOUGHT, reply(1), ANSWER, call(3), reply(3)]
    document = document_of(parts, tmp_path)
    rows = document.project(BRIEF).rows()
    kinds = [rows.kind(row) for row in range(len(rows))]
    assert kinds.count(RowKind.CALL) == 3
    held = [rows.row_holding(number) for number in range(1, len(parts) + 1)]
    assert None not in held
    assert sorted(set(held), key=str) == sorted(range(len(rows)), key=str)
    assert [rows.turn(row) for row in range(len(rows)) if rows.kind(row) is RowKind.MESSAGE] == [1, 1]


def test_no_body_of_a_call_can_be_read(tmp_path: Path) -> None:
    document = document_of([USER, call(1), reply(1, "SECRET"), ANSWER], tmp_path)
    projection = document.project(BRIEF)
    rows = projection.rows()
    row = next(row for row in range(len(rows)) if rows.kind(row) is RowKind.CALL)
    assert "body" not in BriefCall.__struct_fields__
    assert list(projection.body_blocks(rows, row)) == []
    for number in (2, 3):
        assert projection.message(number) is None
        assert projection.beginning(number, 100) == ""
        with pytest.raises(HiddenError):
            list(projection.blocks(number))
        with pytest.raises(HiddenError):
            projection.raw(number)
    assert list(projection.calls()) == []


def test_other_agents_have_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    use: dict[str, object] = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    lines: list[dict[str, object]] = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Go."}},
        {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [{**use, "id": "t0"}]}},
        {"type": "assistant", "uuid": "3", "isSidechain": True, "message": {"role": "assistant", "content": [use]}},
    ]
    path.write_text("".join(json.dumps({"sessionId": "s", **line}) + "\n" for line in lines))
    document = open_document(str(path), format="claude-code")
    assert [name for name in outline(document) if isinstance(name, str)] == ["Go.", "Bash pending"]
    shown = [item for item in document.project(END_USER).items() if isinstance(item, HiddenRun)]
    assert sum(run.count for run in shown) == sum(isinstance(each, int) and each for each in outline(document)) + 1


def test_a_reply_of_another_agent_decides_nothing(tmp_path: Path) -> None:
    use: dict[str, object] = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    result: dict[str, object] = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    sent: dict[str, object] = {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [use]}}
    answered: dict[str, object] = {"type": "user", "uuid": "9", "message": {"role": "user", "content": [result]}}
    aside: list[dict[str, object]] = [
        {**sent, "uuid": "3", "isSidechain": True, "agentId": "a"},
        {**answered, "uuid": "4", "isSidechain": True, "agentId": "a"},
    ]
    asked: dict[str, object] = {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Go."}}
    failed: dict[str, object] = {**answered, "message": {"role": "user", "content": [{**result, "is_error": True}]}}
    for end, state in (([answered], "ok"), ([failed], "failed"), ([], "pending")):
        for between in ([], aside[:1], aside[1:], aside, [*aside, aside[1]]):
            records = [asked, sent, *between, *end]
            path = tmp_path / "s.jsonl"
            path.write_text("".join(json.dumps({"sessionId": "s", **each}) + "\n" for each in records))
            found = outline(open_document(str(path), format="claude-code"))
            lines = [line for line in found if isinstance(line, str)]
            assert lines in (
                ["Go.", f"Bash {state}"],
                ["Go.", f"Bash {'unanswered' if between and not end else state}"],
            )
