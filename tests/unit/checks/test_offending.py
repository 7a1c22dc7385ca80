"""The names of missing arguments come from a second validation of the call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.converting import InMemory
from tests.support.declaring import tool
from tests.support.program import run
from viewer.checks.offending import _member, offending_value
from viewer.document.document import Document
from viewer.model.visibility import EVERYTHING

CALL = "<|start|>assistant to=functions.f call_id=c{}<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"


def declares(*required: str) -> str:
    schema = {"type": "object", "properties": {name: {} for name in required}, "required": required}
    return f"<|start|>developer<|message|>{tool(schema)}<|end|>\n"


def missing(text: str) -> list[str | None]:
    """Return the values of E-CALL-SCHEMA/missing-argument, as both the screen and `check` read them."""
    document = Document(InMemory(text.encode())).load()
    shown = [
        one.value
        for one in document.project(EVERYTHING).diagnostics()
        if (one.code, one.reason) == ("E-CALL-SCHEMA", "missing-argument")
    ]
    found = [one for one in document.findings() if one.diagnostic.reason == "missing-argument"]
    assert [document.quotes.value_of(one) for one in found] == shown
    assert [offending_value(one.diagnostic, lambda start, end: b"") for one in found] == [None] * len(found)
    return shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (declares("city") + CALL.format(1, "{}"), ["city"]),
        (declares("city", "unit") + CALL.format(1, "{}"), ["city, unit"]),
        (declares("city", "unit") + CALL.format(1, '{"unit":1}') + CALL.format(2, '{"city":1}'), ["city", "unit"]),
        (declares("old") + CALL.format(1, "{}") + declares("new") + CALL.format(2, "{}"), ["old", "new"]),
        (declares("a") + CALL.format(1, "{}") + "version: 2.2\n" + declares("b") + CALL.format(1, "{}"), ["a", "b"]),
        (declares("city").replace("developer", "user") + CALL.format(1, "{}"), []),
        (declares("city") + CALL.format(1, '{"city":1}'), []),
    ],
)
def test_the_missing_arguments_are_named(text: str, expected: list[str]) -> None:
    assert missing(f"version: 2.2\n{text}") == expected


def test_calls_of_0_1_name_what_their_function_list_requires() -> None:
    listed = json.dumps([{"name": "f", "parameters": {"type": "object", "required": ["city"]}}])
    head = f"<|im_start|>system\n<|function_list|>{listed}<|im_end|>\n<|im_start|>user\nq<|im_end|>\n"
    call = "<|im_start|>assistant\n<|function_call|>{}<|im_end|>\n"
    assert missing(head + call.format('{"name":"f","arguments":{}}')) == ["city"]
    assert missing(head + call.format('{"arguments":{}}')) == ["name"]


def test_check_prints_the_name_if_it_reveals_everything(tmp_path: Path) -> None:
    path = tmp_path / "x.ocml"
    path.write_text("version: 2.2\n" + declares("city") + CALL.format(1, "{}"), "utf-8")
    assert "Missing required argument [" in run("check", str(path)).out
    assert "Missing required argument `city` [" in run("check", "--reveal", "all", str(path)).out


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (b'{"type": 5, "a": "b"}', None),
        (b'{"type": null, "a": "b"}', None),
        (b'{"a": {"type": "inner"}, "type" : "outer"}', b"outer"),
        (b'{"type":"cut off"', b"cut off"),
    ],
)
def test_the_value_of_a_member_is_a_string_right_after_its_key(data: bytes, wanted: bytes | None) -> None:
    assert _member(data, b'"type"') == wanted
