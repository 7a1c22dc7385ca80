"""Content of the inspector tabs for one message, as a column or a sheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.usage import Spent
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage
from viewer.render.diagnostic import described, full_code
from viewer.render.head import STOPS
from viewer.render.number_format import byte_size, counted, money, usage_words
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut, wrap
from viewer.rules import RULES
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.link_lines import Entry, field, latency_words, link_entries
from viewer.tui.panes.raw_lines import raw_lines, token_lines
from viewer.tui.panes.signs import state_sign

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
_KINDS = frozenset({"injected", "subagent", "replayed", "notice", "unknown"})
"""The kinds of messages that the role and channel do not imply."""
_LARGEST_COUNTED = 1_000_000
"""The maximum size in bytes for counting the lines of a message."""
Field = tuple[str, SafeText, StyleRole, int | None]


class Tab(Enum):
    """The tabs, in order."""

    HEADER = "Header"
    RAW = "Raw"
    LINKS = "Links"
    PROBLEMS = "Problems"


class Inspected(Struct, frozen=True):
    """A message and its context."""

    projection: Projection
    number: int
    message: ShownMessage | None
    """The message; None if its channel is off."""
    calls: CallView
    problems: Sequence[ShownDiagnostic]
    """The problems of the message."""
    all_problems: DiagnosticView | None = None
    """The problems of all messages."""
    size: int = 0
    """The size of the input in bytes, if known."""
    spent: Spent | None = None
    """The tokens and cost of the message's reply, if the input records them."""

    @property
    def tabs(self) -> list[Tab]:
        """Return the tabs that are not empty."""
        filled = [Tab.HEADER]
        filled += [Tab.RAW] if self.message is not None else []
        filled += [Tab.LINKS] if self.message is not None and self.calls.of(self.number) else []
        return [*filled, *([Tab.PROBLEMS] if self.problems else [])]


def entries(inspected: Inspected, tab: Tab, width: int, style: Style, *, sheet: bool) -> list[Entry]:
    """Return the lines below the tabs."""
    if tab is Tab.PROBLEMS:
        is_own = inspected.projection.format_of(inspected.number).startswith("openchatml")
        return list(_problem_entries(inspected.problems, width, style, names_sections=is_own))
    message = inspected.message
    if message is None:
        return list(_unseen(inspected, width, style))
    if tab is Tab.HEADER:
        return list(_header_entries(inspected, message, width, style, sheet))
    if tab is Tab.LINKS:
        around = inspected.calls, inspected.all_problems
        return list(link_entries(inspected.projection, inspected.number, *around, width, style))
    return list(_raw_entries(inspected, message, width, style))


def tab_lines(tabs: Sequence[Tab], active: Tab, width: int, style: Style) -> list[Line]:
    """Return the line of tab names, and a rule that is heavy below the active tab."""
    names: list[Part] = [Part(trusted(" "))]
    for tab in tabs:
        look = StyleRole.STRONG if tab is active else StyleRole.QUIET
        names += [Part(trusted(tab.value), look), Part(trusted("  "))]
    start = 1 + sum(len(tab.value) + 2 for tab in tabs[: tabs.index(active)]) if active in tabs else 1
    light, heavy = style.signs.rule, style.signs.heavy
    before = trusted(f" {light * (start - 2)} " if start > 2 else " ")
    below = trusted(heavy * len(active.value))
    rest = max(width - len(before) - len(below) - 2, 0)
    rule = (
        Part(before, StyleRole.RULE),
        Part(below, StyleRole.FOCUS),
        Part(trusted(f" {light * rest} "), StyleRole.RULE),
    )
    return [tuple(names), rule]


def tab_at(tabs: Sequence[Tab], x: int) -> Tab | None:
    """Return the tab at a column, or None if there is none."""
    at = 1
    for tab in tabs:
        if at <= x < at + len(tab.value):
            return tab
        at += len(tab.value) + 2
    return None


def _raw_entries(inspected: Inspected, message: ShownMessage, width: int, style: Style) -> Iterator[Entry]:
    """Yield the exact bytes, followed by the control tokens with their offsets."""
    data, format = inspected.projection.raw(inspected.number), _format(inspected.projection, message)
    for line in raw_lines(data, format, max(width - 2, 8), style):
        yield Entry((Part(trusted(" ")), *line))
    tokens = list(token_lines(data, (message.span or (0, 0))[0], format, style))
    if all(len(line) == 2 for line in tokens) and len(tokens) > 1:
        yield Entry(())
        for place, token in tokens:
            room = max(width - len(place.text), 1)
            yield Entry((place, Part(cut(token.text, room, trusted(style.signs.ellipsis)), token.look)))


def _unseen(inspected: Inspected, width: int, style: Style) -> Iterator[Entry]:
    headline = inspected.projection.headline(inspected.number)
    yield from field("role", style.name(headline.role or "(none)"), width)
    yield from field("visible", style.words(inspected.projection.why(inspected.number)), width)
    yield Entry(())
    for row in wrap(trusted("This message's channel is off."), max(width - 2, 8)):
        yield Entry((Part(SafeText(f" {row}"), StyleRole.QUIET),))


def _header_entries(
    inspected: Inspected, message: ShownMessage, width: int, style: Style, sheet: bool
) -> Iterator[Entry]:
    fields = list(_fields(inspected, message, style))
    if sheet:
        yield from _two_columns(fields, width, style)
        return
    for label, value, look, follows in fields:
        yield from field(label, value, width, look, follows)


