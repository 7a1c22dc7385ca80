"""Calls in the inspector: state, details of the reply, and the call graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.values import ShownCall
from viewer.render.number_format import duration
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import wrap
from viewer.syntax.json_text import JsonKind, JsonNode, read_json
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.signs import state_sign

MOST_LINKS = 200
_LABEL = 11
_WIDEST_ID = 8
_LARGEST_REPLY = 1_000_000
_MOST_ENTRIES = 20


class Entry(Struct, frozen=True):
    """A line of the inspector and the message that a click leads to."""

    line: Line
    follows: int | None = None


def field(
    label: str, value: SafeText, width: int, look: StyleRole = StyleRole.PLAIN, follows: int | None = None
) -> Iterator[Entry]:
    """Yield a label with its value wrapped next to it."""
    rows = list(wrap(value, max(width - _LABEL - 2, 8))) or [trusted("")]
    for place, row in enumerate(rows):
        name = trusted(f" {label if not place else '':<{_LABEL}}")
        yield Entry((Part(name, StyleRole.QUIET), Part(row, look)), follows)


def link_entries(
    projection: Projection, number: int, calls: CallView, problems: DiagnosticView | None, width: int, style: Style
) -> Iterator[Entry]:
    """Yield the calls of a message, followed by the call graph around it."""
    mine = calls.of(number)
    for call in mine:
        yield from _call_entries(call, number, problems, width, style)
        yield from _provenance(projection, call, width, style)
    if not mine:
        yield Entry((Part(trusted(" no call here"), StyleRole.QUIET),))
    yield Entry(())
    yield from graph_entries(number, calls, problems, style, MOST_LINKS)


def _call_entries(
    call: ShownCall, number: int, problems: DiagnosticView | None, width: int, style: Style
) -> Iterator[Entry]:
    title = style.name(f" Call {call.call_id}") if call.call_id else trusted(" Call without an ID")
    yield Entry((Part(title, StyleRole.HEADING),))
    yield from field("tool", style.name(call.tool), width)
    for label, end in (("call", call.call), ("reply", call.reply)):
        here = " (this one)" if end == number else ""
        yield from field(label, trusted(f"#{end}{here}" if end else "none"), width, follows=end if not here else None)
    state = state_sign(call, style, problems=problems, words=True)
    yield from field("state", state.text, width, state.look)
    if call.latency_ms is not None:
        yield from field("latency", trusted(duration(call.latency_ms)), width)
    elif call.observed_ms is not None:
        yield from field("latency", trusted(f"{duration(call.observed_ms)} (observed)"), width)
    if call.deadline_ms is not None:
        yield from field(
            "deadline", trusted(deadline_words(call)), width, StyleRole.ERROR if is_late(call) else StyleRole.PLAIN
        )
    yield from field("linked by", trusted("tool and order (inferred)" if call.inferred else "call_id"), width)


def latency_words(call: ShownCall) -> str:
    """Return the time from call to reply, with `~` if it was observed while following; empty if it is unknown."""
    if call.latency_ms is not None:
        return duration(call.latency_ms)
    return f"~{duration(call.observed_ms)}" if call.observed_ms is not None else ""


def is_late(call: ShownCall) -> bool:
    """True if the reply arrived after the deadline, by recorded or observed times."""
    return _lateness(call) is not None


def _lateness(call: ShownCall) -> int | None:
    """Return the delay after the deadline in milliseconds, or None if no deadline was missed."""
    if call.deadline_ms is None or call.taken_ms is None or call.taken_ms <= call.deadline_ms:
        return None
    return call.taken_ms - call.deadline_ms


def deadline_words(call: ShownCall) -> str:
    """Return the deadline and, if it was missed, the delay; empty if there is no deadline."""
    if call.deadline_ms is None:
        return ""
    lateness = _lateness(call)
    return duration(call.deadline_ms) + (f", {duration(lateness)} late" if lateness is not None else "")


def _provenance(projection: Projection, call: ShownCall, width: int, style: Style) -> Iterator[Entry]:
    """Yield the origin of the content, if the reply names it."""
    reply = projection.message(call.reply) if call.reply is not None else None
    if reply is None or not reply.body.lstrip().startswith("{") or len(reply.body) > _LARGEST_REPLY:
        return
    data = reply.body.encode("utf-8", "replace")
    node = read_json(data).node
    found = node.get("provenance") if node is not None else None
    if found is None:
        return
    yield Entry(())
    yield Entry((Part(trusted(" Provenance"), StyleRole.HEADING), Part(trusted("  from the reply"), StyleRole.QUIET)))
    for key, value in _claims(found, data):
        yield from _claim(key, value, width, style)


def _claims(node: JsonNode, data: bytes) -> Iterator[tuple[str, str]]:
    if node.kind is not JsonKind.OBJECT:
        yield "given as", _written(node, data)
    for member in node.members[:_MOST_ENTRIES]:
        yield member.key, _written(member.value, data)


def _written(node: JsonNode, data: bytes) -> str:
    if node.kind is JsonKind.STRING:
        return node.text
    return data[node.start : node.end].decode("utf-8", "replace")


def _claim(key: str, value: str, width: int, style: Style) -> Iterator[Entry]:
    label = fitted(style.name(key), _LABEL - 1, style)
    rows = list(wrap(style.name(value), max(width - _LABEL - 2, 8))) or [trusted("")]
    for place, row in enumerate(rows):
        name = SafeText(f" {label if not place else ' ' * (_LABEL - 1)} ")
        yield Entry((Part(name, StyleRole.QUIET), Part(row)))


def graph_entries(
    number: int, calls: Sequence[ShownCall], problems: DiagnosticView | None, style: Style, most: int
) -> Iterator[Entry]:
    """Yield the calls nearest to a message, with arrows to their replies."""
    if not calls:
        return
    first, near = _nearest(number, calls, most)
    count = f"  {first + 1}–{first + len(near)} of {len(calls):,}" if len(near) < len(calls) else ""
    yield Entry((Part(trusted(" Call graph"), StyleRole.HEADING), Part(style.words(count), StyleRole.QUIET)))
    ids = min(_WIDEST_ID, max(len(call.call_id or "-") for call in near))
    digits = max(len(str(max(call.call or 0, call.reply or 0))) for call in near) + 1
    for call in near:
        state = state_sign(call, style, problems=problems, words=True)
        yield Entry((*_graph_line(call, number, ids, digits, style), state), _other_end(call, number))


def _nearest(number: int, calls: Sequence[ShownCall], most: int) -> tuple[int, Sequence[ShownCall]]:
    """Return the index of the first of the calls nearest to a message, and these calls. Calls are in input order, so
    bisection finds the message's position."""
    low, high = 0, len(calls)
    while low < high:
        middle = (low + high) // 2
        if (calls[middle].call or calls[middle].reply or 0) < number:
            low = middle + 1
        else:
            high = middle
    mine = (row for row in range(min(low, len(calls) - 1), max(-1, low - most), -1) if number in _ends(calls[row]))
    first = max(0, min(next(mine, low) - most // 2, len(calls) - most))
    return first, calls[first : first + most]


def _ends(call: ShownCall) -> tuple[int | None, int | None]:
    return call.call, call.reply


def _graph_line(call: ShownCall, number: int, ids: int, digits: int, style: Style) -> Line:
    here = number in (call.call, call.reply)
    name = style.name(call.call_id) if call.call_id else style.words("—")
    ends = Part(trusted(arrow(call, digits, style)), StyleRole.STRONG if here else StyleRole.PLAIN)
    latency = latency_words(call) and f"{latency_words(call):>7}"
    mark = trusted(("> " if style.ascii else "▸ ") if here else "  ")
    cell = fitted(name, ids, style)
    return (
        Part(SafeText(f"{mark[:1]}{cell}  "), StyleRole.STRONG if here else StyleRole.QUIET),
        ends,
        Part(trusted(f" {latency}  " if latency else "  "), StyleRole.QUIET),
    )


def arrow(call: ShownCall, digits: int, style: Style) -> str:
    """Return `#6 ──► #7`, dotted if the link is inferred."""
    strokes = ("-", "~", ">") if style.ascii else ("─", "┄", "►")
    line = strokes[1] if call.inferred else strokes[0]
    call_end, reply_end = (f"#{end}" if end else "-" for end in (call.call, call.reply))
    filling = line * max(1, 2 + digits - len(call_end))
    return f"{call_end} {filling}{strokes[2]} {reply_end:<{digits}}"


def _other_end(call: ShownCall, number: int) -> int | None:
    """Return the message that a click leads to: the other message of the call, or else the call itself. Return None if
    the call has no other message."""
    if number == call.call:
        return call.reply
    return call.call if call.call is not None else call.reply
