"""Marks of chat templates inside a body: thought blocks, tool calls, and tool replies.

Every reader hides what these marks enclose, so that safety does not depend on the detected format. Marks are bounded:
at most `LONGEST_MARK` bytes are held back while a body grows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.model.messages import Span


class MarkKind(Enum):
    """The kind of content that a pair of marks encloses."""

    THOUGHT = "thought"
    CALL = "call"
    REPLY = "reply"


class MarkPair(Struct, frozen=True):
    """One row of the table: how a block opens and closes."""

    name: str
    kind: MarkKind
    opens: tuple[str, ...]
    closes: tuple[str, ...] = ()
    """The marks that close the block. If empty, the block extends to the end of the message."""
    in_line: bool = True
    """True if an opening mark is recognized anywhere, not only at the start of a line or directly after another
    mark."""
    shared_close: bool = False
    """True if the closing mark is also a token of the frame, so that it has no meaning without an open block."""
    kept: int = 0
    """The number of bytes at the end of an opening mark that already belong to the content."""


THINK_TAGS = (
    *("think", "thinking", "thought", "reasoning", "reason", "reflection", "scratchpad", "antthinking"),
    *("seed:think", "longcat_think", "inner_monologue"),
)
"""The names of tags around thoughts, in lower case: those that models write, and those that chat programs collapse."""

_FOLDS = ("details", "Details", "DETAILS")
_UNFOLDED = tuple(f"</{name}>" for name in _FOLDS)


def _folded(type: str) -> tuple[str, ...]:
    """Return the openings of a folded element of this type, in upper and lower case, with any quotes."""
    return tuple(f"<{name} type={quote}{type}{quote}" for name in _FOLDS for quote in ('"', "'", ""))


MARK_PAIRS = (
    MarkPair(
        "think",
        MarkKind.THOUGHT,
        tuple(f"<{tag}" for tag in THINK_TAGS),
        tuple(f"</{tag}>" for tag in THINK_TAGS),
        in_line=False,
    ),
    MarkPair("THINK", MarkKind.THOUGHT, ("[THINK]",), ("[/THINK]",), in_line=False),
    MarkPair("kimi-think", MarkKind.THOUGHT, ("◁think▷",), ("◁/think▷",)),
    MarkPair("START_THINKING", MarkKind.THOUGHT, ("<|START_THINKING|>",), ("<|END_THINKING|>",)),
    MarkPair("gemma-channel", MarkKind.THOUGHT, ("<|channel>",), ("<channel|>",)),
    MarkPair("begin_of_thought", MarkKind.THOUGHT, ("<|begin_of_thought|>",), ("<|end_of_thought|>",)),
    MarkPair("inner_prefix", MarkKind.THOUGHT, ("<|inner_prefix|>",), ("<|inner_suffix|>",)),
    MarkPair("unused16", MarkKind.THOUGHT, ("[unused16]",), ("[unused17]",)),
    MarkPair("details", MarkKind.THOUGHT, _folded("reasoning"), _UNFOLDED, shared_close=True),
    MarkPair("tool_call", MarkKind.CALL, ("<tool_call>",), ("</tool_call>",)),
    MarkPair("tool_calls", MarkKind.CALL, ("<tool_calls>",), ("</tool_calls>",)),
    MarkPair("function_calls", MarkKind.CALL, ("<function_calls>",), ("</function_calls>",)),
    MarkPair("claude-calls", MarkKind.CALL, ("<antml:function_calls>",), ("</antml:function_calls>",)),
    MarkPair("seed-call", MarkKind.CALL, ("<seed:tool_call>",), ("</seed:tool_call>",)),
    MarkPair("longcat-call", MarkKind.CALL, ("<longcat_tool_call>",), ("</longcat_tool_call>",)),
    MarkPair("TOOLCALL", MarkKind.CALL, ("<TOOLCALL>",), ("</TOOLCALL>",)),
    MarkPair("TOOL_REQUEST", MarkKind.CALL, ("[TOOL_REQUEST]",), ("[END_TOOL_REQUEST]",)),
    MarkPair("unused11", MarkKind.CALL, ("[unused11]",), ("[unused12]",)),
    MarkPair("tools_prefix", MarkKind.CALL, ("<|tools_prefix|>",), ("<|tools_suffix|>",)),
    MarkPair("step-calls", MarkKind.CALL, ("<｜tool_calls_begin｜>",), ("<｜tool_calls_end｜>",)),
    MarkPair(
        "details-call",
        MarkKind.CALL,
        (*_folded("tool_calls"), *_folded("code_interpreter")),
        _UNFOLDED,
        shared_close=True,
    ),
    MarkPair("functools", MarkKind.CALL, ("functools[{",), kept=len("[{")),
    MarkPair("action", MarkKind.CALL, ("Action:\n```json",), ("```",), shared_close=True),
    MarkPair("function", MarkKind.CALL, ("<function=",), ("</function>",), kept=len("<function=")),
    MarkPair(
        "lfm-call",
        MarkKind.CALL,
        ("<|tool_call_start|>", "<|tool_call_begin|>"),
        ("<|tool_call_end|>",),
    ),
    MarkPair("phi-call", MarkKind.CALL, ("<|tool_call|>",), ("<|/tool_call|>",)),
    MarkPair("gemma-call", MarkKind.CALL, ("<|tool_call>",), ("<tool_call|>",)),
    MarkPair("python_tag", MarkKind.CALL, ("<|python_tag|>",), ("<|eom_id|>", "<|eot_id|>"), shared_close=True),
    MarkPair("python_start", MarkKind.CALL, ("<|python_start|>",), ("<|python_end|>",)),
    MarkPair("START_ACTION", MarkKind.CALL, ("<|START_ACTION|>",), ("<|END_ACTION|>",)),
    MarkPair("TOOL_CALLS", MarkKind.CALL, ("[TOOL_CALLS]",), ("</s>",), shared_close=True),
    MarkPair("deepseek-calls", MarkKind.CALL, ("<｜tool▁calls▁begin｜>",), ("<｜tool▁calls▁end｜>",)),
    MarkPair("deepseek-call", MarkKind.CALL, ("<｜tool▁call▁begin｜>",), ("<｜tool▁call▁end｜>",)),
    MarkPair("deepseek-dsml", MarkKind.CALL, ("<｜DSML｜function_calls>",), ("</｜DSML｜function_calls>",)),
    MarkPair("kimi-calls", MarkKind.CALL, ("<|tool_calls_section_begin|>",), ("<|tool_calls_section_end|>",)),
    MarkPair("minimax-call", MarkKind.CALL, ("<minimax:tool_call>",), ("</minimax:tool_call>",)),
    MarkPair("tool_response", MarkKind.REPLY, ("<tool_response>",), ("</tool_response>",)),
    MarkPair("function_results", MarkKind.REPLY, ("<function_results>",), ("</function_results>",)),
    MarkPair("lfm-reply", MarkKind.REPLY, ("<|tool_response_start|>",), ("<|tool_response_end|>",)),
    MarkPair("phi-reply", MarkKind.REPLY, ("<|tool_response|>",), ("<|/tool_response|>",)),
    MarkPair("gemma-reply", MarkKind.REPLY, ("<|tool_response>",), ("<tool_response|>",)),
    MarkPair("START_TOOL_RESULT", MarkKind.REPLY, ("<|START_TOOL_RESULT|>",), ("<|END_TOOL_RESULT|>",)),
    MarkPair("TOOL_RESULTS", MarkKind.REPLY, ("[TOOL_RESULTS]",), ("[/TOOL_RESULTS]",)),
    MarkPair("deepseek-replies", MarkKind.REPLY, ("<｜tool▁outputs▁begin｜>",), ("<｜tool▁outputs▁end｜>",)),
    MarkPair("deepseek-reply", MarkKind.REPLY, ("<｜tool▁output▁begin｜>",), ("<｜tool▁output▁end｜>",)),
    MarkPair("observation", MarkKind.REPLY, ("<|observation|>",), ("<|assistant|>", "<|user|>"), shared_close=True),
)
"""All pairs. Marks must match exactly, except that think tags ignore case and may have attributes."""

THINK_PAIRS = MARK_PAIRS[:2]
"""The pairs that `viewer/reading/thoughts.py` reads in a body. Readers of frames treat them like all others."""

THINK_TAG = b"(?i:" + b"|".join(sorted((tag.encode() for tag in THINK_TAGS), reverse=True)) + b")"
"""A pattern for the name of any of these tags, ignoring case."""
_THINK_MARK = rb"(?<=<)(?:/%s[ \t]?>|%s(?=[\s>]))" % (THINK_TAG, THINK_TAG)
_SPELLED = tuple(pair for pair in MARK_PAIRS if pair.name != "think")
_SPELLINGS = tuple(spelling.encode() for pair in _SPELLED for spelling in (*pair.opens, *pair.closes))
ESCAPABLE_MARKS = tuple(dict.fromkeys(spelling for spelling in _SPELLINGS if spelling.startswith(b"<|")))
"""Marks that OpenChatML 2.2 escapes with a doubled `<`."""
_BEGUN = tuple(mark.encode() for tag in THINK_TAGS for mark in (f"<{tag}", f"</{tag} "))


def any_of(spellings: Iterable[bytes], *others: bytes) -> bytes:
    """Return a pattern for these spellings. It starts with a set of bytes, which the engine finds quickly.

    `others` are patterns for what comes after the first byte."""
    rests: dict[bytes, list[bytes]] = {}
    for spelling in spellings:
        rests.setdefault(spelling[:1], []).append(re.escape(spelling[1:]))
    branches = [b"(?<=" + re.escape(first) + b")(?:" + b"|".join(rest) + b")" for first, rest in rests.items()]
    return b"[" + b"".join(map(re.escape, rests)) + b"](?:" + b"|".join([*others, *branches]) + b")"


MARK = lazy_regex(any_of(_SPELLINGS, _THINK_MARK), signs=(*_SPELLINGS, *map(bytes.rstrip, _BEGUN)))
LONGEST_MARK = max(map(len, _SPELLINGS))
_BEGINNINGS = frozenset(
    [spelling[:length] for spelling in _SPELLINGS for length in range(1, len(spelling))]
    + [tag[:length] for tag in _BEGUN for length in range(1, len(tag) + 1)]
)

THINK_SIGNS = (
    *(b"<think", b"</think", b"<thought", b"</thought", b"<reas", b"</reas", b"<refl", b"</refl", b"<scratchp"),
    *(b"</scratchp", b"<antthink", b"</antthink", b"<seed:", b"</seed:", b"<longcat_", b"</longcat_", b"<inner_"),
    b"</inner_",
)
"""Every tag around a thought starts with one of these, ignoring case."""
MARK_SIGNS = (
    *THINK_SIGNS,
    *(b"<toolcall>", b"</toolcall>", b"<details type=", b"</details>", b"[unused", b"[end_tool_", b"```json", b"[{"),
    *(b"<antml:", b"</antml:", b"<|", b"<tool_", b"</tool_", b"<func", b"</func", b"<minimax:", b"</minimax:"),
    *("<｜".encode(), "</｜".encode(), b"<channel", b"[THINK", b"[/THINK", b"[TOOL_", b"[/TOOL_", "◁".encode()),
)
"""Every mark contains one of these, ignoring case."""
TOKEN_SIGNS = (
    b"<turn",
    b"<s>",
    b"</s>",
    b"<start_of",
    b"<end_of",
    b"[INST",
    b"[/INST",
    b"[SYS",
    b"[/SYS",
    b"[gM",
    b"[e~[",
    b"]~b]",
)
"""Every other token of a chat template contains one of these."""
_SIGNS = (*MARK_SIGNS, *TOKEN_SIGNS)
MAY_BE_MARK = lazy_regex(any_of(_SIGNS), re.IGNORECASE, _SIGNS)
"""A pattern that matches every body that may have hidden parts, except stripped turns. It is used by prefilters."""


def searches(spellings: Iterable[bytes]) -> tuple[re.Pattern[bytes], ...]:
    """Return patterns that together match where one of these spellings begins, ignoring case.

    There is one for each first byte, for which the engine skips text ten times faster than for a set of bytes."""
    rests: dict[bytes, set[bytes]] = {}
    for spelling in spellings:
        rests.setdefault(spelling[:1].lower(), set()).add(spelling[1:].lower())
    return tuple(
        lazy_regex(re.escape(first) + b"(?:" + b"|".join(map(re.escape, sorted(rest))) + b")", re.IGNORECASE)
        for first, rest in rests.items()
    )


class Mark(Struct, frozen=True):
    """One mark in a body."""

    start: int
    end: int
    opens: MarkPair | None
    closes: tuple[MarkPair, ...]
    """The pairs that the mark closes. Pairs may share a closing mark."""


def _roles() -> dict[bytes, tuple[MarkPair | None, tuple[MarkPair, ...]]]:
    opened = {spelling.encode(): pair for pair in _SPELLED for spelling in pair.opens}
    closed: dict[bytes, list[MarkPair]] = {}
    for pair in _SPELLED:
        for spelling in pair.closes:
            closed.setdefault(spelling.encode(), []).append(pair)
    return {spelling: (opened.get(spelling), tuple(closed.get(spelling, ()))) for spelling in _SPELLINGS}


_ROLES = _roles()


def read_mark(found: re.Match[bytes]) -> Mark:
    """Return the mark that the pattern `MARK` matched."""
    return mark_of(found[0], found.span())


def mark_of(text: bytes, span: Span) -> Mark:
    """Return the mark with this spelling at this offset."""
    if text in _ROLES:
        return Mark(*span, *_ROLES[text])
    think = MARK_PAIRS[0]
    return Mark(*span, None, (think,)) if text.startswith(b"</") else Mark(*span, think, ())


def begun(data: bytes) -> int:
    """Return the number of bytes at the end that may begin a mark."""
    tail = data[-LONGEST_MARK:]
    for at in range(len(tail)):
        rest = tail[at:]
        if rest in _BEGINNINGS or rest.lower() in _BEGINNINGS:
            return len(rest)
    return 0
