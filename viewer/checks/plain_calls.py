"""Plain calls and replies: messages whose bytes alone prove that they have no problem, so their checks need not run."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from enum import IntFlag
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.checks.context import LONGEST_HEADER, TranscriptFacts, first_mark
from viewer.index.calls import UNNAMED, bare_tool_name, is_function
from viewer.model.messages import Ending, Header, Message, Outcome, Span
from viewer.model.visibility import is_user_safe
from viewer.reading.bodies import string_data
from viewer.reading.format import FormatTraits
from viewer.reading.header import full_tool_name, is_tool
from viewer.syntax.json_string import string_body
from viewer.syntax.json_text import counted_object, plain_object

if TYPE_CHECKING:
    from viewer.tools.argument_types import ArgumentTypes

BEFORE_ID = (b"<|channel|>", b"<|constrain|>", b"<|message|>")
"""A call ID belongs before the first of these marks."""
DEADLINE = b'"deadline_ms"'
"""The key that sets a deadline for the tool, as it appears in the JSON of a call."""
IS_OBJECT, HAS_OK, FAILS, FITS, MISFITS = 1, 2, 4, 8, 16
"""Flags of a JSON body: it is an object without repeated keys; it has `ok`; it reports a failure; it fits the schema of
its tool; it does not fit the schema. `Native.objects` returns the same flags."""


class KindCode(IntFlag):
    """Flags that describe the messages of one kind, for use in columns."""

    PLAIN = 1
    """Messages of this kind have a `PlainKind`."""
    CALL = 2
    JSON = 4
    CALL_STOP = 8
    HAS_ID = 16
    """Calls or replies of this kind can be linked in bulk by their IDs."""
    INSTRUCTION = 32
    """Messages of this kind may declare tools."""
    MAY_LACK_ID = 64
    """Calls or replies of this kind need no ID, and name their tool."""
    NOTED = 128
    """Replies of this kind are reported if they lack an ID. No end user sees them."""


class PlainKind(Struct, frozen=True):
    """A kind of call or reply whose bytes can prove that it has no problem."""

    header: Header
    """The header, without the call ID."""
    format: FormatTraits
    is_call: bool
    is_json: bool
    has_call_stop: bool
    may_lack_id: bool
    notes_inferred: bool
    """True if a reply without an ID is reported."""
    tool: str
    """The full tool name of a call; `UNNAMED` for a reply."""
    bare_tool: str
    """The tool name by which calls and replies without an ID are linked; empty if there is none."""
    is_function: bool
    states_outcome: bool = False
    """True for a reply whose header, not its text, reports how the call ended."""


class PlainRows(Struct, frozen=True):
    """Messages that need a check, in order, as columns."""

    numbers: list[int]
    kinds: list[PlainKind | None]
    """The kind of each message; None if the message is already known to need its checks."""
    turns: list[int]
    ids: list[str | None]
    are_json: list[bool]
    """True for a body that begins like an object."""
    headers: list[int]
    starts: list[int]
    ends: list[int]
    """For each message, its start, the start of its body, and the end of its body, as offsets in the data."""
    data: bytes
    base: int
    """The offset of the data in the input."""
    have_deadline: bool
    """True if any body in the data may have a deadline."""
    strings: list[bool] = []
    """True for each body that is a JSON string with its quotes; empty if there is none."""
    objects: bytes = b""
    """The flags of each body as a JSON object: 0 if they are not known yet; empty if none is known."""

    def text(self, place: int) -> bytes:
        """Return the text of a body."""
        source = self.data[self.starts[place] : self.ends[place]]
        if not self.strings or not self.strings[place]:
            return source
        text = string_data(source)
        return string_body(source).encode("utf-8", "replace") if text is None else text

    def id_place(self, number: int) -> Span:
        """Return the empty span where the missing call ID of the message with this number belongs."""
        place = bisect_left(self.numbers, number)
        at = self.base + id_place(self.data, self.headers[place], self.starts[place])
        return at, at


def id_place(data: bytes, header: int, body: int) -> int:
    """Return the offset where a call ID belongs in a message that begins at `header`."""
    return header + first_mark(data[header : min(body, header + LONGEST_HEADER)], *BEFORE_ID)


def plain_kind(message: Message, transcript: TranscriptFacts) -> PlainKind | None:
    """Return the kind of a message whose body is one run of bytes, or None for a kind that needs all checks."""
    header, format = message.header, transcript.format
    is_call = header.role == "assistant" and is_tool(header.recipient)
    is_json = (header.content_type or "").lower() == "json"
    if header.malformed or not (is_call or (header.role == "tool" and not is_json)):
        return None
    states_outcome = format.states_outcomes and not is_call
    if format.name == "openchatml-0.1" or (states_outcome and header.outcome not in (None, Outcome.OK)):
        return None
    tool = full_tool_name(header.recipient or "") if is_call else UNNAMED
    named = tool if is_call else header.name
    return PlainKind(
        header,
        format,
        is_call,
        is_json,
        message.ending is Ending.CALL and not format.shares_spans,
        not format.call_ids,
        format.infers_calls,
        tool,
        bare_tool_name(named or ""),
        is_function(header.recipient or ""),
        states_outcome,
    )


def kind_code(kind: PlainKind | None, example: Message) -> int:
    """Return the flags that describe messages of this kind, as a number, which is faster than `KindCode`."""
    if kind is None:
        return KindCode.INSTRUCTION.value if example.header.role in ("system", "developer") else 0
    code, is_noted = KindCode.PLAIN.value, kind.notes_inferred and not kind.is_call
    may_lack_id = kind.may_lack_id and kind.bare_tool and not (is_noted and is_user_safe(example))
    for is_true, flag in (
        (kind.is_call, KindCode.CALL),
        (kind.is_json, KindCode.JSON),
        (kind.is_call and kind.has_call_stop, KindCode.CALL_STOP),
        (not kind.states_outcome, KindCode.HAS_ID),
        (may_lack_id, KindCode.MAY_LACK_ID),
        (is_noted, KindCode.NOTED),
    ):
        code |= flag.value if is_true else 0
    return code


def read_objects(
    texts: Iterable[bytes], members: Iterable[int], are_calls: Iterable[bool], types: Iterable[ArgumentTypes | None]
) -> tuple[bytes, list[dict[str, object] | None]]:
    """Return the flags of JSON bodies, 0 for a body that is not an object or repeats a key; and their values, None
    for those that were not decoded.

    `members` contains the maximum number of members of each body, negative if it is uncertain. `types` contains the
    types of the arguments of each call."""
    flags, values = bytearray(), list[dict[str, object] | None]()
    for text, count, is_call, known in zip(texts, members, are_calls, types, strict=True):
        value = None
        if known is not None and count >= 0 and known.recognizes(text, count):
            flags.append(IS_OBJECT | FITS)
        else:
            value = counted_object(text, count) if count >= 0 else None
            if value is None:
                value = plain_object(text)
            flags.append(IS_OBJECT if is_call and value is not None else object_flags(value))
        values.append(value)
    return bytes(flags), values


def object_flags(value: dict[str, object] | None) -> int:
    """Return the flags of a JSON object without repeated keys, or 0 for None."""
    if value is None:
        return 0
    return IS_OBJECT | ("ok" in value) * HAS_OK | (not is_plain_result(value)) * FAILS


def is_plain_result(value: dict[str, object] | None) -> bool:
    """True if a reply with this JSON value reports no failure."""
    return value is None or not ("error" in value or value.get("ok") is False)
