"""Runs of plain frames read as batches yield the same result as frames read token by token, whatever surrounds them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest
from msgspec.structs import replace

from tests.support.cases import each
from tests.support.native import BOTH_WAYS, using
from tests.support.reading import read, read_batched
from tests.support.template_cases import CASES, Turns
from viewer.formats import FORMATS
from viewer.formats.openchatml_0_1.reader import FRAME_RULES
from viewer.formats.text.plain_frames import LEAST_SCANNED, FrameRules
from viewer.formats.text.template_reader import OUTER, frame_rules
from viewer.formats.text.templates import TEMPLATES
from viewer.model.events import ClosedBatch
from viewer.reading.parser import Parser
from viewer.reading.template_marks import LONGEST_FOLD, MARK_PAIRS
from viewer.scan.text_signs import SIGNS

OLD = Turns(
    "openchatml-0.1",
    "",
    "<|im_start|>system\nSECRET_SYS<|im_end|>\n",
    "<|im_start|>user name=Eric\nTEXT<|im_end|>\n",
    "<|im_start|>assistant\nTEXT<|im_end|>\n",
    "<|start_reason|>SECRET<|end_reason|>",
    '<|im_start|>assistant\n<|function_call|>{"name": "f", "arguments": {}}<|im_end|>\n',
    '<|im_start|>tool name=f\n<|function_output|>{"name": "f", "content": 1}<|im_end|>\n',
    "<|im_start|>assistant\nTEXT<|im_end|>\n",
    "<|im_start|>assistant\n",
)
ALL = (*CASES, OLD)
WORDS = (
    "It rains.",
    "x < y and y > z",
    "def f():\n    return [1, 2]",
    "日本語のテキスト 🙂",
    "a\n\n- b\n- c\n",
    "1 | 2",
)
ODD = (
    *("", " ", "\n\n", "  lead", "trail \n ", "\x0c", "\x0bx\x0c", " " * 300, "x" + " \n" * 200),
    *("<think>SECRET</think>said", "said\n</think>\nmore", "<details>\na\n</details>", "[THINK]x[/THINK]y", "<THINK"),
    *(
        "<|im_end|>",
        "<|im_start|>",
        "<|weird|>",
        "<|user|>",
        "</s>",
        "<s>",
        "<bos>",
        "[BOS]",
        "[INST]",
        "]~b]",
        "<｜User｜>",
        "[|critic|]",
    ),
    *("<|end", "<", "<|", "[", "]", "&lt;think&gt;x", "<|tool_call|>", "<tool_call>{}</tool_call>", "[{", "{"),
    *('{"name": "f", "arguments": {}}', "f\n{", "f", "Action:", "Action: ```json\n[]\n```", "```tool_output\nx\n```"),
    *(">>>all\nx", ">>>f\n{}", "<|function_call|>{}", "<|function_list|>[]", "[AVAILABLE_TOOLS]", "assistantfinal"),
    *("pay\u200bpal", "in\u202evoice", "\x1b[0m", "a\rb", "a\0b", "\ufffd", '{"tool_calls": [{}]}', "# Tools\n{}"),
    *(
        "<|start|>assistant<|channel|>analysis<|message|>SECRET<|end|>",
        "analysisSECRETassistantfinalx",
        "<|endoftext|>",
    ),
)
BETWEEN = (
    "",
    "",
    "",
    "\n",
    " \n",
    " " * 100,
    "stray",
    "<|endoftext|>",
    "</s>",
    "<s>",
    "<|im_end|>",
    "[EOS]",
    "\0",
    "<|x|>",
)


def document(chance: Random, case: Turns) -> bytes:
    """Return a conversation in which odd texts interrupt runs of plain frames."""
    share = chance.choice((0.02, 0.1, 0.4))
    parts = [case.begin]
    size = 0
    while size < 3 * LEAST_SCANNED:
        frame = chance.choice((case.user, case.answer, case.user, case.after_replies, case.system))
        words = " ".join(chance.choice(WORDS) for _ in range(chance.choice((1, 3, 30))))
        if chance.random() < share:
            words = chance.choice((chance.choice(ODD), words + chance.choice(ODD), chance.choice(ODD) + words))
        if chance.random() < share / 4:
            frame = chance.choice((case.calls, case.replies, case.prompt, frame.replace("user", "nobody")))
        thought = case.thought if chance.random() < share / 2 else ""
        parts.append(frame.replace("THOUGHT", thought).replace("TEXT", words).replace("SECRET_SYS", words))
        if chance.random() < share / 4:
            parts.append(chance.choice(BETWEEN))
        size += len(parts[-1])
    data = "".join(parts).encode()
    if chance.random() < 0.2:
        at = chance.randrange(len(data))
        data = data[:at] + chance.choice((b"\xff", b"\xe3\x81", b"\x80")) + data[at:]
    return data[: len(data) - chance.choice((0, 0, 1, 7, 300))]


def compare(case: Turns, number: int) -> None:
    """Read a random document as frames and in batches."""
    chance = Random(f"{case.format} {number}")
    data = document(chance, case)
    expected = read(data, case.format)
    for way in BOTH_WAYS:
        cuts = [chance.randrange(len(data)) for _ in range(chance.choice((0, 0, 1, 3)))]
        with using(way):
            assert read_batched(data, case.format, cuts, chance.choice((0, 10_000))) == expected, (way, cuts)


@each("case", ALL, ids=lambda case: case.format, quick=8, batch=32)
def test_batches_equal_frames(case: Turns) -> None:
    for number in range(2):
        compare(case, number)


@pytest.mark.slow
@each("case", ALL, ids=lambda case: case.format, batch=32)
def test_more_batches_equal_frames(case: Turns) -> None:
    for number in range(2, 4):
        compare(case, number)


@pytest.mark.lab
@each("case", ALL, ids=lambda case: case.format, batch=32)
def test_many_batches_equal_frames(case: Turns) -> None:
    for number in range(4, 20):
        compare(case, number)


def test_plain_conversations_are_read_in_batches() -> None:
    for case in ALL:
        if case.format in ("hunyuan-moe", "kimi-k3"):
            continue  # the end of a question decides who speaks; marks around an answer are inside its frame
        turn = (case.user + case.answer).replace("THOUGHT", "").replace("<think></think>", "")
        turn = turn.replace("<answer>", "").replace("</answer>", "")
        data = (case.begin + case.system + turn.replace("TEXT", "It rains on the plain. " * 20) * 100).encode()
        parser = Parser(FORMATS[case.format], batches=True)
        batched = sum(len(event) for event in parser.feed(data) if isinstance(event, ClosedBatch))
        assert batched >= 200 * (len(data) - 2 * LONGEST_FOLD) // len(data), case.format


def all_rules() -> Iterator[tuple[FrameRules, frozenset[bytes]]]:
    """Yield the rules of each format, with the tokens that are text in a frame."""
    for name, template in TEMPLATES.items():
        rules = frame_rules(name)
        more = rules.starts if template.open_ended else frozenset[bytes]()
        edges = frozenset(map(str.encode, OUTER)) - rules.starts - rules.ends - rules.others
        yield replace(rules, also_ends=rules.also_ends | more), edges
    yield FRAME_RULES, frozenset()


def test_no_mark_that_begins_in_a_text_without_signs_reaches_into_a_token() -> None:
    marks = {spelling.encode() for pair in MARK_PAIRS for spelling in (*pair.opens, *pair.closes)}
    rests = {mark[size:] for mark in marks for size in without_sign(mark)}
    assert len(rests) > 10
    for rules, edges in all_rules():
        tokens = rules.ends | rules.also_ends
        for rest in rests.union(mark[size:] for mark in edges for size in without_sign(mark)):
            assert not any(token.startswith(rest) or rest.startswith(token) for token in tokens), rest


@cache
def without_sign(mark: bytes) -> range:
    """Return the lengths of the beginnings of a mark that have no sign."""
    text = mark.lower()
    return range(1, min((text.index(sign) + len(sign) for sign in SIGNS if sign in text), default=len(mark)))
