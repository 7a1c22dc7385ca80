"""A check: the rules that it reports, its scope, the trigger that selects messages for it, and its function."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import TypeAlias

from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.model.diagnostic import Rule
from viewer.model.messages import Message
from viewer.rules import RULES
from viewer.values import frozen

Predicate: TypeAlias = Callable[[Message, TranscriptFacts], bool]


class Scope(Enum):
    """What a check needs besides the message, and who else may report the same."""

    MESSAGE = "message"
    """One message at a time."""
    CALLS = "calls"
    """The call ledger: these checks see the messages of an input in order."""
    HEADER = "header"
    """Repeats what the parser reports, for messages that the scanner reads without the parser."""


@frozen
class Always:
    """True for every message."""


@frozen
class HeaderIs:
    """True if the predicate is. It may look only at the header (but not the call id) and the ending of the message."""

    predicate: Predicate


class Contains:
    """True if the body contains one of the literals. Ignoring the case concerns only ASCII letters."""

    __slots__ = ("ignore_case", "literals")

    def __init__(self, *literals: bytes, ignore_case: bool = False) -> None:
        self.literals = literals
        self.ignore_case = ignore_case


@frozen
class HasByte:
    """True if one of these bytes is in the message, header and stop included."""

    wanted: bytes


@frozen
class LoneByte:
    """True if this byte is in the message, header and stop included, without the other one right after it.

    A lone carriage return needs its own kind: in a file with CR LF every line has the byte."""

    byte: bytes
    unless_before: bytes


@frozen
class Matches:
    """True if the pattern matches inside the body, at a byte that belongs to `leads`."""

    leads: bytes
    pattern: re.Pattern[bytes]


@frozen
class BodyStarts:
    """True if the pattern matches at the start of the body, whose first byte then belongs to `leads`."""

    leads: bytes
    pattern: re.Pattern[bytes]


@frozen
class IllFormed:
    """True if the bytes of the message, header and stop included, are not UTF-8."""


@frozen
class Noted:
    """True if the scanner flagged the header or the stop token of the message."""


class AnyOf:
    """True if one of the triggers is; without any, never."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


class AllOf:
    """True if all triggers are, each for itself: they need not be true at the same place."""

    __slots__ = ("triggers",)

    def __init__(self, *triggers: Trigger) -> None:
        self.triggers = triggers


Trigger: TypeAlias = (
    Always | HeaderIs | Contains | HasByte | LoneByte | Matches | BodyStarts | IllFormed | Noted | AnyOf | AllOf
)


@frozen
class Check:
    """One row: a check is written nowhere else.

    The trigger may be true for a message without a finding; it must be true for every message with one. Bytes count
    only where they are the text of the body: every other message runs all checks but those of the scope HEADER."""

    rules: tuple[Rule, ...]
    scope: Scope
    trigger: Trigger
    run: Callable[[CheckContext], None]
    """Reports to its argument."""


def rules_of(*codes: str) -> tuple[Rule, ...]:
    """The rules of these codes."""
    return tuple(RULES[code] for code in codes)
