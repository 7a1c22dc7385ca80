"""Lines of the outline: turns with their question, and one line per message or call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.document.usage import Spent, UsageView
from viewer.document.values import Headline, ShownCall
from viewer.render.blocks.agents import Agents
from viewer.render.blocks.call_words import time_words, tool_words
from viewer.render.blocks.inline import without_marks
from viewer.render.head import is_call, look_of
from viewer.render.number_format import byte_size, counted, duration, money, one_line, token_count
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.link_lines import latency_words
from viewer.tui.panes.outline_table import OutlineKind, OutlineTable
from viewer.tui.panes.signs import KindSign, kind_sign, state_glyph, state_sign

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}
_BEGINNING = 120
"""How many characters of a body to read for a line."""
MOST_TRIED = 500
"""How many rows to search for the beginning of a turn that a filter excludes."""
KEPT_LINES = 200
"""The maximum number of cached lines: about four times the visible ones."""


class OutlineLines:
    """The lines of one projection. The text of a line is read when it is drawn."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        style: Style,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        usages: UsageView | None = None,
        leak_scores: Mapping[int, int] = MappingProxyType({}),
        live: bool = False,
        is_settled: Callable[[], bool] = lambda: False,
        tables: Sequence[OutlineTable] = (),
        in_steps: bool = False,
        all_rows: Rows | None = None,
    ) -> None:
        """`all_rows` are the rows without the filter, which contain the titles of all turns. `is_settled` returns True
        once no line can change any more, so lines can be cached, and one of `tables` can be reused if it belongs to
        these rows. With `in_steps`, a new table is left partial."""
        self._usages = usages
        self._leak_scores = leak_scores
        self._is_settled = is_settled
        self._made: OrderedDict[tuple[int, int, bool, int, int], Line] = OrderedDict()
        self.focus = 0
        self._projection, self._rows, self._style = projection, rows, style
        self._all_rows = rows if all_rows is None else all_rows
        self._use_facts(calls, problems, live)
        again = next((each for each in tables if each.is_of(rows)), None) if is_settled() else None
        self.table = OutlineTable() if again is None else again
        if again is None:
            self.table.begin(projection, rows, self._calls)
        while self.table.is_partial and not in_steps:
            self.table.go_on()

    def shows(self, projection: Projection, rows: Rows) -> bool:
        """True if these are the lines of these rows of this projection."""
        return self._projection is projection and self._rows is rows

    def focus_on(self, number: int) -> None:
        """Set the focused message."""
        self.focus = number

    def grow(
        self,
        changed: int,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        live: bool = False,
    ) -> None:
        """Extend the rows. Rows from `changed` on may have changed."""
        self.forget()
        self._use_facts(calls, problems, live)
        self.table.extend(self._projection, self._rows, self._calls, changed)

    def toggle(self, group: int) -> None:
        """Fold or unfold a turn."""
        self.forget()
        self.table.toggle(group)

    def forget(self) -> None:
        """Drop the cached lines."""
        self._made.clear()

    def _use_facts(self, calls: CallView | None, problems: DiagnosticView | None, live: bool) -> None:
        self._calls = self._projection.calls() if calls is None else calls
        if problems is None:
            problems = self._projection.problems(self._rows).extend(self._rows.settled_number)
        self._problems, self._live = problems, live
        self._agents = Agents(self._projection, self._calls)

    def line(self, row: int, width: int, *, is_cursor: bool = False) -> Line:
        """Return one line of the outline, from the cache if possible."""
        if not self._is_settled():
            return self._make(row, width, is_cursor)
        key = row, width, is_cursor, len(self._problems), len(self._calls)
        line = self._made.get(key)
        if line is None:
            line = self._made[key] = self._make(row, width, is_cursor)
            if len(self._made) > KEPT_LINES:
                self._made.popitem(last=False)
        return line

    def prepare(self, rows: range, width: int) -> bool:
        """Cache the first missing line of these rows, some of which may be gone. Return False if none is missing, or if
        lines cannot be cached."""
        if not self._is_settled() or self.table.is_partial:
            return False
        facts = width, False, len(self._problems), len(self._calls)
        missing = next(
            (row for row in rows[: max(len(self.table) - rows.start, 0)] if (row, *facts) not in self._made), None
        )
        if missing is not None:
            self.line(missing, width)
        return missing is not None

    def _make(self, row: int, width: int, is_cursor: bool) -> Line:
        found = self.table.at(row)
        if found.kind is OutlineKind.TURN:
            return self._turn_line(found.group, width, is_cursor)
        if found.kind is OutlineKind.HIDDEN:
            return self._hidden_line(found.number, width, is_cursor)
        if found.kind is OutlineKind.AGENT:
            return self._agent_line(found.number, width, is_cursor)
        if found.kind is OutlineKind.CALL:
            return self._call_line(found.number, width, is_cursor)
        return self._message_line(found.number, width, is_cursor)

    def _turn_line(self, group: int, width: int, is_cursor: bool) -> Line:
        table, style = self.table, self._style
        folded = group in table.folds
        fold = ("+" if folded else "-") if style.ascii else ("▸" if folded else "▾")
        transcript = table.begins_transcript(group)
        number = table.title(group) or self._title_beyond_filter(group)
        words = self._beginning(number) if number else trusted("")
        if transcript is not None:
            label = self._rows.transcript_label(transcript)
            words = style.words(f"transcript {label}" + (f" · {words}" if words else ""))
        bar = style.signs.gutter if is_cursor else " "
        left = (
            Part(trusted(bar), StyleRole.FOCUS),
            Part(trusted(f"{fold} "), StyleRole.QUIET),
            Part(trusted(f"{table.turn(group)} "), StyleRole.STRONG),
        )
        return self._spread(left, words, StyleRole.PLAIN, self._turn_aside(group, width), width)

    def _title_beyond_filter(self, group: int) -> int:
        """Return the user message that begins a turn, searching back from the turn's first matching message, or 0 if
        none is found."""
        rows = self._all_rows
        if rows is self._rows:
            return 0
        matching, found = rows.row_of(self.table.span(group)[0]), 0
        turn = rows.transcript(matching), self.table.turn(group)
        for row in range(matching, max(matching - MOST_TRIED, -1), -1):
            if rows.kind(row) is RowKind.MESSAGE:
                if (rows.transcript(row), rows.turn(row)) != turn:
                    break
                found = rows.value(row)
        return found if found and self._projection.headline(found).role == "user" else 0

    def _turn_aside(self, group: int, width: int) -> Line:
        """Return the right column of a turn: its tokens and cost, its problems, `live`, or its duration."""
        first, last = self.table.span(group)
        spent = self._usages.of_turn(last) if self._usages is not None else None
        if spent is not None:
            return _spent_parts(spent, width)
        worst = self._problems.worst(first, last)
        found = self._count_problems(worst, first, last) if worst else 0
        if found:
            sign = self._style.signs.severity(worst)
            return (Part(trusted(f"{sign} {found}"), _LOOKS[worst]),)
        if self._live and group == self.table.groups - 1:
            return (Part(trusted("live"), StyleRole.PENDING),)
        begun, ended = (
            self._time(range(first, min(last, first + 6) + 1)),
            self._time(range(last, max(first, last - 6), -1)),
        )
        took = duration(ended - begun) if begun is not None and ended is not None and ended > begun else ""
        return (Part(trusted(took), StyleRole.QUIET),)

    def _count_problems(self, severity: str, first: int, last: int) -> int:
        """Return how many problems of this severity are in the shown rows: a filter may exclude messages."""
        found = (one.message for one in self._problems.between(first, last) if one.severity == severity)
        holds = self._rows.row_holding
        return sum(self._rows.is_whole or not number or holds(number) is not None for number in found)

    def _time(self, numbers: range) -> int | None:
        times = (self._projection.time_ms(number) for number in numbers)
        return next((time for time in times if time is not None), None)

    def _call_line(self, number: int, width: int, is_cursor: bool) -> Line:
        """Return the line of a call at the brief level: tool, state, and duration."""
        call = self._rows.call_lines.of(self._rows.value(self._rows.row_of(number)))
        glyph = Part(trusted(f"{KindSign.CALL.glyph(self._style)} "), StyleRole.TOOL)
        aside = (
            state_glyph(call.state, self._style),
            Part(trusted(f" {time_words(call)}".rstrip()), StyleRole.QUIET),
        )
        return self._spread((*self._lead(is_cursor), glyph), tool_words(call.tool), StyleRole.PLAIN, aside, width)

    def _agent_line(self, number: int, width: int, is_cursor: bool) -> Line:
        """Return the line of a sub-agent: its name and number of messages."""
        row = self._rows.row_of(number)
        name = self._agents.of(number).name or f"sub-agent {self._projection.thread_of(number)}"
        glyph = Part(trusted(f"{self._style.signs.open_gutter} "), StyleRole.QUIET)
        count = Part(trusted(f"{self._rows.value(row):,}"), StyleRole.QUIET)
        return self._spread((*self._lead(is_cursor), glyph), self._style.name(name), StyleRole.PLAIN, (count,), width)

    def _hidden_line(self, number: int, width: int, is_cursor: bool) -> Line:
        row = self._rows.row_of(number)
        worst = self._problems.worst(self._rows.first_number(row), number)
        count = counted(self._rows.count_hidden(row), "hidden message")
        words = self._style.words(f"{self._style.signs.hidden} {count}")
        aside = (Part(trusted(self._style.signs.severity(worst)), _LOOKS[worst]),) if worst else ()
        return self._spread(self._lead(is_cursor), words, StyleRole.QUIET, aside, width)

    def _lead(self, is_cursor: bool) -> Line:
        bar = self._style.signs.gutter if is_cursor else " "
        return (Part(trusted(f"   {bar} "), StyleRole.FOCUS),)

    def _message_line(self, number: int, width: int, is_cursor: bool) -> Line:
        headline = self._projection.headline(number)
        sign = kind_sign(headline)
        glyph = Part(trusted(f"{sign.glyph(self._style)} "), look_of(headline))
        left = (*self._lead(is_cursor), glyph)
        look = StyleRole.PLAIN if headline.seen else StyleRole.QUIET
        spent = self._usages.of(number) if self._usages is not None and headline.seen else None
        aside = _spent_parts(spent, width) if spent is not None else self._aside(headline)
        if number in self._leak_scores:
            score = self._leak_parts(self._leak_scores[number])
            aside = score if spent is None else (*score, Part(trusted(" ")), *aside)
        return self._spread(left, self._text(headline, sign), look, aside, width)

    def _leak_parts(self, score: int) -> Line:
        """Return the score of an answer that leaks hidden text, in the style of its severity."""
        from viewer.insight.leaks import NOTE  # the search for leaks has loaded it

        look = _LOOKS["warning"] if score >= NOTE else StyleRole.QUIET
        return (Part(trusted(f"{'#' if self._style.ascii else '≋'} {score}"), look),)

    def _text(self, headline: Headline, sign: KindSign) -> SafeText:
        """Return the few words that describe a message."""
        name = self._style.name
        if not headline.seen:
            return name(headline.role or "(no role)")
        if headline.role == "tool":
            link = self._link(headline.number)
            return name((headline.name or (link.tool if link else "tool")).removeprefix("functions."))
        if is_call(headline):
            return name((headline.recipient or "").removeprefix("functions."))
        if sign in (KindSign.THOUGHT, KindSign.SYSTEM):
            return trusted("thought") if sign is KindSign.THOUGHT else name(headline.role)
        if sign is KindSign.COMMENTARY:
            return trusted("plan" if headline.intent == "preamble" else "commentary")
        return self._beginning(headline.number) or trusted("(empty)")

    def _beginning(self, number: int) -> SafeText:
        """Return the first words of a message."""
        return without_marks(self._style.name(one_line(self._projection.beginning(number, _BEGINNING))))

    def _aside(self, headline: Headline) -> Line:
        """Return the right column of a message: `hidden`, the state and duration of its call, `live`, `seen`, or its
        size."""
        if not headline.seen:
            return (Part(trusted("hidden"), StyleRole.QUIET),)
        link = self._link(headline.number)
        if link is not None and (headline.role == "tool" or is_call(headline)):
            state = state_sign(link, self._style, problems=self._problems)
            time = latency_words(link)
            return (state, Part(trusted(f" {time}" if time else ""), StyleRole.QUIET))
        if self._live and headline.ending == "open":
            return (Part(trusted("live"), StyleRole.PENDING),)
        if headline.visible:
            return () if self._projection.audience.is_safe else (Part(trusted("seen"), StyleRole.QUIET),)
        return (Part(trusted(byte_size(headline.body_bytes)), StyleRole.QUIET),)

    def _spread(self, left: Line, words: SafeText, look: StyleRole, aside: Line, width: int) -> Line:
        """Fill the space between the two ends with the words, leaving one cell at the right edge."""
        aside = tuple(part for part in aside if part.text)
        used = sum(cells(part.text) for part in (*left, *aside)) + (2 if aside else 1)
        text = fitted(words, max(width - used, 0), self._style)
        gap = trusted(" " if aside else "")
        return (*left, Part(text, look), Part(gap), *aside, Part(trusted(" ")))

    def _link(self, number: int) -> ShownCall | None:
        """Return the last call of a message, if it has any."""
        return next(reversed(self._calls.of(number)), None)


_WITH_COST, _WITH_BOTH, _WITH_ALL = 44, 60, 90
"""The minimum widths at which a line shows the cost, input and output, and all numbers."""


def _spent_parts(spent: Spent, width: int) -> Line:
    """Return tokens and cost in the columns that fit."""
    usage, cost = spent.usage, money(spent.cost) if spent.cost is not None else ""
    if width < _WITH_BOTH:
        words = token_count(spent.tokens) if spent.tokens is not None else ""
        more = f"{cost:>9}" if width >= _WITH_COST else ""
        return (Part(trusted(words + more), StyleRole.QUIET),)
    columns = [(usage.input, "in", 12), (usage.output, "out", 12)]
    if width >= _WITH_ALL:
        columns += [(usage.cached, "cached", 16), (usage.reasoning, "reasoning", 18)]
    words = "".join((f"{count:,} {name}" if count else "").rjust(room) for count, name, room in columns)
    return (Part(trusted(f"{words}{cost:>10}"), StyleRole.QUIET),)
