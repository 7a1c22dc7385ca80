"""Rows of the calls table: messages, tool, state, times, sizes, and arguments; sortable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from enum import Enum
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.usage import Spent, UsageView
from viewer.document.values import ShownCall
from viewer.render.number_format import byte_size, counted, duration, money
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.syntax.json_text import JsonKind, read_json
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.link_lines import is_late, latency_words
from viewer.tui.panes.signs import is_failed, state_sign

_ARGUMENTS_READ = 600
"""How many characters of a body to read for its arguments."""
_NONE = "–"
NO_CALLS = "No calls to show."
"""The sentence that is shown in place of an empty table."""


class SortKey(Enum):
    """The sort orders that the key cycles through. The first is input order."""

    ORDER = "call"
    TOOL = "tool"
    STATE = "state"
    TIME = "time"
    SENT = "sent"
    REPLY = "reply"
    TOKENS = "tokens"

    @property
    def next(self) -> SortKey:
        """The next sort order, wrapping around."""
        keys = list(SortKey)
        return keys[(keys.index(self) + 1) % len(keys)]


class _Column(Struct, frozen=True):
    """One column of the table, right-aligned if `right`."""

    name: str
    width: int
    right: bool
    cell: Callable[[CallLines, ShownCall], Part]
    before: int = 0
    """The width of the gap before the text, which counts as part of the column."""
    is_tight: bool = False
    """True if no gap follows the text."""


class CallLines:
    """The rows of the calls table, one per call."""

    def __init__(
        self,
        calls: CallView,
        style: Style,
        projection: Projection | None = None,
        *,
        problems: DiagnosticView | None = None,
        sort: SortKey = SortKey.ORDER,
        usages: UsageView | None = None,
        shows_cost: bool = False,
    ) -> None:
        """With `shows_cost`, columns for tokens and cost follow the time."""
        self.calls = calls
        self.sort = sort
        self.style = style
        self.projection = projection
        self.problems = problems
        self._usages = projection.usages() if usages is None and projection is not None else usages
        self._shows_cost = shows_cost
        self._every = _with_cost() if shows_cost else _COLUMNS
        digits = len(str(calls.largest)) if len(calls) else 1
        self._ends = max(4, 2 * digits + 2)
        self._order: list[int] | None = None if sort is SortKey.ORDER else self._sorted(sort)

    def sorted_by(self, sort: SortKey) -> CallLines:
        """Return the same calls in another order."""
        return CallLines(
            *(self.calls, self.style, self.projection),
            problems=self.problems,
            sort=sort,
            usages=self._usages,
            shows_cost=self._shows_cost,
        )

    def __len__(self) -> int:
        return len(self.calls)

    def at(self, row: int) -> ShownCall:
        """Return the call in a row."""
        return self.calls[row if self._order is None else self._order[row]]

    def number(self, row: int) -> int | None:
        """Return the message number of a row: of the call, or of a reply without a call."""
        call = self.at(row)
        return call.call if call.call is not None else call.reply

    def row_of(self, number: int) -> int:
        """Return the row of this message's call, or -1 if there is none."""
        found = self.calls.row_of(number)
        return found if self._order is None or found < 0 else self._order.index(found)

    def row_near(self, number: int) -> int:
        """Return the row of the last call up to a message, or else of the first call. Return -1 if there are no
        calls."""
        if not len(self.calls):
            return -1
        place = bisect_right(
            range(len(self.calls)), number, key=lambda at: self.calls[at].call or self.calls[at].reply or 0
        )
        found = max(0, place - 1)
        return found if self._order is None else self._order.index(found)

    def next_failed(self, row: int, step: int) -> int:
        """Return the next or previous row with a failed call, wrapping around, or -1 if there is none nearby."""
        faulty = self.problems.faulty if self.problems is not None else ()
        near = min(len(self), _SEARCHED)
        rows = ((row + step * distance) % len(self) for distance in range(1, near + 1))
        return next((each for each in rows if is_failed(self.at(each), faulty)), -1)

    @cached_property
    def _durations(self) -> tuple[int | None, int, int]:
        """Return the longest time in milliseconds (None if there is none), and the widths that long times and deadlines
        need. If there are too many calls, return None and the maximum widths without measuring any."""
        if len(self.calls) > _COUNTED:
            return None, _LONGEST_DURATION, _LONGEST_DURATION
        slowest, times, limits = None, 0, 0
        for call in self.calls:
            taken, limit = call.taken_ms, call.deadline_ms
            if taken is not None:
                slowest = max(slowest or 0, taken)
                times = max(times, len(latency_words(call))) if taken > _SHORT_MS else times
            if limit is not None and limit > _SHORT_MS:
                limits = max(limits, len(duration(limit)))
        return slowest, times, limits

    @cached_property
    def counts(self) -> SafeText:
        """Return counts such as `8 calls · 2 failed · slowest 3.0 s`. The border needs them whenever the cursor
        moves."""
        words = [counted(len(self.calls), "call")]
        states = self.calls.states
        failed = sum(states[state] for state in ("failed", "timeout"))
        words += [f"{states['pending']:,} open"] if states["pending"] else []
        words += [f"{failed:,} failed"] if failed else []
        slowest = self._durations[0]
        words += [f"slowest {duration(slowest)}"] if slowest is not None else []
        return self.style.words(" · ".join(words))

    def head(self, width: int) -> list[Line]:
        """Return the column titles that fit, with a mark at the sorted column."""
        line: list[Part] = [Part(trusted("   "))]
        for column in self._columns(width):
            name = column.name
            if self.sort is not SortKey.ORDER and name == self.sort.value:
                name += "v" if self.style.ascii else "▾"
            text = name.rjust(column.width) if column.right else (" " * column.before + name).ljust(column.width)
            line.append(Part(trusted(text), StyleRole.STRONG))
        return [tuple(line)]

    def line(self, row: int, width: int, *, is_cursor: bool = False) -> Line:
        """Return the line of one call."""
        call, style = self.at(row), self.style
        parts: list[Part] = [Part(trusted(f" {style.signs.gutter if is_cursor else ' '} "), StyleRole.FOCUS)]
        for column in self._columns(width):
            part = column.cell(self, call)
            if column.right:
                text = cut(part.text, column.width, trusted(""))
                parts += [Part(trusted(" " * (column.width - cells(text)))), Part(text, part.look)]
            else:
                lead = trusted(" " * column.before)
                room = column.width - column.before
                after = 0 if column.is_tight else 2
                text = SafeText(lead + fitted(part.text, room - after, style) + " " * after)
                parts.append(Part(text, part.look))
        return tuple(parts)

    def _columns(self, width: int) -> list[_Column]:
        """Return the columns that fit. The last ones disappear first, and the arguments take the remaining width."""
        room = width - 4
        found: list[_Column] = []
        _, times, limits = self._durations
        needed = {SortKey.ORDER.value: self._ends + 2, SortKey.TIME.value: times, "limit": limits + 2}
        for column in self._every:
            size = max(needed.get(column.name, 0), column.width)
            if room < size:
                return found
            found.append(replace(column, width=size))
            room -= size
        return (
            [*found, _Column("arguments", room + 1, False, _arguments, is_tight=True)]
            if room >= len("arguments")
            else found
        )

    def _sorted(self, sort: SortKey) -> list[int]:
        return sorted(range(len(self.calls)), key=lambda row: self._key(sort, self.calls[row]))

    def _key(self, sort: SortKey, call: ShownCall) -> tuple[int, str]:
        match sort:
            case SortKey.TOOL:
                return 0, call.tool
            case SortKey.STATE:
                return not is_failed(call, self.problems.faulty if self.problems is not None else ()), call.state
            case SortKey.TIME:
                return -(call.taken_ms or 0), ""
            case SortKey.SENT:
                return -self.size(call.call), ""
            case SortKey.TOKENS:
                spent = self.spent(call)
                return -((spent.tokens if spent is not None else 0) or 0), ""
            case _:
                return -self.size(call.reply), ""

    def spent(self, call: ShownCall) -> Spent | None:
        """Return the tokens and cost of the model's reply that contains a call, or None if they are unknown."""
        return self._usages.of(call.call) if self._usages is not None and call.call else None

    def size(self, number: int | None) -> int:
        """Return the size of a message's body in bytes, or 0 if it is unknown."""
        if number is None or self.projection is None:
            return 0
        return self.projection.headline(number).body_bytes


