"""The tables of parts, fields, thoughts, and marks catch every mistake in the code that hides them.

Each mutant must differ from the program in at least one row. The tests of each module check the results of the program
itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from types import ModuleType

import pytest

from tests.support.mutants import Mutant, mutants, standing_for, unchanged
from tests.unit.formats.test_json_parts import LABELS, SHOWN, UNKNOWN
from tests.unit.formats.test_template_marks import ASSISTANT, USER
from tests.unit.reading.test_thought_blocks import NESTED
from viewer.formats.json.fields import Source
from viewer.model.messages import Channel, Coding, Header, Piece
from viewer.reading.bodies import Body, read_body
from viewer.syntax.json_text import read_json

PARTS = "viewer.formats.json.parts"
FIELDS = "viewer.reading.header"
THOUGHTS = "viewer.reading.thoughts"
SPANS = "viewer.reading.hidden_spans"
MARKS = "viewer.reading.template_marks"

Made = dict[str, ModuleType]

_TYPES = [
    *("tool_use", "tool_call", "tool-call", "function_call", "functionCall", "toolUse", "toolCall", "mcp_tool_use"),
    *("custom_tool_call", "computer_call", "web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"),
    *("local_shell_call", "shell_call", "apply_patch_call", "tool_search_call", "image_generation_call"),
    *("server_tool_use", "server_tool_call", "executableCode", "executable_code", "tool_result", "tool-result"),
    *("toolResult", "tool_response", "toolResponse", "tool_call_response", "server_tool_call_response"),
    *("function_response", "functionResponse", "function_call_output", "codeExecutionResult", "code_execution_result"),
    *("a_tool_result", "a_call_output", "summary_text", "redacted_thinking", "reasoningContent", "reasoning_content"),
    *("thinking", "reasoning", "thought", "system_content", "developer_content", "text", "input_text", "output_text"),
    *("refusal", "image_url", "file", "zork", ""),
]
_BARE = [
    *("functionCall", "function_call", "toolUse", "executableCode", "executable_code", "functionResponse"),
    *("function_response", "toolResult", "codeExecutionResult", "code_execution_result", "reasoningContent"),
    *("reasoning_content", "thinking", "image"),
]
_FLAGS: list[object] = [True, False, None, 0, 1, "", "x", {}, []]
_CONTENTS: list[object] = [
    *(part for part, _ in LABELS),
    *(content for content, _ in SHOWN),
    *([{"type": kind, "text": "t", "refusal": "r", "id": "c"}] for kind in _TYPES),
    *([{"type": kind, "id": "c"}] for kind in _TYPES),
    *([{key: {"text": "t"}}] for key in _BARE),
    *([{key: {"text": "t"}, "type": "zork"}] for key in _BARE),
    *([{key: "t"}] for key in _BARE),
    *([{key: {"text": "t"}, "text": "u"}] for key in _BARE),
    [{"functionCall": {"a": 1}, "toolUse": {"b": 1}}],
    *([{"type": "text", "text": "t", "thought": flag}] for flag in _FLAGS),
    *([{"text": "t", "thought": flag}] for flag in (True, False, None)),
    *([{name: "t", "type": "text", "text": "u"}] for name in ("Text", "Thought", "Refusal", "TYPE", "other")),
    {"content_type": "text", "parts": ["a", {"b": 1}]},
    {"content_type": "multimodal_text", "parts": ["a"]},
    {"content_type": "code", "parts": ["a"]},
    {"content_type": 7, "parts": ["a"]},
    {"parts": ["a"]},
    {"content_type": "text", "parts": "a"},
    ["", None, "a", "", "b\n", {"type": "refusal", "refusal": "r"}, {"type": "image"}, "c"],
    [{"type": "image"}, {"type": "image"}, "c\n", {"type": "image"}],
    [{"zork": 1}, {"zork": 2}, "a", {"zork": 3}],
    ["a", {"zork": 1}, {"type": "text", "text": "b"}, {"type": "text", "text": "c"}],
    ["a", {"type": "refusal", "refusal": ""}, {"type": "text", "text": ""}, "b"],
    [1, 2],
    ["a", 1],
    [{"type": "zork"}, {"text": "x"}],
    [{"text": "x"}, {"zork": "x"}],
    "a",
    "",
    None,
    5,
    [],
    {},
]
_EXTRAS: list[dict[str, object]] = [
    {},
    {"refusal": "no"},
    {"refusal": [{"type": "zork"}]},
    {"refusal": None},
    {"refusal": ""},
]
_EXTRAS += [{"thought": flag} for flag in (True, False, None, 1, "x")]


def in_parts(made: Made) -> Iterator[object]:
    """Yield the result of the sorter for each content in each role."""
    for role in ("user", "assistant", "tool", "system", "developer"):
        for content in _CONTENTS:
            yield from _sorted(made[PARTS], json.dumps({"content": content}), role)
        for part in UNKNOWN:
            yield from _sorted(made[PARTS], f'{{"content":["a",{part},"b"]}}', role)
    for content, extra in product(("a", "", ["a", {"type": "thinking", "thinking": "x"}], "a\n"), _EXTRAS):
        yield from _sorted(made[PARTS], json.dumps({"content": content, **extra}), "assistant")
    for cut in ('{"content":[{"type":"text","text":"t"', '{"content":["a', '{"content":[{"type":"te'):
        yield from _sorted(made[PARTS], cut, "assistant")
    yield [made[PARTS].is_hidden_type(kind) for kind in _TYPES]


def _sorted(module: ModuleType, text: str, role: str) -> Iterator[object]:
    node = read_json(text.encode()).node
    if node is not None:
        content = module.read_content(node, Source(text.encode(), 0), role)
        spans = [[(node.start, node.end) for node in nodes] for nodes in (content.calls, content.replies)]
        unknown = [[(node.start, node.end) for node in run] for run in content.unknown]
        yield content.pieces, content.thoughts, spans, unknown, content.faults, content.empty


_NAMES = [None, "", "Ann", "a" * 65, "a\u202eb", "<x>"]
_RECIPIENTS = [None, "user", "assistant", "functions.f"]
_INTENTS = [None, "preamble", "debug", "plan"]


def in_fields(made: Made) -> Iterator[object]:
    """Yield the safe header of each combination, one field at a time and all together."""
    module = made[FIELDS]
    for name, recipient, intent in product(_NAMES, _RECIPIENTS, _INTENTS):
        for call_id, kind, extra in product((None, "c1"), (None, "json", "JSON", "", "secret"), ((), (("a", "b"),))):
            header = Header(
                "assistant", name, recipient, Channel.FINAL, "final", intent, call_id, kind, False, extra=extra
            )
            yield module.safe_header(header), module.withheld_count(header), module.without_unlisted(header)


_WRITTEN = [
    *(text for text, _ in NESTED),
    *ASSISTANT.values(),
    *USER.values(),
    *("", "a", "<", "a[THI", 'a<think time="3', "a<think about", "a <think>x", "<THINKIN", "a</thi", "a<|start_re"),
    *("a<b", "a<|end_introspec", "<think>x<think>y</think>z", "x</think>b", "a<|start_reason|>x<|end_reason|>b<"),
    *(
        "a\r<think>x</think>b",
        "a\n\ufeff<think>x</think>b",
        "a\n x<think>y</think>",
        "<think/>a",
        "[THINK]a",
        "a[/THINK]b",
    ),
    *("a\n<think>b</think> <think>c</think>d", "<think>a</think>b<think>c</think>", "a<think>b<think>c</think>d"),
    *("a`<think>`b</think>c\n<think>d", "a</think>b<think>c</think>d</think>e", "a<think>b\n<think>c</think>d"),
    *("<|start_reason|>a", "<|start_reason|>a<|end_reflect|>b<|end_reason|>c", "a<|end_reason|>b<|start_reason|>c"),
    *("<|literal|><think>x</think><|endliteral|>b", "<<|start_reason|>x", "<|literal|><tool_call><|endliteral|>c"),
    *("<think>a</think> \n<think>b</think>c", " \n<think>a</think>b", "x</think>y<think>b</think>c<think>d</think>"),
    *("a<think>b</think>c</think>d", "</think>a", "a<think>b\n<think>c</think>d</think>e</think>f", "THINK] a", "a<b>"),
    *("a<think >b", "<thinking a='b'>c</thinking>d", " <|end_reason|> ", "<|start_reason|>a<|end_reason|> \n", "  \n"),
]


def _body(text: str, coding: Coding) -> Body:
    data = text.encode()
    return read_body((Piece(0, len(data), coding),), lambda start, end: data[start:end])


def _bodies() -> Iterator[Body]:
    for text in _WRITTEN:
        yield _body(text, Coding.PLAIN)
        yield _body(text, Coding.ESCAPED)
        for at in range(1, len(text), 7):
            yield _body(text[:at], Coding.PLAIN)


BODIES = list(_bodies())


def in_thoughts(made: Made) -> Iterator[object]:
    """Yield the visible rest of each text, whole and while it grows."""
    module = made[THOUGHTS]
    for body in BODIES:
        yield module.thought_spans(body), module.thought_blocks(body), module.quoted_tags(body)
        yield module.without_thoughts(body), module.without_thoughts_so_far(body)


_EMBEDDED = [
    "<|channel|>analysis<|message|>S<|end|><|start|>assistant<|channel|>final<|message|>Hi",
    "Hi<|start|>assistant to=functions.f<|channel|>commentary<|message|>S<|call|>",
    "<|start|>tool<|message|>S<|end|>b",
    "analysisWe need S.assistantfinalHello",
    "analysis",
    "assistantana",
    "a<|im_start|>system\nS",
    "<s>a</s>",
]


def in_spans(made: Made) -> Iterator[object]:
    """Yield the blocks and the rest of each text, for each role, inside and outside JSON, whole and while it grows."""
    module = made[SPANS]
    some = [frozenset({module.BlockKind.CALL}), module.ALL_KINDS]
    whole = [_body(text, Coding.ESCAPED) for text in (*_WRITTEN, *_EMBEDDED)]
    for body in [*whole, *BODIES[::9], *(_body(text[:-9], Coding.PLAIN) for text in _EMBEDDED)]:
        for role, in_json in (("user", False), ("assistant", False), ("assistant", True)):
            blocks = module.hidden_blocks(body, role, in_json=in_json)
            yield [(block.start, block.end, block.kind.name, block.source.name) for block in blocks]
            for kinds in some:
                yield module.shown_text(body, role, kinds, in_json=in_json)
            yield module.shown_so_far(body, role, in_json=in_json)


def in_marks(made: Made) -> Iterator[object]:
    """Yield text, incomplete marks, and the spellings and meaning of each mark. These come last because they are
    many, and few mutants differ only in them."""
    module = made[MARKS]
    folds = (
        "<details>a",
        "<details open>a",
        "<details a type=x>a",
        "</DETAILS>a",
        "<think>a",
        "<details type=tool_calls>a",
    )
    for text in folds:
        found = module.read_mark(module.MARK.search(text.encode()))
        yield (
            str(found),
            module.is_fold(found),
            [module.begun(text[:length].encode()) for length in range(len(text) + 1)],
        )
    yield module.TEXT_SIGNS
    for endings in ((b"ab", b"abc"), (b"ab", b"ac"), (b"a",), (b"abc", b"abcd", b"ae")):
        pattern = re.compile(module.any_of(endings))
        yield [
            (found := pattern.search(text)) and found[0] for text in (b"abcd", b"abc", b"ab", b"ac", b"a", b"b", b"ae")
        ]
    yield module.LONGEST_MARK, [pair.name for pair in module.THINK_PAIRS]
    for text in ("</think>", "<think>", "</THINKING >", "<think x>", "a<b", "<s>", "[INST]", "<turn|>", "<thinker>"):
        found = module.MARK.search(text.encode())
        yield found and str(module.read_mark(found)), module.MAY_BE_MARK.search(text.encode()) is not None
        yield [
            module.begun(each[:length].encode()) for each in (text, text.upper()) for length in range(1, len(each) + 1)
        ]
    for pair in module.MARK_PAIRS:
        for text in (*pair.opens, *pair.closes):
            data = text.encode() + b">"
            found = module.MARK.search(data)
            yield found and (found.span(), str(module.read_mark(found)).replace("MarkKind", ""))
            yield [module.begun(b"a" + data[:length]) for length in range(1, len(data))]
            yield module.MAY_BE_MARK.search(data) is not None
    yield module.ESCAPABLE_MARKS


GUARDED: dict[str, tuple[Callable[[Made], Iterator[object]], tuple[str, ...]]] = {
    PARTS: (in_parts, ()),
    FIELDS: (in_fields, ()),
    THOUGHTS: (in_thoughts, ()),
    SPANS: (in_spans, ()),
    MARKS: (in_marks, ()),
}

_LISTED = "listed is not None and listed.kind is JsonKind.STRING and (listed.text in _LISTS_OF_PARTS): "
_THOUGHT_TYPES = "{'summary_text', 'redacted_thinking', 'reasoningContent', 'reasoning_content'}: without "
_EMBEDDED_TURN = "first is not None and body.is_live(first, first + 1) and (token is None or first <= token): without "
HARMLESS: dict[str, str] = {
    "without_unlisted: header.extra: never": "an equal header is created again",
    "without_unlisted: header.extra: always": "an equal header is created again",
    "None: the left side alone": "an annotation",
    "None: the right side alone": "an annotation",
    "read_content: value is not None: always": "None as content has no parts: the sorter treats it as empty",
    f"{_THOUGHT_TYPES}'reasoningContent'": "its beginning names a thought",
    f"{_THOUGHT_TYPES}'reasoning_content'": "its beginning names a thought",
    "_text: value is None or is_empty(value): without value is None": "for the type checker",
    "_text: value is None or is_empty(value): and for or": "callers pass empty text only for a text part",
    "self._on_own_line) and (not self._line_ended): without self.content.pieces": "the first text ends no line",
    f"{_LISTED}without listed.kind is JsonKind.STRING": "no number is a name in the list",
    "self._add_object(part): without part.kind is JsonKind.OBJECT": "a value that is not an object has no members",
    "b'<' not in body.data and b'[' not in body.data: never": "a prefilter before the search for marks",
    "at >= 0 and is_begun: without at >= 0": "the index -1 selects the last byte, which begins no mark",
    "len(branches) == 1 and b'' not in endings: never": "a group around one pattern",
    "_tree: branches: always": "an empty group",
    "begun: at >= 0 and _UNDECIDED.fullmatch(folded, at): without at >= 0": "bytes without a tag do not match",
    "without first in _FIRST_BYTES": "a prefilter before the set of beginnings",
    "not _may_hide(body): never": "a prefilter before the search for marks",
    "shown_so_far: held: always": "an empty span at the end hides nothing",
    "MAY_BE_MARK.search(body.data) is not None or may_be_stripped(body.data): always": "a prefilter that rejects less",
    "shown_text: blocks: always": "without blocks the body is copied as it is",
}
"""Mutations without effect, each with a reason."""

NOT_CAUGHT = {
    "forget_from: self.marks and self.marks[-1].start >= start: never",
    "forget_from: self.marks and self.marks[-1].start >= start: without self.marks[-1].start >= start",
    "forget_from: self.marks[-1].start >= start: negated",
    "take: mark.opens and (mark.begins or self._count): without mark.begins or self._count",
    "take: not mark.opens and starts: without not mark.opens",
    "_close: closed and (not self._opened.marks): without closed",
    "_merged: len(merged) == 1 and merged[0][0] == 0: without len(merged) == 1",
    "_text: value is None or is_empty(value): never",
    "_text: value is None or is_empty(value): without is_empty(value)",
    "role != 'assistant' or BlockKind.THOUGHT not in kinds: without BlockKind.THOUGHT not in kinds",
    f"{_EMBEDDED_TURN}body.is_live(first, first + 1)",
    f"{_EMBEDDED_TURN}token is None or first <= token",
    "_live_tokens: body.is_live(*found.span()): always",
}
"""Mutants that no row of these tables catches yet. This list must only get shorter."""


@cache
def expected(module: str) -> list[str]:
    """Return the results of the program."""
    look, users = GUARDED[module]
    with standing_for(unchanged(module), *users) as made:
        return [repr(row) for row in look(made)]


def is_caught(mutant: Mutant) -> bool:
    """True if one row differs, or the module is unusable."""
    look, users = GUARDED[mutant.module]
    rows = iter(expected(mutant.module))
    try:
        with standing_for(mutant, *users) as made:
            return any(repr(row) != next(rows, None) for row in look(made)) or next(rows, None) is not None
    except (ArithmeticError, AttributeError, LookupError, NameError, RecursionError, TypeError, ValueError, re.error):
        return True


def _harmless(mutant: Mutant) -> bool:
    return any(str(mutant).endswith(words) for words in (*HARMLESS, *NOT_CAUGHT))


ONLY = {
    FIELDS: (
        *("safe_header: ", "without_unlisted: ", "withheld_count: ", "_safe_intent: ", "_safe_type: "),
        "module: {'user', 'assistant'}: ",
    )
}
"""The guarded functions of each module. Other tests cover the rest."""
LONG = {PARTS, SPANS}
"""The modules that take too long for `make test`."""


@pytest.mark.share(test=4)
@pytest.mark.parametrize(
    "module", [pytest.param(each, marks=pytest.mark.lab if each in LONG else pytest.mark.slow) for each in GUARDED]
)
def test_every_mutant_is_caught(module: str) -> None:
    made = [each for each in mutants(module) if each.words.startswith(ONLY.get(module, ""))]
    assert made
    assert [str(each) for each in made if not is_caught(each) and not _harmless(each)] == []
