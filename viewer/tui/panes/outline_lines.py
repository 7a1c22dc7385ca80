"""Lines of the outline: turns, messages, strokes of calls, and problem marks."""

from __future__ import annotations

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.values import Headline, ShownCall
from viewer.render.letters import is_call, letter_of, look_of
from viewer.render.number_format import byte_size, duration, one_line
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.syntax.times import parse_time
from viewer.tui.panes.brackets import Brackets
from viewer.tui.panes.columns import fitted, spread
from viewer.tui.panes.outline_table import OutlineKind, OutlineRow, OutlineTable, ShownTable, WholeTable

_MARKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING}
_WIDEST_ASIDE = 12


class OutlineLines:
    """The outline of one projection. Text is read when a line is drawn, and not kept."""

    def __init__(
        self,
        projection: Projection,
        rows: Rows,
        style: Style,
        *,
        calls: CallView | None = None,
        problems: DiagnosticView | None = None,
        live: bool = False,
    ) -> None:
        self.table: OutlineTable = ShownTable() if projection.audience.is_safe else WholeTable()
        self.focus = 0
        self._projection, self._rows, self._style = projection, rows, style
        self._calls: CallView | None = None
        self._problems: DiagnosticView | None = None
        self.table.extend(projection, rows)
        self._use_facts(calls, problems, live)

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
        """Extend the rows; those from `changed` on may be different. Lists that stay the same are not read again."""
        self.table.extend(self._projection, self._rows, changed)
        self._use_facts(calls, problems, live)

    def reuse(self, projection: Projection, rows: Rows) -> bool:
        """Use another projection if the lines stay the same except for channels; False if they do not."""
        if projection.audience.is_safe or self._projection.audience.is_safe:
            return False
        if not projection.is_of_same_reading(self._projection):
            return False
        self._projection, self._rows = projection, rows
        return True

    def _use_facts(self, calls: CallView | None, problems: DiagnosticView | None, live: bool) -> None:
        if calls is None:
            calls = self._projection.calls()
        if problems is None:
            problems = self._projection.problems(self._rows).extend(self._rows.settled_number)
        self._live = live
        if calls is not self._calls:
            self._calls = calls
            self._brackets = Brackets(calls)
        if problems is not self._problems:
            self._problems = problems

    def line(self, row: int, width: int) -> Line:
        """One line of the outline."""
        found = self.table.at(row)
        if found.kind is OutlineKind.TURN:
            return self._turn_line(found.group, width)
        if found.kind is OutlineKind.HIDDEN:
            return self._hidden_line(found)
        return self._message_line(found.number, width)

    def _turn_line(self, group: int, width: int) -> Line:
        folded = group in self.table.folds
        sign = ("> " if folded else "v ") if self._style.ascii else ("▸ " if folded else "▾ ")
        transcript = self.table.begins_transcript(group)
        words = f"turn {self.table.turn(group)}"
        if transcript is not None:
            words = f"transcript {self._rows.transcript_label(transcript)}, turn 1"
        title = trusted(sign + words)
        mark = self._mark(*self.table.span(group)) if folded else Part(trusted(" "))
        left: Line = (mark, Part(title, StyleRole.HEADING))
        if folded:
            left = (*left, Part(self._style.words(f" · {self.table.size(group)}"), StyleRole.QUIET))
        return spread(left, (Part(trusted(f"{self._turn_time(group)} "), StyleRole.QUIET),), width)

    def _turn_time(self, group: int) -> str:
        if self._live and group == self.table.groups - 1:
            return "live"
        numbers = self.table.numbers(group)
        begun, ended = self._first_time(numbers), self._first_time(numbers[::-1])
        return duration(ended - begun) if begun is not None and ended is not None and ended > begun else ""

    def _first_time(self, numbers: list[int]) -> int | None:
        times = (self._projection.headline(number).time for number in numbers)
        return next((parse_time(time) for time in times if time is not None), None)

    def _hidden_line(self, found: OutlineRow) -> Line:
        mark = self._mark(found.number - found.hidden + 1, found.number)
        indent = " " * (self._digits + 2)
        return mark, Part(trusted(f"{indent}{self._style.signs.hidden} {found.hidden:,}"), StyleRole.QUIET)

    def _message_line(self, number: int, width: int) -> Line:
        headline = self._projection.headline(number)
        label = self._label(number)
        partner = self._is_partner(number)
        called = headline.seen and is_call(headline)
        letter = letter_of(headline)
        sign = self._style.signs.to[-1] if called else " "
        left = (
            self._mark(number, number),
            Part(trusted(self._brackets.stroke(number, self._style)), StyleRole.PARTNER if partner else StyleRole.RULE),
            Part(trusted(str(label).rjust(self._digits)), StyleRole.PARTNER if partner else StyleRole.QUIET),
            Part(trusted(f" {letter if not self._style.ascii or letter.isascii() else '-'}{sign}"), look_of(headline)),
        )
        aside = self._aside(headline)
        room = width - self._digits - 6 - (len(aside) + 1 if aside else 0)
        text = Part(
            fitted(self._text(headline), room, self._style), StyleRole.PLAIN if headline.seen else StyleRole.QUIET
        )
        return (*left, text, Part(SafeText(f" {aside} " if aside else " "), self._aside_look(headline)))

    def _text(self, headline: Headline) -> SafeText:
        """The subject of a message, in a few words."""
        name = self._style.name
        if not headline.seen or headline.role not in ("user", "assistant", "tool"):
            return name(headline.role or "(no role)")
        if headline.role == "tool":
            link = self._link(headline.number)
            return name((headline.name or (link.tool if link else "tool")).removeprefix("functions."))
        if is_call(headline):
            return name((headline.recipient or "").removeprefix("functions."))
        if headline.channel == "analysis":
            return trusted("analysis")
        if headline.channel == "commentary" and headline.intent == "preamble":
            return trusted("plan (preamble)")
        return name(one_line(self._projection.beginning(headline.number, 120))) or trusted("(empty)")

    def _aside(self, headline: Headline) -> SafeText:
        """The right column: hidden, growing, the call, visible to the user, or the size."""
        if not headline.seen:
            return trusted("(h)")
        if self._live and headline.ending == "open":
            return trusted(self._style.signs.gutter)
        if headline.role == "tool" or is_call(headline):
            return self._call_aside(headline)
        if headline.visible:
            return trusted("" if self._projection.audience.is_safe else "*")
        return trusted(byte_size(headline.body_bytes))

    def _call_aside(self, headline: Headline) -> SafeText:
        link = self._link(headline.number)
        if link and link.inferred and headline.role == "tool":
            return trusted("inferred")
        text = self._style.name(headline.call_id) if headline.call_id else trusted("no id")
        return SafeText(fitted(text, _WIDEST_ASIDE, self._style).rstrip(" "))

    def _aside_look(self, headline: Headline) -> StyleRole:
        if self._live and headline.ending == "open":
            return StyleRole.PENDING
        return StyleRole.STRONG if headline.visible else StyleRole.QUIET

    def _mark(self, first: int, last: int) -> Part:
        """The worst problem of these messages, as one cell."""
        worst = self._problems.worst(first, last) if self._problems else ""
        return Part(trusted(self._style.signs.severity(worst)), _MARKS[worst]) if worst else Part(trusted(" "))

    def _is_partner(self, number: int) -> bool:
        """True if the focus is on the other message of this call."""
        link = self._link(self.focus)
        return link is not None and number != self.focus and number in (link.call, link.reply)

    def _link(self, number: int) -> ShownCall | None:
        """The last call of a message."""
        return next(reversed(self._calls.of(number)), None) if self._calls else None

    def _label(self, number: int) -> int:
        """The printed number of a message."""
        return self._rows.label(self._rows.row_of(number)) if self._projection.audience.strict else number

    @property
    def _digits(self) -> int:
        last = self._rows.shown_count if self._projection.audience.strict else self._rows.reach
        return max(2, len(str(last)))
