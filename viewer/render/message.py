"""Message as printed lines: speaker and recipient, channel, and the body behind a gutter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from viewer.document.values import ShownCall, ShownMessage, ShownStray
from viewer.render.body import body_lines
from viewer.render.line import cells, wrap
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted

_BY_ROLE = {"user": StyleRole.USER, "tool": StyleRole.TOOL, "system": StyleRole.SYSTEM, "developer": StyleRole.SYSTEM}
_BY_CHANNEL = {"final": StyleRole.ASSISTANT, "analysis": StyleRole.ANALYSIS, "commentary": StyleRole.COMMENTARY}
STOPS = {"end": "<|end|>", "return": "<|return|>", "call": "<|call|>"}


def message_lines(message: ShownMessage, width: int, style: Style, *, trim: bool = False) -> Iterator[Line]:
    """The lines for an end user: the speaker and the body."""
    yield from message_head(message, width, style)
    for text in body_lines(message.body, inner_width(width), style, trim=trim):
        yield gutter_of(message, style), Part(text)
    yield from message_tail(message, style)


def message_head(message: ShownMessage, width: int, style: Style) -> Iterator[Line]:
    """The speaker; only facts that are known before the message has ended."""
    look = _look(message)
    head = [Part(style.name(message.role.upper()), look)]
    if message.name:
        head.append(Part(style.name(f" {message.name}"), look))
    aside = ""
    if message.channel == "commentary":
        head.append(Part(trusted(f" {style.signs.dot} plan"), look))
        aside = "(preamble, user-visible)"
    yield from _head(head, aside, look, width, style)


def message_tail(message: ShownMessage, style: Style) -> Iterator[Line]:
    """The ending, if it is unusual. It is outside the gutter, so that no body can imitate it."""
    if message.cancelled:
        yield remark("cancelled", style)
    elif message.ending == "open":
        yield remark("unfinished", style)


def remark(words: str, style: Style) -> Line:
    """A remark of the program between messages."""
    return (Part(trusted(f"  {style.signs.hidden} {words} {style.signs.hidden}"), StyleRole.QUIET),)


def gutter_of(message: ShownMessage, style: Style) -> Part:
    """The gutter of every line of the message."""
    return _gutter_part(_look(message), style)


def revealed_lines(
    message: ShownMessage, calls: Sequence[ShownCall], width: int, style: Style, *, trim: bool = False
) -> Iterator[Line]:
    """The lines for a developer: the number, the whole header, links between calls and replies, the ending."""
    look = _look(message)
    details = details_of(message)
    stop = "cancelled" if message.cancelled else STOPS.get(message.ending, f"ending {message.ending}")
    links = [_link(message.number, call, style) for call in calls]
    yield from _head(_revealed_head(message, look, style), "  ".join(links or [stop]), look, width, style)
    if links:
        details.append(stop)
    if details:
        said = style.name(f" {style.signs.dot} ".join(details))
        yield from _flow(
            [Part(said, StyleRole.QUIET)], _gutter_part(look, style), width if style.wrapped else cells(said) + 2
        )
    json = may_be_json(message)
    for text in body_lines(message.body, inner_width(width), style, json=json, trim=trim):
        yield _gutter_part(look, style), Part(text)


def stray_lines(stray: ShownStray, width: int, style: Style) -> Iterator[Line]:
    """Text outside any message."""
    gutter = Part(trusted(style.signs.open_gutter + " "), StyleRole.WARNING)
    yield gutter, Part(trusted("TEXT OUTSIDE ANY MESSAGE"), StyleRole.WARNING)
    for text in body_lines(stray.body, inner_width(width), style):
        yield gutter, Part(text)


def _revealed_head(message: ShownMessage, look: StyleRole, style: Style) -> list[Part]:
    head = [
        Part(trusted(f"#{message.number} "), StyleRole.QUIET),
        Part(style.name(message.role.upper() or "(no role)"), look),
    ]
    if message.name:
        head.append(Part(style.name(f" {message.name}"), look))
    if message.recipient:
        head.append(Part(style.name(f" {style.signs.to} {message.recipient}"), look))
    channel = message.channel_given or message.channel or "no channel"
    head.append(Part(style.name(f" [{channel}]"), look))
    if message.call_id:
        head.append(Part(style.name(f" {message.call_id}"), StyleRole.QUIET))
    if message.visible:
        head.append(Part(trusted(" *"), StyleRole.STRONG))
    return head


def details_of(message: ShownMessage) -> list[str]:
    """Other header fields, for a second line."""
    said = []
    if message.content_type:
        said.append(("constrain " if message.constrained else "type ") + message.content_type)
    if message.intent:
        said.append(f"intent {message.intent}")
    said += [f"{key}={value}" for key, value in message.extra.items()]
    if message.time:
        said.append(message.time)
    return said


def _link(number: int, call: ShownCall, style: Style) -> str:
    """The other end of a call, and its state."""
    is_call = number == call.call
    other = call.reply if is_call else call.call
    arrow = style.signs.down if is_call else style.signs.up
    inferred = style.signs.inferred if call.inferred else ""
    link = f"{inferred}{arrow}#{other} " if other else ""
    latency = f" {call.latency_ms / 1000:.1f} s" if call.latency_ms is not None else ""
    return f"{link}{call.state}{latency}"


def _head(parts: list[Part], aside: str, look: StyleRole, width: int, style: Style) -> Iterator[Line]:
    """The first line, with a remark at the right edge; several lines if the screen is too narrow."""
    gutter = _gutter_part(look, style)
    used = sum(cells(part.text) for part in (gutter, *parts))
    gap = width - used - cells(aside)
    if style.wrapped and gap < (2 if aside else 0):
        yield from _flow([*parts, Part(SafeText(f" {aside}"), StyleRole.QUIET)], gutter, width)
    elif aside:
        yield gutter, *parts, Part(trusted(" " * max(gap, 2))), Part(style.words(aside), StyleRole.QUIET)
    else:
        yield gutter, *parts


def _flow(parts: list[Part], gutter: Part, width: int) -> Iterator[Line]:
    """Consecutive parts; each part that does not fit begins a line."""
    line: list[Part] = []
    room = inner_width(width)
    for part in parts:
        text = part.text if line else SafeText(part.text.lstrip(" "))
        first, *rest = wrap(text, inner_width(width))
        if line and (rest or cells(part.text) > room):
            yield gutter, *line
            line, room = [], inner_width(width)
            first, *rest = wrap(SafeText(part.text.lstrip(" ")), room)
        line.append(Part(first, part.look))
        room -= cells(first)
        for more in rest:
            yield gutter, *line
            line, room = [Part(more, part.look)], inner_width(width) - cells(more)
    if line:
        yield gutter, *line


def inner_width(width: int) -> int:
    """The width for text after the gutter."""
    return max(width - 2, 10)


def _gutter_part(look: StyleRole, style: Style) -> Part:
    return Part(trusted(style.signs.gutter + " "), look)


def _look(message: ShownMessage) -> StyleRole:
    if message.role == "assistant":
        return _BY_CHANNEL.get(message.channel or "", StyleRole.UNKNOWN)
    return _BY_ROLE.get(message.role, StyleRole.UNKNOWN)


def may_be_json(message: ShownMessage) -> bool:
    """True if a body is worth laying out as JSON."""
    kind = (message.content_type or "").lower()
    return "json" in kind or message.role == "tool" or message.recipient is not None
