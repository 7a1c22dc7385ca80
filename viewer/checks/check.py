"""`Check` and `Trigger`: the rules of a check, its scope, the trigger that selects messages, and its function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.model.messages import Message

if TYPE_CHECKING:
    from viewer.scan.blocks import Positions

Predicate: TypeAlias = Callable[[Message, TranscriptFacts], bool]
Run: TypeAlias = Callable[[CheckContext], Iterable[Diagnostic]]
Search: TypeAlias = "Callable[[bytes, Positions], Iterable[int]]"
"""A function that returns the offsets of matches in the bytes of many messages, given the offsets of all lead bytes. No
match may cross the end of a body."""


class Scope(Enum):
    """The data that a check needs."""

    MESSAGE = "message"
    """Only the message itself."""
    CALLS = "calls"
    """The call ledger: these checks see the messages in input order."""
    HEADER = "header"
    """The header of a message that only the scanner has read. These checks report what the parser would have
    reported."""


class Always(Struct, frozen=True):
    """A trigger that is true for every message."""


class HeaderIs(Struct, frozen=True):
    """A trigger that is true if the predicate is true. The predicate may use only the ending and the header of a
    message, without the call ID."""

    predicate: Predicate


class Contains:
    """A trigger that is true if the body contains one of the literals. `ignore_case` affects only ASCII letters."""

    __slots__ = ("ignore_case", "literals")

    def __init__(self, *literals: bytes, ignore_case: bool = False) -> None:
        self.literals = literals
        self.ignore_case = ignore_case


class HasByte(Struct, frozen=True, gc=False):
    """A trigger that is true if the message, including its header and stop token, contains one of these bytes."""

    wanted: bytes


class LoneByte(Struct, frozen=True, gc=False):
    """A trigger that is true if the message, including its header and stop token, contains a `byte` that is not
    followed by `unless_before`.

    A lone carriage return needs this trigger, because every line of a CR LF file contains a carriage return."""

    byte: bytes
    unless_before: bytes


class Matches(Struct, frozen=True):
    """A trigger that is true if the pattern matches anywhere in the body. Every match begins with a byte in `leads`.

    The pattern may search many messages at once, so it must not require the start or the end of a body, not even in a
    lookaround."""

    leads: bytes
    pattern: re.Pattern[bytes]
    search: Search | None = None
    """A function that finds everything that the check reports, and little else. It is used if leads or matches are
    frequent."""
    in_source: bool = False
    """True if the pattern matches the source of a JSON string wherever it matches the decoded text, unless the source
    contains `\\u` or `\\/`."""


class BodyStarts(Struct, frozen=True):
    """A trigger that is true if the pattern matches at the start of the body, whose first byte is then in `leads`. A
    lookbehind would see the header."""

    leads: bytes
    pattern: re.Pattern[bytes]
    in_source: re.Pattern[bytes] | None = None
    """A pattern that matches the source of a JSON string, after its opening quote, if `pattern` matches the decoded
    text, unless the source contains `\\u` or `\\/`."""


class IllFormed(Struct, frozen=True):
    """A trigger that is true if the message, including its header and stop token, is not valid UTF-8."""


class Noted(Struct, frozen=True):
    """A trigger that is true if the scanner flagged the header or the stop token of the message."""


class AnyOf:
    """A trigger that is true if any of its triggers is true. Without triggers, it is never true."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


class AllOf:
    """A trigger that is true if all of its triggers are true, not necessarily at the same byte."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


Trigger: TypeAlias = (
    Always | HeaderIs | Contains | HasByte | LoneByte | Matches | BodyStarts | IllFormed | Noted | AnyOf | AllOf
)


class Check(Struct, frozen=True):
    """A row of `CHECKS`: the complete definition of a check.

    The trigger must be true for every message with a finding, and may be true for others. Byte triggers apply only if
    the body needs no decoding. For a message whose body must be decoded, all checks run except those of scope
    HEADER."""

    rules: tuple[Rule, ...]
    scope: Scope
    trigger: Trigger
    run: Run
    """A function that yields the diagnostics of a message and keeps no state."""