def _two_columns(fields: list[Field], width: int, style: Style) -> Iterator[Entry]:
    """Put two fields on each line."""
    labels = [max((cells(label) for label, *_ in fields[side::2]), default=0) + 2 for side in (0, 1)]
    left = min(max((cells(value) for _, value, *_ in fields[::2]), default=0) + 2, width // 2 - labels[0])
    for place in range(0, len(fields), 2):
        line: list[Part] = [Part(trusted(" "))]
        leads: int | None = None
        for side, (label, value, look, follows) in enumerate(fields[place : place + 2]):
            room = left - 1 if not side else max(width - 2 - labels[0] - left - labels[1], 0)
            line += [
                Part(fitted(trusted(label), labels[side], style), StyleRole.QUIET),
                Part(fitted(value, room, style), look),
                Part(trusted(" ")),
            ]
            leads = leads or follows
        yield Entry(tuple(line), leads)


def _fields(inspected: Inspected, message: ShownMessage, style: Style) -> Iterator[Field]:
    """Yield the header fields that are present, and facts derived from them."""
    link = next(iter(inspected.calls.of(message.number)), None)
    yield "role", style.name(message.role or "(none)"), StyleRole.PLAIN, None
    yield from _given("name", message.name, style)
    yield "channel", _channel(message, style), StyleRole.PLAIN, None
    yield from _given("to", message.recipient, style)
    yield from _given("intent", message.intent, style)
    if message.message_kind in _KINDS:
        yield "kind", trusted(message.message_kind), StyleRole.PLAIN, None
    if message.thread:
        yield "thread", trusted(str(message.thread)), StyleRole.PLAIN, None
    if message.content_type:
        how = "constrain " if message.constrained else ""
        yield "type", style.name(how + message.content_type), StyleRole.PLAIN, None
    yield from _id_field(message, link, style)
    if link is not None:
        state = state_sign(link, style, problems=inspected.all_problems, words=True)
        yield "state", SafeText(", ".join(filter(None, (state.text, latency_words(link))))), state.look, None
    why = style.words(inspected.projection.why(message.number))
    yield "visible", why, StyleRole.OK if message.visible else StyleRole.WARNING, None
    yield from _sizes(inspected, message, style)
    yield from _places(inspected.projection, message, style)
    ending = "cancelled" if message.cancelled else message.ending
    if ending in STOPS:
        ending = STOPS[ending] if message.has_stop_token else "complete"
    yield "ending", trusted(ending), StyleRole.PLAIN, None
    yield from _given("time", message.time, style)
    for key, value in message.extra.items():
        yield style.name(key), style.name(value), StyleRole.PLAIN, None


def _sizes(inspected: Inspected, message: ShownMessage, style: Style) -> Iterator[Field]:
    """Yield the size of the body, and the tokens and cost of the reply, if known."""
    size = inspected.projection.headline(message.number).body_bytes
    share = f", {100 * size / inspected.size:.1f}% of the file" if inspected.size else ""
    yield "size", trusted(f"{byte_size(size)}{share}"), StyleRole.PLAIN, None
    spent = inspected.spent
    if spent is not None:
        yield "tokens", trusted(usage_words(spent.usage)), StyleRole.PLAIN, None
    if spent is not None and spent.cost is not None:
        yield "cost", trusted(money(spent.cost)), StyleRole.PLAIN, None


def _given(label: str, value: str | None, style: Style) -> Iterator[Field]:
    if value is not None:
        yield label, style.name(value), StyleRole.PLAIN, None


def _id_field(message: ShownMessage, link: ShownCall | None, style: Style) -> Iterator[Field]:
    """Yield the call ID and the other message of the call."""
    if link is None and message.call_id is None:
        return
    other, word = None, ""
    if link is not None:
        is_caller = message.number == link.call
        other = link.reply if is_caller else link.call
        word = "reply" if is_caller else "call"
    name = style.name(message.call_id) if message.call_id else style.words("—")
    to = style.signs.inferred if link is not None and link.inferred else style.signs.to
    yield "call", SafeText(f"{name}  {to} {word} #{other}" if other else name), StyleRole.PLAIN, other


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
        same = last == str(message.line)
        words = style.words(f"{message.line}" if same else f"{message.line}–{last}")
        yield "line" if same else "lines", words, StyleRole.PLAIN, None


def _problem_entries(
    problems: Sequence[ShownDiagnostic], width: int, style: Style, *, names_sections: bool
) -> Iterator[Entry]:
    """Yield each problem with its sentence, the section of its rule (only for OpenChatML files), and advice."""
    if not problems:
        yield Entry((Part(trusted(" no problems"), StyleRole.QUIET),))
        return
    yield Entry((Part(trusted(f" {counted(len(problems), 'problem')}"), StyleRole.HEADING),))
    for problem in problems:
        yield Entry(())
        yield from _problem(problem, width, style, names_section=names_sections)


def _problem(problem: ShownDiagnostic, width: int, style: Style, *, names_section: bool) -> Iterator[Entry]:
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
    if names_section:
        yield from _paragraph(style.words(rule.section), width, StyleRole.QUIET)
    yield from _paragraph(style.words(rule.advice), width, StyleRole.EMPHASIS)


def _paragraph(text: SafeText, width: int, look: StyleRole) -> Iterator[Entry]:
    for place, row in enumerate(wrap(text, max(width - 4, 8))):
        yield Entry((Part(SafeText(f" {'' if look in _LOOKS.values() and not place else '  '}{row}"), look),))


def _format(projection: Projection, message: ShownMessage) -> str:
    """Return the format of the message's transcript."""
    return projection.format_of(message.number)