_SEARCHED = 20_000
"""The maximum number of rows to search for a failed call."""
_COUNTED = 100_000
"""The maximum number of calls to search for the slowest."""
_SHORT_MS = 9_000
"""The longest time in milliseconds that fits into every column, even with a sign before it."""
_LONGEST_DURATION = len("~59 min 59 s")


def ends_of(call: ShownCall, style: Style) -> SafeText:
    """Return text such as `#12→13`, or a single number if there is no reply or no call. The arrow is dotted if the
    reply was inferred from the order."""
    if call.call is None or call.reply is None:
        return trusted(f"#{call.call or call.reply}")
    return trusted(f"#{call.call}{style.signs.inferred if call.inferred else style.signs.to[-1]}{call.reply}")


def _ends(lines: CallLines, call: ShownCall) -> Part:
    return Part(ends_of(call, lines.style), StyleRole.QUIET)


def _tool(lines: CallLines, call: ShownCall) -> Part:
    return Part(lines.style.name(call.tool.removeprefix("functions.")), StyleRole.STRONG)


def _state(lines: CallLines, call: ShownCall) -> Part:
    return state_sign(call, lines.style, problems=lines.problems, words=True)


def _quiet(lines: CallLines, words: str) -> Part:
    return Part(lines.style.words(words or _NONE), StyleRole.QUIET)


