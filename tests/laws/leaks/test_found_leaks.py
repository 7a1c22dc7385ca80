"""Inputs that once leaked in an attack on the safe view, each run through every command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.printing import SURFACES, some
from tests.support.program import run

SECRET = "quagga-84e"
BLANKS = ["\ufeff", "\u200b", "\N{NO-BREAK SPACE}", "\N{IDEOGRAPHIC SPACE}", "\u2028", "\0", "\u202e", "\u2060"]


def answer(content: object, **fields: object) -> str:
    return json.dumps([{"role": "user", "content": "Ahoy"}, {"role": "assistant", "content": content, **fields}])


def lines(*events: object) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def document(**fields: object) -> str:
    part = {"type": "document", "source": {"type": "text", "data": "abc"}, **fields}
    return json.dumps([{"role": "user", "content": [part]}])


DONE = {"type": "response.output_text.delta", "item_id": "m", "content_index": 0, "delta": SECRET}
CASES: dict[str, str] = {
    "a name inside an unlisted member of a part": document(citations={"tool": {"name": SECRET}}),
    "a media type inside an unlisted member of a part": document(metadata={"media_type": f"text/{SECRET}"}),
    **{f"{blank!a} before a think tag": answer(f"{blank}<think>{SECRET}</think>ok") for blank in BLANKS},
    **{f"{blank!a} before a think tag of a line": answer(f"a\n {blank}<think>{SECRET}</think>b") for blank in BLANKS},
    "a call without its tokens": answer(f'commentary to=functions.f json{{"a":"{SECRET}"}}'),
    **{
        f"a message of type {kind}": answer(SECRET, type=kind)
        for kind in ("reasoning", "thinking", "tool_result", "function_call_output", "mcp_tool_result", "tool_use")
    },
    "a thought flag that is a number": answer(SECRET, thought=1),
    "an object as content of a chunk": lines({"choices": [{"index": 0, "delta": {"content": {"text": SECRET}}}]}),
    "the text of a response on a hidden channel": lines(
        {"type": "response.completed", "response": {"channel": "analysis", "output_text": SECRET}}
    ),
    "a delta of a part that was announced as a thought": lines(
        {"type": "response.content_part.added", "item_id": "m", "content_index": 0, "part": {"type": "reasoning_text"}},
        DONE,
    ),
    "a thought flag in other letters": lines(
        {
            "type": "response.output_item.done",
            "item": {"type": "message", "content": [{"type": "output_text", "Thought": True, "text": SECRET}]},
        }
    ),
}


@pytest.mark.surfaces
@pytest.mark.share(quick=9, test=2)
@pytest.mark.parametrize("case", CASES)
def test_each_leak_that_was_found_stays_closed(case: str, tmp_path: Path) -> None:
    file = tmp_path / "chat"
    file.write_text(CASES[case], encoding="utf-8")
    for surface in some(SURFACES, case):
        result = run(*surface, file)
        assert SECRET not in result.out + result.err, surface
    is_attachment = "unlisted member" in case  # no view shows its data
    assert is_attachment or SECRET in run("show", "--reveal", "all", file).out


SHOWN = {
    "text before a think tag": answer(f"a <think>{SECRET}</think> b"),
    "a word without its call": answer(f"commentary to the reader: {SECRET}"),
    "a message of an unlisted type": answer(SECRET, type="message"),
}


@pytest.mark.parametrize("case", SHOWN)
def test_a_similar_answer_stays_shown(case: str, tmp_path: Path) -> None:
    file = tmp_path / "chat"
    file.write_text(SHOWN[case], encoding="utf-8")
    assert SECRET in run("show", file).out


EXTRA = "marmot-31c"
KINDS = ["analysis", "commentary", "tool", "system", "developer", "stray", "analysis,commentary,tool"]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("kinds", KINDS)
def test_unlisted_fields_come_back_only_with_everything(kinds: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(answer("ok", chain_of_thought=EXTRA, reasoning="r"), encoding="utf-8")
    for command in (["show"], ["show", "--json"], ["export", "-o", "-"], ["convert", "--to", "json"]):
        result = run(*command, "--reveal", kinds, file)
        assert EXTRA not in result.out + result.err, command
        assert EXTRA in run(*command, "--reveal", "all", file).out
    assert "dropped 1 unlisted field;" in run("convert", "--to", "json", "--reveal", kinds, file).err
