"""`Check` and `Trigger`: the rules of a check, its scope, the trigger that selects messages, and its function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.model.diagnostic import Diagnostic, Rule
from viewer.model.messages import Message

Predicate: TypeAlias = Callable[[Message, TranscriptFacts], bool]
Run: TypeAlias = Callable[[CheckContext], Iterable[Diagnostic]]
Search: TypeAlias = Callable[[bytes], Iterable[int]]
"""Offsets in the bytes of many messages. Nothing that is found extends over the end of a body."""


class Scope(Enum):
    """What a check requires, and who else may report the same problem."""

    MESSAGE = "message"
    """One message at a time."""
    CALLS = "calls"
    """The call ledger: these checks see the messages of an input in order."""
    HEADER = "header"
    """These checks repeat reports of the parser for messages that the scanner read without it."""


class Always(Struct, frozen=True):
    """True for every message."""


class HeaderIs(Struct, frozen=True):
    """True if the predicate is. It may use only the header (except the call id) and the ending of the message."""

    predicate: Predicate


class Contains:
    """True if the body contains one of the literals. Only ASCII letters ignore case."""

    __slots__ = ("ignore_case", "literals")

    def __init__(self, *literals: bytes, ignore_case: bool = False) -> None:
        self.literals = literals
        self.ignore_case = ignore_case


class HasByte(Struct, frozen=True, gc=False):
    """True if one of these bytes is in the message, header and stop included."""

    wanted: bytes


class LoneByte(Struct, frozen=True, gc=False):
    """True if this byte is in the message, header and stop included, and the other byte does not follow it.

    A lone carriage return needs its own kind: in a file with CR LF every line contains the byte."""

    byte: bytes
    unless_before: bytes


class Matches(Struct, frozen=True):
    """True if the pattern matches inside the body, at a byte that belongs to `leads`."""

    leads: bytes
    pattern: re.Pattern[bytes]
    search: Search | None = None
    """Finds exactly what the check reports. It decides where the pattern matches too often."""


class BodyStarts(Struct, frozen=True):
    """True if the pattern matches at the start of the body, whose first byte then belongs to `leads`."""

    leads: bytes
    pattern: re.Pattern[bytes]


class IllFormed(Struct, frozen=True):
    """True if the bytes of the message, header and stop included, are not UTF-8."""


class Noted(Struct, frozen=True):
    """True if the scanner flagged the header or the stop token of the message."""


class AnyOf:
    """True if one of the triggers is. Never true without triggers."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


class AllOf:
    """True if all triggers are, although not necessarily at the same byte."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


Trigger: TypeAlias = (
    Always | HeaderIs | Contains | HasByte | LoneByte | Matches | BodyStarts | IllFormed | Noted | AnyOf | AllOf
)


class Check(Struct, frozen=True):
    """One row of the table: the only definition of a check.

    The trigger may be true for a message without a finding. It must be true for every message with one. Byte triggers
    apply if the bytes are the text of the body. Every other message runs all checks except those of scope HEADER."""

    rules: tuple[Rule, ...]
    scope: Scope
    trigger: Trigger
    run: Run
    """Yields the diagnostics of a message, and keeps no state."""
