"""Parse and resolve the targets of `:`: a message, line, byte, turn, transcript, or percentage."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import Enum
from itertools import chain

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.document.projection import Projection
from viewer.document.rows import PLACE_KINDS, RowKind, Rows
from viewer.render.blocks.agents import FARTHEST, Agents
from viewer.tui.keys import DEBUG_ONLY


class Place(Enum):
    """The kind of place that a target names."""

    MESSAGE = "message"
    LINE = "line"
    BYTE = "byte"
    TURN = "turn"
    TRANSCRIPT = "transcript"
    PERCENT = "percent"
    AGENT = "agent"


class Target(Struct, frozen=True, gc=False):
    """A parsed target."""

    place: Place
    value: int
    inner: int = 0
    """For a sub-agent, the position of the message within the agent's transcript."""


PLACES = "a message (12), turn (t3), transcript (x2), percentage (50%), line (L120), or byte (B4096)"
HELP = f"Type {PLACES}."

_FORMS = (
    (Place.MESSAGE, lazy_regex(r"#?([0-9]{1,18})")),
    (Place.LINE, lazy_regex(r"l(?:ine)? ?([0-9]{1,18})", re.IGNORECASE)),
    (Place.BYTE, lazy_regex(r"b(?:yte)? ?([0-9]{1,18})", re.IGNORECASE)),
    (Place.TURN, lazy_regex(r"t(?:urn)? ?([0-9]{1,18})", re.IGNORECASE)),
    (Place.TRANSCRIPT, lazy_regex(r"x ?([0-9]{1,18})|transcript ?([0-9]{1,18})", re.IGNORECASE)),
    (Place.PERCENT, lazy_regex(r"%([0-9]{1,3})|([0-9]{1,3})%")),
)


_NESTED = lazy_regex(r"#?([0-9]{1,18}) ?[›>] ?#?([0-9]{1,18})")


def parse(typed: str) -> Target | str:
    """Parse a typed target. If it is invalid, return an error message about the syntax."""
    typed = typed.strip()
    nested = _NESTED.fullmatch(typed)
    if nested:
        return Target(Place.AGENT, int(nested[1]), int(nested[2]))
    for place, form in _FORMS:
        match = form.fullmatch(typed)
        if match:
            return Target(place, int(match[match.lastindex or 1]))
    return HELP


_NOTHING = "No messages are shown."


def resolve(target: Target, projection: Projection, rows: Rows, here: int = 0) -> int | str:
    """Return the number of the message to go to, or a sentence that explains why there is none.

    Turns are counted within the transcript of the row `here`."""
    if target.place in (Place.LINE, Place.BYTE, Place.AGENT) and projection.audience.is_safe:
        return DEBUG_ONLY
    if not len(rows) or not rows.shown_count:  # a filter that matches nothing leaves no row
        return _NOTHING
    match target.place:
        case Place.MESSAGE:
            return _message(target.value, projection, rows)
        case Place.TURN:
            return _turn(target.value, rows, rows.transcript(here))
        case Place.TRANSCRIPT:
            found = row_of_transcript(target.value, rows)
            return found if isinstance(found, str) else _nearest(rows, found)
        case Place.PERCENT:
            return _nearest(rows, (len(rows) - 1) * min(target.value, 100) // 100)
        case Place.AGENT:
            return _in_agent(target, projection)
        case Place.LINE:
            number = projection.message_at_line(target.value)
        case Place.BYTE:
            number = projection.message_at_byte(target.value)
    return _nearest(rows, rows.row_of(number or 1))


def _message(value: int, projection: Projection, rows: Rows) -> int | str:
    """Return the message with a printed number or, if it is hidden, the nearest shown one. Return an error message
    if there is no such number."""
    strict = projection.audience.strict
    last = rows.shown_count if strict else projection.message_count
    if not 1 <= value <= last:
        return f"No message {value:,}: the last one is {last:,}."
    if not strict:
        return _nearest(rows, rows.row_of(value))
    return _nearest(rows, bisect_left(range(len(rows)), value, key=rows.label))  # a strict view has only message rows


def row_of_transcript(label: int, rows: Rows) -> int | str:
    """Return the first row of the transcript with this printed number, or the next row if the transcript has none. If
    the number is invalid, return an error message."""
    shown = rows.shown_transcripts
    if not 1 <= label <= len(shown):
        return f"No transcript {label:,}: the last one is {len(shown):,}."
    return min(rows.rows_of_transcript(shown[label - 1]).start, len(rows) - 1)


def _turn(value: int, rows: Rows, transcript: int) -> int | str:
    """Return the first message of a turn, or an error message if there is no such turn."""
    row = rows.row_of_turn(value, transcript)
    if row is not None:
        return rows.value(row)
    last = rows.last_turn(transcript)
    return f"No turn {value:,}: the last one is {last:,}." if last else "There are no turns."


def _in_agent(target: Target, projection: Projection) -> int | str:
    """Return a message of the sub-agent that a call started, or an error message if there is none."""
    if not 1 <= target.value <= projection.message_count:
        return f"No message {target.value:,}: the last one is {projection.message_count:,}."
    agents = Agents(projection)
    first = target.value + 1
    for number in range(first, min(first + FARTHEST, projection.message_count + 1)):
        if agents.of(number).call == target.value:
            messages = list(projection.agent_messages(number))
            if not 1 <= target.inner <= len(messages):
                return f"No message {target.inner:,} of this sub-agent: the last one is {len(messages):,}."
            return messages[target.inner - 1]
    return f"Message {target.value:,} started no sub-agent."


def _nearest(rows: Rows, row: int) -> int | str:
    """Return the message of a row or one that it folds; otherwise the nearest message after it or, failing that, before
    it. Return an error message if there is none."""
    for near in chain(range(row, len(rows)), range(row - 1, -1, -1)):
        if rows.kind(near) is RowKind.MESSAGE:
            return rows.value(near)
        if rows.kind(near) in PLACE_KINDS:
            return rows.last_number(near)
    return _NOTHING
