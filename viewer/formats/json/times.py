"""Times in JSON records: the time, its position, and the problem to report if it cannot be parsed."""

from __future__ import annotations

from msgspec import Struct

from viewer.model.diagnostic import Problem
from viewer.rules.notes import I_TIME_UNREADABLE
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.syntax.times import parse_time


class StatedTime(Struct, frozen=True):
    """A time that a record states."""

    ms: int | None = None
    """Milliseconds since 1970; None if there is no readable time."""
    at: JsonNode | None = None
    """The value with the time; None if there is no readable time, or if the order of times ignores it."""
    problems: tuple[Problem, ...] = ()


NOT_STATED = StatedTime()


def stated_time(node: JsonNode | None) -> StatedTime:
    """Return the time in a value: seconds, milliseconds, or RFC 3339. An unreadable time becomes a problem."""
    if node is None:
        return NOT_STATED
    time_ms = parse_time(node)
    if time_ms is None:
        return StatedTime(problems=tuple(unreadable_time(node)))
    return StatedTime(time_ms, node)


def unreadable_time(node: JsonNode) -> list[Problem]:
    """Return the problem with a time that cannot be parsed; none for an empty or unfinished one."""
    is_empty = node.kind is JsonKind.NULL or (node.kind is JsonKind.STRING and not node.text.strip())
    return [] if is_empty or not node.closed else [Problem(I_TIME_UNREADABLE, None, node.start, node.end)]
