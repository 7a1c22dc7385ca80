"""`FIELDS`, the table of filter fields: what each one matches, and what must be revealed to use it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from msgspec import Struct

from viewer.index.calls import CallState

ANY = "any"
"""The value of `Field.needs` if a field is available as soon as anything is revealed."""


class FieldKind(Enum):
    """The kind of value that a field has."""

    NAME = "name"
    WORD = "word"
    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    TIME = "time"


class Field(Struct, frozen=True):
    """One field of the filter language: a row of the table."""

    name: str
    kind: FieldKind
    matches: str
    """A description of the values that match, for the documentation."""
    needs: str = ""
    """The kind of content that must be revealed to use the field, or `any`; empty if the safe view allows the field."""
    of_values: Mapping[str, str] = {}
    """For individual values, the kind of content that must be revealed to use them, if it differs from `needs`."""
    words: tuple[str, ...] = ()
    """All possible values, if they are a fixed list."""
    is_cased: bool = False
    """True if values are case-sensitive."""

    def need(self, value: str) -> str:
        """Return the kind of content that must be revealed to use this value, `any`, or an empty string."""
        return self.of_values.get(value.casefold(), self.needs)


_STATES = tuple(state.value for state in CallState)
_IS = ("shown", "hidden", "open", "preamble", "marked", "error", "warning", "inferred", *_STATES)
_SAFE_IS = ("shown", "open", "preamble", "marked", "error", "warning")

FIELDS = {
    field.name: field
    for field in (
        Field(
            "role",
            FieldKind.NAME,
            "the role: `role:user,assistant`",
            ANY,
            {"user": "", "assistant": "", "system": "system", "developer": "developer", "tool": "tool"},
        ),
        Field(
            "channel",
            FieldKind.NAME,
            "the channel: `channel:final`",
            ANY,
            {"final": "", "commentary": "", "analysis": "analysis"},
        ),
        Field("msg", FieldKind.NUMBER, "the number of the message: `msg>100`"),
        Field("turn", FieldKind.NUMBER, "the number of the turn: `turn:3..5`"),
        Field("transcript", FieldKind.NUMBER, "the number of the transcript in the input: `transcript:10..20`"),
        Field("time", FieldKind.TIME, "the time in UTC: `time>10:02` (on the first day), `time:2026-11-22..`"),
        Field(
            "is",
            FieldKind.WORD,
            "what the message is, or the state of its call: `is:open`, `is:failed`",
            "tool",
            dict.fromkeys(_SAFE_IS, "") | {"hidden": ANY},
            _IS,
        ),
        Field(
            "has",
            FieldKind.WORD,
            "what the message has: `has:problem`",
            "tool",
            {"problem": "", "time": "", "json": ANY},
            ("problem", "time", "json", "call", "reply"),
        ),
        Field("code", FieldKind.NAME, "the code of a problem in the message: `code:E-*`"),
        Field(
            "severity",
            FieldKind.WORD,
            "the severity of a problem in the message: `severity:error`",
            words=("error", "warning", "info"),
        ),
        Field("to", FieldKind.NAME, "the recipient: `to:functions.*`", ANY),
        Field("from", FieldKind.NAME, "the sender: its name, or its role if it has no name", ANY),
        Field("name", FieldKind.NAME, "the name in the header", ANY),
        Field("intent", FieldKind.NAME, "the intent: `intent:preamble`", ANY),
        Field("tool", FieldKind.NAME, "the tool of a call or reply, with or without `functions.`", "tool"),
        Field("call", FieldKind.NAME, "the call ID", "tool", is_cased=True),
        Field("state", FieldKind.WORD, "the state of a call: `state:failed,timeout`", "tool", words=_STATES),
        Field("latency", FieldKind.DURATION, "the time from call to reply: `latency>2s`", "tool"),
        Field("deadline", FieldKind.DURATION, "the deadline of a call: `deadline<10s`", "tool"),
        Field("bytes", FieldKind.SIZE, "the size of the body: `bytes>10kb`", ANY),
        Field("line", FieldKind.NUMBER, "the line of the file where the message begins", ANY),
        Field("file", FieldKind.NAME, "the name of the file: `file:*.jsonl`", is_cased=True),
        Field("model", FieldKind.NAME, "the model that the transcript names", is_cased=True),
        Field("format", FieldKind.NAME, "the format of the transcript"),
    )
}
"""All fields, by name."""

OF_PROBLEMS = frozenset({"code", "severity", "msg", "transcript", "line", "file", "format", "model"})
"""Fields with values that `check` prints for any message, hidden or not."""
WORDS_OF_PROBLEMS = frozenset({"error", "warning"})
