"""The lines above a body: who speaks to whom, links between calls and replies, rules between turns."""

from __future__ import annotations

from collections.abc import Sequence

from viewer.document.values import ShownCall, ShownMessage
from viewer.render.letters import is_call, letter_of, look_of
from viewer.render.line import cells, cut
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Glyphs, Line, Part, StyleRole, trusted

STOPS = {"end": "<|end|>", "return": "<|return|>", "call": "<|call|>"}
_LONGEST_NAME = 60


def name(text: str) -> SafeText:
    """A name from a transcript on one line."""
    return sanitize_line(text, _LONGEST_NAME)


def between(left: Sequence[Part], right: Sequence[Part], width: int, signs: Glyphs, fill: Part | None = None) -> Line:
    """Parts at the left and at the right edge; the left ones are cut where both do not fit."""
    room = width - sum(cells(part.text) for part in right) - (1 if right else 0)
    kept: list[Part] = []
    for part in left:
        mark = trusted(signs.ellipsis[: max(room, 0)])
        text = cut(part.text, max(room, 0), mark) if cells(part.text) > room else part.text
        if room > 0:
            kept.append(Part(text, part.look))
        room -= cells(text)
    gap = max(room + (1 if right else 0), 0)
    filler = Part(trusted((fill.text if fill else " ") * gap), fill.look if fill else StyleRole.PLAIN)
    return (*kept, filler, *right) if right or fill else tuple(kept)


def rule(turn: int, time: str | None, width: int, signs: Glyphs, note: str = "") -> Line:
    """The line that a turn begins with."""
    line = signs.rule
    said = [trusted(f"{clock(time)}")] if time else []
    if note:
        said.append(trusted(note))
    right = f" {signs.dot} ".join(said)
    stroke = Part(trusted(line * 2), StyleRole.RULE)
    start = [stroke, Part(trusted(f" turn {turn} "), StyleRole.QUIET)]
    end = [Part(trusted(f" {right} "), StyleRole.QUIET), stroke] if right else [stroke]
    return between(start, end, width, signs, Part(trusted(line), StyleRole.RULE))


def clock(time: str | None) -> str:
    """The time of day of an RFC 3339 time."""
    return time[11:19] if time else ""


def safe_head(message: ShownMessage, width: int, lead: Part, signs: Glyphs) -> Line:
    """What an end user reads: who speaks."""
    look = look_of(message)
    head = [lead, Part(name(message.role.upper()), look)]
    if message.name:
        head.append(Part(name(f" {message.name}"), look))
    aside = ""
    if message.channel == "commentary":
        head.append(Part(trusted(f" {signs.dot} plan"), look))
        aside = "(preamble, user-visible)"
    aside = "(cancelled)" if message.cancelled else aside
    return between(head, [Part(trusted(aside), StyleRole.QUIET)] if aside else [], width, signs)


def debug_head(message: ShownMessage, width: int, lead: Part, signs: Glyphs, digits: int) -> Line:
    """What a developer reads: number, role, names, id, time, channel."""
    look = look_of(message)
    head = [
        lead,
        Part(trusted(f"{message.number:>{digits}} "), StyleRole.QUIET),
        Part(trusted(f"{letter_of(message)} "), look),
        Part(name(message.role.upper() or "(no role)"), look),
    ]
    if message.name:
        head.append(Part(name(f" {message.name}"), look))
    if message.recipient and (message.role, message.recipient) != ("tool", "assistant"):
        head.append(Part(name(f" {signs.to} {message.recipient}"), look))
    channel = message.channel_given or message.channel or "no channel"
    right = [Part(trusted(f"{clock(message.time)}  "), StyleRole.QUIET)] if message.time else []
    if message.call_id:
        right.append(Part(name(f"{message.call_id} "), StyleRole.QUIET))
    right.append(Part(name(f"[{channel}]"), look))
    right.append(Part(trusted("*" if message.visible else " "), StyleRole.STRONG))
    return between(head, right, width, signs)


def short_head(message: ShownMessage, signs: Glyphs, digits: int, lead: Part) -> list[Part]:
    """The same for a narrow screen: number and letter, and names of calls and replies."""
    look = look_of(message)
    arrow = signs.to if is_call(message) else " "
    head = [
        lead,
        Part(trusted(f"{message.number:>{digits}} "), StyleRole.QUIET),
        Part(trusted(f"{letter_of(message)}{arrow} "), look),
    ]
    said = message.recipient if is_call(message) else message.name
    if said:
        head.append(Part(name(said), look))
    if message.call_id:
        head.append(Part(name(f"  {message.call_id}"), StyleRole.QUIET))
    return head


def details(message: ShownMessage, signs: Glyphs) -> SafeText:
    """What else the header says, for a second line."""
    said = []
    if message.content_type:
        said.append(("constrain " if message.constrained else "type ") + message.content_type)
    if message.intent:
        said.append(f"intent {message.intent}")
    said += [f"{key}={value}" for key, value in message.extra.items()]
    if said or is_call(message) or message.cancelled or message.ending not in ("end",):
        said.append("cancelled" if message.cancelled else STOPS.get(message.ending, f"({message.ending})"))
    return sanitize_line(f" {signs.dot} ".join(said), 400)


def link(number: int, call: ShownCall, signs: Glyphs) -> tuple[Part, int]:
    """Where the other end of a call is and how the call went; and the number of that end."""
    begins = number == call.call
    other = (call.reply if begins else call.call) or 0
    arrow = f"{signs.inferred if call.inferred else ''}{signs.down if begins else signs.up}"
    milliseconds, mark = (call.latency_ms, "") if call.latency_ms is not None else (call.observed_ms, "~")
    latency = f" {mark}{milliseconds / 1000:.1f} s" if milliseconds is not None else ""
    where = f"{arrow}{other} " if other else ""
    return Part(trusted(f"{where}{call.state}{latency}"), _STATES.get(call.state, StyleRole.WARNING)), other


_STATES = {"ok": StyleRole.OK, "pending": StyleRole.PENDING, "failed": StyleRole.ERROR, "timeout": StyleRole.ERROR}
