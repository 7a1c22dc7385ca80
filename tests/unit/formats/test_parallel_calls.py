"""Several calls or replies between one pair of marks become several messages, linked in order."""

from __future__ import annotations

import json
import re

import pytest

from tests.support.cases import each
from tests.support.reading import read, read_cut
from tests.unit.formats.test_template_marks import CARRIERS
from viewer.formats.json.call_text import LONGEST_READ, MOST_CALLS, read_calls, read_replies

F, G = '{"name": "f", "arguments": {"k": 1}}', '{"name": "g", "arguments": {"k": "], ["}}'
BEGIN, END, SEP = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>", "<｜tool▁sep｜>"
OUT, OUT_END = "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"

CALLS = {
    "hermes array": f"<tool_call>\n[{F}, {G}]\n</tool_call>",
    "hermes two blocks": f"<tool_call>\n{F}\n</tool_call>\n<tool_call>\n{G}\n</tool_call>",
    "xml": "<tool_call>\n<function=f>\n<parameter=k>\n1\n</parameter>\n</function>\n<function=g>\n</function>\n"
    "</tool_call>",
    "lfm": "<|tool_call_start|>[f(k=1), g(k=\"a), h(\", l=['x', (2,)])]<|tool_call_end|>",
    "lfm quotes": """<|tool_call_start|>[f(k='a, "b'), g(k="it's, \\" so")]<|tool_call_end|>""",
    "deepseek": f"<｜tool▁calls▁begin｜>{BEGIN}function{SEP}f\n```json\n{{}}\n```{END}\n{BEGIN}function{SEP}g\n"
    f"```json\n{{}}\n```{END}<｜tool▁calls▁end｜>",
    "deepseek 3.1": f"<｜tool▁calls▁begin｜>{BEGIN}f{SEP}{{}}{END}{BEGIN}g{SEP}{{}}{END}<｜tool▁calls▁end｜>",
    "mistral array": f"[TOOL_CALLS][{F}, {G}]",
    "mistral names": '[TOOL_CALLS]f[ARGS]{"k": 1}[TOOL_CALLS]g[ARGS]{"k": 2}',
    "minimax": '<minimax:tool_call>\n<invoke name="f">\n</invoke>\n<invoke name="g">\n</invoke>\n</minimax:tool_call>',
    "phi": f"<|tool_call|>[{F}, {G}]<|/tool_call|>",
    "cohere": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {}}, '
    '{"tool_call_id": "1", "tool_name": "g", "parameters": {}}]<|END_ACTION|>',
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}"
    "<|tool_call_end|><|tool_call_begin|>functions.g:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
}
REPLIES = {
    "two blocks": "<tool_response>\nr1\n</tool_response>\n<tool_response>\nr2\n</tool_response>",
    "deepseek": f"<｜tool▁outputs▁begin｜>{OUT}r1{OUT_END}\n{OUT}r2{OUT_END}<｜tool▁outputs▁end｜>",
}


def conversation(carrier: str, calls: str, replies: str) -> str:
    """Return a call and its reply in one transcript."""
    messages = [("assistant", f"On it.\n{calls}"), ("user", replies), ("assistant", "Done.")]
    if carrier == "json":
        asked = {"role": "user", "content": "q"}
        return json.dumps([asked, *({"role": role, "content": text} for role, text in messages)])
    return "<|im_start|>user\nq<|im_end|>\n" + "".join(
        f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in messages
    )


@pytest.mark.parametrize("carrier", ["openchatml-0.1", "json"])
@pytest.mark.parametrize("replies", REPLIES)
@each("calls", [name for name in CALLS if name not in ("cohere", "kimi")])
def test_parallel_calls_link_to_their_replies_in_order(carrier: str, calls: str, replies: str) -> None:
    reading = read(conversation(carrier, CALLS[calls], REPLIES[replies]), carrier)
    heads = [(one.header.role, one.header.recipient) for one in reading.messages]  # type: ignore[attr-defined]
    assert heads == [
        ("user", None),
        ("assistant", None),
        ("assistant", "functions.f"),
        ("assistant", "functions.g"),
        ("tool", None),
        ("tool", None),
        ("assistant", None),
    ]
    assert reading.texts[4:6] == ("r1", "r2")
    assert [re.findall("(?:call|reply)=([0-9]+)", call) for call in reading.calls] == [["3", "5"], ["4", "6"]]


@pytest.mark.parametrize("carrier", ["openchatml-0.1", "json"])
@pytest.mark.parametrize("calls", ["cohere", "kimi"])
def test_calls_with_ids_are_several(carrier: str, calls: str) -> None:
    reading = read(conversation(carrier, CALLS[calls], "Thanks."), carrier)
    heads = [(one.header.recipient, one.header.call_id) for one in reading.messages[2:4]]  # type: ignore[attr-defined]
    ids = ("0", "1") if calls == "cohere" else ("functions.f:0", "functions.g:1")
    assert heads == [("functions.f", ids[0]), ("functions.g", ids[1])]


@pytest.mark.slow
@pytest.mark.parametrize("carrier", ["openchatml-0.1", "json"])
@each("calls", CALLS)
def test_any_cut_gives_the_same_calls(carrier: str, calls: str) -> None:
    data = CARRIERS[carrier]("assistant", f"On it.\n{CALLS[calls]}\nDone.").encode()
    whole = read(data, carrier)
    for step in (1, 7, 64):
        assert read_cut(data, carrier, range(step, len(data), step)) == whole


@pytest.mark.parametrize(
    "text",
    [
        *("[1, 2]", "[]", "[{}", "[f(", '[f(a=")]', "[f(a=1)] and more", "f(a=1), g(b=2)", "[f(a=1)"),
        f"[{', '.join(['{}'] * (MOST_CALLS + 1))}]",
        "[" + ", ".join(["f(a=1)"] * (MOST_CALLS + 1)) + "]",
    ],
)
def test_a_value_that_is_not_a_list_of_calls_is_kept(text: str) -> None:
    data = text.encode()
    calls = read_calls(data)
    assert len(calls) <= MOST_CALLS
    if len(calls) == 1:
        assert calls[0].body == (0, len(data))


def test_results_in_an_array_are_replies_with_their_ids() -> None:
    data = b'[{"tool_call_id": "0", "results": {"a": 1}}, {"tool_call_id": "1", "results": 2}]'
    assert [reply.call_id for reply in read_replies(data)] == ["0", "1"]
    for text in (b"[1, 2]", b"[]", b'[{"a": 1}]', b"[{", b""):
        assert [reply.body for reply in read_replies(text)] == [(0, len(text))]


@pytest.mark.share(quick=12, test=6)
@pytest.mark.parametrize("unit", [b" ", b'[f("', b'\\"', b"'\"", b"</function> ", b"[TOOL_CALLS] ", b"(", b"f "])
def test_the_cost_of_reading_a_call_is_linear(unit: bytes) -> None:
    """With quadratic cost, this would take minutes."""
    for text in (unit * 200_000 + b"x", b"[f(" + unit * 200_000):
        assert read_calls(text[:LONGEST_READ])
