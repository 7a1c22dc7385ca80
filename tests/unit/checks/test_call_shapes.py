"""Calls that name no tool, or that are not JSON objects."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from tests.support.reading import examine
from tests.unit.checks.test_calls import links

OLD = "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<|function_call|>{}<|im_end|>\n"
OUTPUT = '<|im_start|>tool\n<|function_output|>{"name":"f","content":1}<|im_end|>\n'


def faults(text: str, format: str) -> list[tuple[str, str]]:
    """Return the reasons of E-CALL-SCHEMA with the bytes that they cover."""
    data = text.encode()
    found = []
    for size in (len(data), 1):
        analysis = examine([data[at : at + size] for at in range(0, len(data), size)], data, format)
        findings = [one for one in analysis.findings if one.code == "E-CALL-SCHEMA"]
        found.append([(one.reason or "", data[one.start : one.end].decode()) for one in findings])
    assert found[0] == found[1]
    return found[0]


@each(
    "body, expected",
    [
        ('{"arguments":{"a":1}}', [("missing-argument", "")]),
        ("{}", [("missing-argument", "")]),
        ("[1]", [("not-an-object", "[1]")]),
        ('"x"', [("not-an-object", '"x"')]),
        ("null", [("not-an-object", "null")]),
        ('{"name":5}', [("wrong-type", "5")]),
        ('{"name":""}', [("not-in-enum", '""')]),
        ('{"name":"a b"}', [("not-in-enum", '"a b"')]),
        ('{"name":"f","arguments":[1]}', [("not-an-object", "[1]")]),
        ('{"name":"f","arguments":{}}', []),
        ('{"name":"f"}', []),
        ("{bad", []),
    ],
)
def test_a_call_of_0_1_names_its_tool(body: str, expected: list[tuple[str, str]]) -> None:
    assert faults(OLD.format(body), "openchatml-0.1") == expected


@pytest.mark.parametrize("body", ['{"arguments":{}}', "[1]", '{"name":5}', "{bad"])
def test_a_call_without_a_tool_is_a_call(body: str) -> None:
    data = (OLD.format(body) + OUTPUT).encode()
    analysis = examine([data], data, "openchatml-0.1")
    assert links(analysis) == [(2, 3, "ok", True)]
    assert analysis.calls.links[0].tool == "functions.f"
    data = OLD.format(body).encode()
    analysis = examine([data], data, "openchatml-0.1")
    assert links(analysis) == [(2, None, "pending", False)]
    assert analysis.calls.links[0].tool == "tool"


@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony"])
@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("<|constrain|>json", "[1]", [("not-an-object", "[1]")]),
        ("<|constrain|>json", '"x"', [("not-an-object", '"x"')]),
        (" json", "7", [("not-an-object", "7")]),
        ("<|constrain|>json", "{}", []),
        ("<|constrain|>text", "[1]", []),
        ("", "[1]", []),
    ],
)
def test_a_json_call_is_an_object(format: str, kind: str, body: str, expected: list[tuple[str, str]]) -> None:
    text = f"<|start|>assistant to=functions.f<|channel|>commentary{kind}<|message|>{body}<|call|>"
    assert faults(text, format) == expected


def test_the_guides_own_call_is_linked_to_the_next_reply() -> None:
    text = (
        b"<|start|>assistant<|channel|>commentary<|message|><|constrain|> json{}<|call|>"
        b"<|start|>functions.f to=assistant<|channel|>commentary<|message|>1<|end|>"
    )
    analysis = examine([text], text, "harmony")
    assert links(analysis) == [(1, 2, "ok", True)]
    assert analysis.calls.links[0].tool == "functions.f"


@pytest.mark.parametrize("format", ["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"])
@pytest.mark.parametrize("role", ["functions.", "browser.", "functions. name=f"])
def test_a_role_without_a_tool_name_is_unknown(format: str, role: str) -> None:
    text = f"<|start|>{role}<|message|>x<|end|>".encode()
    analysis = examine([text], text, format)
    assert [(one.code, one.reason) for one in analysis.findings if one.code == "E-PARSE-HEADER"] == [
        ("E-PARSE-HEADER", "role-unknown")
    ]
    assert analysis.index[1].header.role == role.split()[0]
