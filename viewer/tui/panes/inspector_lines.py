"""Lines of the inspector for one message, by tab, as a column or as a sheet."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from enum import Enum

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.projection import Projection
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage
from viewer.render.diagnostic import described, full_code
from viewer.render.number_format import counted, duration, usage_words
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import wrap
from viewer.rules import RULES
from viewer.tui.panes.columns import length
from viewer.tui.panes.link_lines import Entry, field, graph_entries, graph_sentence, link_entries
from viewer.tui.panes.raw_lines import raw_lines, token_lines

_IN_HEADER = 9
"""The number of calls in the header tab."""
_IN_SHEET = 3
_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
_KINDS = frozenset({"injected", "subagent", "replayed", "notice", "unknown"})
"""Kinds that role and channel do not give away."""
_LARGEST_COUNTED = 1_000_000
"""Count the lines of messages up to this size in bytes."""
Field = tuple[str, SafeText, StyleRole, int | None]


class Tab(Enum):
    """The tabs, in order."""

    HEADER = "Header"
    RAW = "Raw"
    TOKENS = "Tokens"
    LINKS = "Links"
    PROBLEMS = "Problems"

    def next(self, step: int = 1) -> Tab:
        """The next tab; the first follows the last."""
        tabs = list(Tab)
        return tabs[(tabs.index(self) + step) % len(tabs)]


class Inspected(Struct, frozen=True):
    """One message, and facts around it."""

    projection: Projection
    number: int
    message: ShownMessage | None
    """None if its channel is off."""
    calls: CallView
    problems: Sequence[ShownDiagnostic]
    """The problems of this message."""
    faulty: Container[int] = frozenset()
    """The numbers of all messages with an error."""


def entries(inspected: Inspected, tab: Tab, width: int, style: Style, *, sheet: bool) -> list[Entry]:
    """The lines below the tabs."""
    if tab is Tab.PROBLEMS:
        return list(_problem_entries(inspected.problems, width, style))
    message = inspected.message
    if message is None:
        return list(_unseen(inspected, width, style))
    if tab is Tab.HEADER:
        return list(_header_entries(inspected, message, width, style, sheet))
    if tab is Tab.LINKS:
        around = inspected.calls, inspected.faulty
        return list(link_entries(inspected.projection, inspected.number, *around, width, style))
    data = inspected.projection.raw(inspected.number)
    format = _format(inspected.projection, message)
    if tab is Tab.TOKENS:
        return [Entry(line) for line in token_lines(data, (message.span or (0, 0))[0], format, style)]
    return [Entry((Part(trusted(" ")), *line)) for line in raw_lines(data, format, max(width - 2, 8), style)]


HINT = "tab: next  esc: close"


def head_lines(number: int, tab: Tab, width: int, style: Style, *, sheet: bool, hint: str = HINT) -> list[Line]:
    """The number and the tabs: three lines in a column, one line in a sheet."""
    rule = style.signs.rule
    if sheet:
        right: Line = (Part(trusted(f"{hint} "), StyleRole.QUIET), Part(trusted(f"{rule * 2} "), StyleRole.RULE))
        left: Line = (Part(trusted(f"{rule * 2} #{number}  "), StyleRole.TITLE), *_tab_parts(tab, brackets=True))
        filling = width - length(left) - length(right) - 2
        return [(*left, Part(trusted(f" {rule * filling} "), StyleRole.RULE), *right) if filling > 0 else left]
    place = f"[{list(Tab).index(tab) + 1}/{len(Tab)} {'>' if style.ascii else '▸'}]  "
    title = f" INSPECT  #{number}"
    gap = " " * max(1, width - len(title) - len(place))
    return [
        (Part(trusted(title), StyleRole.TITLE), Part(trusted(gap + place), StyleRole.QUIET)),
        (Part(trusted(" ")), *_tab_parts(tab, brackets=False)),
        (Part(trusted(f" {rule * max(0, width - 3)}"), StyleRole.RULE),),
    ]


def tab_at(number: int, tab: Tab, x: int, y: int, *, sheet: bool) -> Tab | None:
    """The clicked tab."""
    if y != (0 if sheet else 1):
        return None
    at = len(f"-- #{number}  ") if sheet else 1
    for each, part in zip(Tab, _tab_parts(tab, brackets=sheet)[::2], strict=True):
        if at <= x < at + len(part.text):
            return each
        at += len(part.text) + 1
    return None


def _tab_parts(active: Tab, *, brackets: bool) -> list[Part]:
    """The names of the tabs, separated by spaces."""
    parts: list[Part] = []
    for tab in Tab:
        text = f"[{tab.value}]" if brackets and tab is active else tab.value
        parts += [Part(trusted(text), StyleRole.STRONG if tab is active else StyleRole.QUIET), Part(trusted(" "))]
    return parts[:-1]


def _unseen(inspected: Inspected, width: int, style: Style) -> Iterator[Entry]:
    headline = inspected.projection.headline(inspected.number)
    yield from field("role", style.name(headline.role or "(none)"), width)
    yield from field("safe view", style.words(inspected.projection.why(inspected.number)), width)
    yield Entry(())
    for row in wrap(trusted("This message's channel is off."), max(width - 2, 8)):
        yield Entry((Part(SafeText(f" {row}"), StyleRole.QUIET),))


def _header_entries(
    inspected: Inspected, message: ShownMessage, width: int, style: Style, sheet: bool
) -> Iterator[Entry]:
    fields = list(_fields(inspected, message, style))
    around = inspected.number, inspected.calls, inspected.faulty
    if sheet:
        yield from _flowing(fields, width)
        yield from graph_sentence(*around, width, style, _IN_SHEET)
        return
    for label, value, look, follows in fields:
        yield from field(label, value, width, look, follows)
    if inspected.calls:
        yield Entry(())
    yield from graph_entries(*around, style, _IN_HEADER)


def _flowing(fields: list[Field], width: int) -> Iterator[Entry]:
    """Fields one after the other; a field that does not fit begins a line."""
    line: list[Part] = []
    leads: int | None = None
    for label, value, look, follows in fields:
        parts = (Part(trusted(f" {label} "), StyleRole.QUIET), Part(value, look), Part(trusted("  ")))
        if line and length((*line, *parts)) > width + 2:
            yield Entry(tuple(line), leads)
            line, leads = [], None
        line += parts
        leads = leads or follows
    yield Entry(tuple(line), leads)


def _fields(inspected: Inspected, message: ShownMessage, style: Style) -> Iterator[Field]:
    """The header fields that exist, and facts derived from them."""
    link = next(iter(inspected.calls.of(message.number)), None)
    yield "role", style.name(message.role or "(none)"), StyleRole.PLAIN, None
    yield from _given("name", message.name, style)
    yield from _id_field(message, link, style)
    yield from _given("to", message.recipient, style)
    yield "channel", _channel(message, style), StyleRole.PLAIN, None
    yield from _given("intent", message.intent, style)
    if message.message_kind in _KINDS:
        yield "kind", trusted(message.message_kind), StyleRole.PLAIN, None
    if message.thread:
        yield "thread", trusted(str(message.thread)), StyleRole.PLAIN, None
    if message.content_type:
        how = "constrain " if message.constrained else ""
        yield "type", style.name(how + message.content_type), StyleRole.PLAIN, None
    why = style.words(inspected.projection.why(message.number))
    yield "safe view", why, StyleRole.OK if message.visible else StyleRole.WARNING, None
    yield from _places(inspected.projection, message, style)
    milliseconds = None
    if link is not None:
        milliseconds = link.latency_ms if link.latency_ms is not None else link.observed_ms
    if link is not None and milliseconds is not None:
        words = f"{duration(milliseconds)} {'after call' if message.number == link.reply else 'to reply'}"
        words += "" if link.latency_ms is not None else " (observed)"
        yield "latency", trusted(words), StyleRole.PLAIN, None
    ending = "cancelled" if message.cancelled else message.ending
    yield "ending", trusted(ending), StyleRole.PLAIN, None
    yield from _given("time", message.time, style)
    if message.usage is not None:
        yield "tokens", trusted(usage_words(message.usage)), StyleRole.PLAIN, None
    for key, value in message.extra.items():
        yield style.name(key), style.name(value), StyleRole.PLAIN, None


def _given(label: str, value: str | None, style: Style) -> Iterator[Field]:
    if value is not None:
        yield label, style.name(value), StyleRole.PLAIN, None


def _id_field(message: ShownMessage, link: ShownCall | None, style: Style) -> Iterator[Field]:
    """The call id, and the other message of the call."""
    if link is None and message.call_id is None:
        return
    other, sign = None, ""
    if link is not None:
        is_caller = message.number == link.call
        other = link.reply if is_caller else link.call
        sign = style.signs.down if is_caller else style.signs.up
    name = style.name(message.call_id) if message.call_id else style.words("—")
    dotted = style.signs.inferred if link is not None and link.inferred else ""
    yield "call_id", SafeText(f"{name}   {dotted}{sign}{other}" if other else name), StyleRole.PLAIN, other


def _channel(message: ShownMessage, style: Style) -> SafeText:
    effective = message.channel or "unknown"
    if message.channel_given is None:
        return trusted(f"{effective} (none given)")
    if message.channel_given == message.channel:
        return style.name(effective)
    return SafeText(f"{effective}, given as {style.name(message.channel_given)}")


def _places(projection: Projection, message: ShownMessage, style: Style) -> Iterator[Field]:
    if message.span is None:
        return
    start, end = message.span
    yield "bytes", style.words(f"{start}–{max(start, end - 1)}"), StyleRole.PLAIN, None
    if message.line is not None:
        last = "…"
        if end - start <= _LARGEST_COUNTED:
            last = str(message.line + projection.raw(message.number).rstrip(b"\n").count(b"\n"))
        yield "lines", style.words(f"{message.line}–{last}"), StyleRole.PLAIN, None


def _problem_entries(problems: Sequence[ShownDiagnostic], width: int, style: Style) -> Iterator[Entry]:
    """Each problem with its sentence, the section of its rule, and advice."""
    if not problems:
        yield Entry((Part(trusted(" no problems"), StyleRole.QUIET),))
        return
    yield Entry((Part(trusted(f" {counted(len(problems), 'problem')}"), StyleRole.HEADING),))
    for problem in problems:
        yield Entry(())
        yield from _problem(problem, width, style)


def _problem(problem: ShownDiagnostic, width: int, style: Style) -> Iterator[Entry]:
    rule = RULES[problem.code]
    look = _LOOKS[problem.severity]
    place = f"{problem.line}:{problem.column} " if problem.line is not None else ""
    count = f" {style.signs.times}{problem.count}" if problem.count and problem.count > 1 else ""
    sign = style.signs.severity(problem.severity)
    code = full_code(problem.code, problem.reason)
    if len(code) > width - 4:
        code = code.replace("/", " /")
    yield from _paragraph(style.words(f"{sign} {place}{code}{count}"), width, look)
    yield from _paragraph(style.spell(style.words(described(problem))), width, StyleRole.PLAIN)
    yield from _paragraph(style.words(rule.section), width, StyleRole.QUIET)
    yield from _paragraph(style.words(rule.advice), width, StyleRole.EMPHASIS)


def _paragraph(text: SafeText, width: int, look: StyleRole) -> Iterator[Entry]:
    for place, row in enumerate(wrap(text, max(width - 4, 8))):
        yield Entry((Part(SafeText(f" {'' if look in _LOOKS.values() and not place else '  '}{row}"), look),))


def _format(projection: Projection, message: ShownMessage) -> str:
    """The format of the message's transcript."""
    return projection.format_of(message.number)