def _time(lines: CallLines, call: ShownCall) -> Part:
    return Part(lines.style.words(latency_words(call) or _NONE), StyleRole.ERROR if is_late(call) else StyleRole.PLAIN)


def _limit(lines: CallLines, call: ShownCall) -> Part:
    return _quiet(lines, duration(call.deadline_ms) if call.deadline_ms is not None else "")


def _sent(lines: CallLines, call: ShownCall) -> Part:
    return _quiet(lines, byte_size(lines.size(call.call)) if call.call else "")


def _reply(lines: CallLines, call: ShownCall) -> Part:
    return _quiet(lines, byte_size(lines.size(call.reply)) if call.reply else "")


def _tokens(lines: CallLines, call: ShownCall) -> Part:
    spent = lines.spent(call)
    return _quiet(lines, f"{spent.tokens:,}" if spent is not None and spent.tokens is not None else "")


def _cost(lines: CallLines, call: ShownCall) -> Part:
    spent = lines.spent(call)
    return _quiet(lines, money(spent.cost) if spent is not None and spent.cost is not None else "")


def _turn(lines: CallLines, call: ShownCall) -> Part:
    number = call.call or call.reply
    return _quiet(lines, str(lines.projection.headline(number).turn) if lines.projection is not None and number else "")


def _id(lines: CallLines, call: ShownCall) -> Part:
    return Part(lines.style.name(call.call_id) if call.call_id else lines.style.words(_NONE), StyleRole.QUIET)


def _arguments(lines: CallLines, call: ShownCall) -> Part:
    """Return the arguments as `key=value`, or the beginning of the body if it is not a JSON object."""
    if lines.projection is None or not call.call:
        return Part(trusted(""))
    body = lines.projection.beginning(call.call, _ARGUMENTS_READ)
    data = body.encode("utf-8", "replace")
    node = read_json(data).node if body.lstrip().startswith("{") else None
    if node is None or node.kind is not JsonKind.OBJECT:
        return Part(lines.style.name(body[:_ARGUMENTS_READ]), StyleRole.QUIET)
    pairs = []
    for member in node.members:
        value = member.value
        is_text = value.kind is JsonKind.STRING
        pairs.append(
            f"{member.key}={value.text if is_text else data[value.start : value.end].decode('utf-8', 'replace')}"
        )
    return Part(lines.style.name(" ".join(pairs)), StyleRole.QUIET)


_COLUMNS = (
    _Column(SortKey.ORDER.value, 0, False, _ends),
    _Column(SortKey.TOOL.value, 21, False, _tool),
    _Column(SortKey.STATE.value, 10, False, _state, is_tight=True),
    _Column(SortKey.TIME.value, 6, True, _time),
    _Column("limit", 8, True, _limit),
    _Column(SortKey.SENT.value, 8, True, _sent),
    _Column(SortKey.REPLY.value, 8, True, _reply),
    _Column(SortKey.TOKENS.value, 8, True, _tokens),
    _Column("turn", 6, True, _turn),
    _Column("id", 14, False, _id, before=2),
)


def _with_cost() -> tuple[_Column, ...]:
    """Return the columns with tokens and cost after the time."""
    first = [column for column in _COLUMNS if column.name != SortKey.TOKENS.value]
    tokens = next(column for column in _COLUMNS if column.name == SortKey.TOKENS.value)
    at = [column.name for column in first].index(SortKey.TIME.value) + 1
    return (*first[:at], tokens, _Column("cost", 10, True, _cost), *first[at:])
