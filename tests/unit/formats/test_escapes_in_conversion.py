"""Converting OpenChatML 2.2 to itself keeps every escape and literal block, and no conversion turns quoted text into a
mark."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.converting import convert
from tests.support.program import run
from viewer.model.visibility import END_USER, EVERYTHING

HEAD = "version: 2.2\n"
BODIES = [
    "a <<|start_reason|> b",
    "a <<|start_reason|>x<<|end_reason|> b",
    "a <|literal|><|end|><|endliteral|> b",
    "<|literal|><think>x</think><|endliteral|>b",
    "<<|end_introspect|>",
    "<<<|end|> and <<|literal|>",
    "a <<|channel|>",
    "a <<|python_tag|> b",
    "a <<|tool_call_start|>x<<|tool_call_end|> b",
    "<<|channel>x",
    "a <<<|START_ACTION|>b",
    "a <|literal|><tool_call>x</tool_call><|endliteral|> b",
    "<|literal|>[TOOL_CALLS]<|endliteral|>[{}",
    "a <|literal|><|python_tag|> <<|endliteral|>",
]
ROLES = ["user", "system", "assistant<|channel|>final", "assistant<|channel|>analysis", "tool name=functions.f"]


def transcript(role: str, body: str) -> str:
    return f"{HEAD}<|start|>user<|message|>q<|end|>\n<|start|>{role}<|message|>{body}<|end|>\n"


@pytest.mark.parametrize("role", ROLES)
@each("body", BODIES)
def test_escapes_keep_their_spelling(role: str, body: str) -> None:
    text = transcript(role, body)
    assert convert(text, "openchatml-2.2", "openchatml-2.2")[0] == text


@each("body", BODIES)
def test_escapes_of_shown_text_stay_in_the_safe_view(body: str) -> None:
    text = transcript("assistant<|channel|>final", body)
    assert convert(text, "openchatml-2.2", "openchatml-2.2", END_USER)[0] == text
    thought = transcript("assistant<|channel|>final", f"<|start_reason|>x<|end_reason|>{body}<think>y")
    assert convert(thought, "openchatml-2.2", "openchatml-2.2", END_USER)[0] == text


QUOTED = [
    ("<<|python_tag|>", "<|python_tag|>"),
    ("<<|tool_call_start|>a<<|tool_call_end|>", "<|tool_call_start|>a<|tool_call_end|>"),
    ("<<<|START_THINKING|>", "<<|START_THINKING|>"),
    ("<|literal|><tool_call><|endliteral|>a", "<tool_call>a"),
    ("<|literal|>[TOOL_CALLS]<|endliteral|>[]", "[TOOL_CALLS][]"),
]


@pytest.mark.parametrize("role", ["user", "assistant<|channel|>final"])
@each("body, meant", QUOTED)
def test_quoted_marks_of_templates_are_text(body: str, meant: str, role: str) -> None:
    shown = convert(transcript(role, f"See {body} here"), "openchatml-2.2", "openchatml-2.2", END_USER)[2]
    assert shown[1].body == f"See {meant} here"


@pytest.mark.parametrize("hidden", ["<|start_reason|>q<|end_reason|>", "<tool_call>q</tool_call>", "<|python_tag|>q"])
@each("body, meant", QUOTED)
def test_quoted_marks_next_to_hidden_text_stay_quoted(body: str, meant: str, hidden: str) -> None:
    text = transcript("assistant<|channel|>final", f"See {body} here{hidden}")
    written, _, shown = convert(text, "openchatml-2.2", "openchatml-2.2", END_USER)
    assert shown[1].body == f"See {meant} here"
    assert written == transcript("assistant<|channel|>final", f"See {body} here")


WORDS = ["<", "a", " ", "é", "\n", "<<|end|>", "<|constrain|>", "<|message|>", "<|literal|>", "<|endliteral|>"]
MARKS = [
    "<<|python_tag|>",
    "<|python_tag|>",
    "<tool_call>",
    "</tool_call>",
    "<<|start_reason|>",
    "<|start_reason|>",
    "<|end_reason|>",
    "<think>",
    "</think>",
    "[THINK]",
]
PARTS = st.lists(st.sampled_from([*WORDS, *MARKS]), max_size=8).map("".join)


@pytest.mark.slow
@given(PARTS, st.sampled_from(ROLES), st.sampled_from([END_USER, EVERYTHING]))
def test_the_same_text_is_read_again(body: str, role: str, audience: object) -> None:
    text = transcript(role, body + ".")
    written, _, before = convert(text, "openchatml-2.2", "openchatml-2.2", audience)  # type: ignore[arg-type]
    _, _, after = convert(written, "openchatml-2.2", "openchatml-2.2", audience)  # type: ignore[arg-type]
    assert [message.body for message in after] == [message.body for message in before]
    shown = [convert(one, "openchatml-2.2", "openchatml-2.2", END_USER)[2] for one in (text, written)]
    assert [message.body for message in shown[0]] == [message.body for message in shown[1]]


@pytest.mark.parametrize("target", ["openchatml-2.0", "harmony", "openchatml-0.1", "json", "chatml-json"])
@pytest.mark.parametrize("reveal", [[], ["--reveal", "all"]])
@each("mark", ["<<|start_reason|>", "<<|python_tag|>", "<|literal|><tool_call><|endliteral|>"])
def test_a_quoted_mark_that_would_hide_text_is_refused(
    mark: str, target: str, reveal: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.ocml"
    file.write_text(transcript("assistant<|channel|>final", f"Write {mark} first."))
    result = run("convert", "--to", target, *reveal, file)
    assert result.code == 1
    assert result.out == ""
    assert "message 2" in result.err


def test_thought_marks_of_other_formats_are_escaped_in_text() -> None:
    text = '[{"role":"user","content":"What is <|start_reason|>?"},{"role":"assistant","content":"<|start_reason|>x"}]'
    written = convert(text, "json", "openchatml-2.2")[0]
    assert "What is <<|start_reason|>?" in written
    assert "<|message|><|start_reason|>x" in written
