"""Rows of the problem list: one per diagnostic, and one for an open message. The row at the cursor opens in place."""

from __future__ import annotations

from functools import cached_property

from msgspec import Struct

from viewer.document.calls import CallView
from viewer.document.diagnostics import DiagnosticView
from viewer.document.projection import Projection
from viewer.document.values import ShownDiagnostic
from viewer.model.diagnostic import first_sentence
from viewer.render.diagnostic import described, excerpt, full_code
from viewer.render.number_format import counted, duration
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, wrap
from viewer.rules import RULES
from viewer.tui.panes.columns import fitted, length

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
_WIDEST_CODE = 44
_LOOKED_AT = 100
"""How many rows at each end to measure for the width of the positions: the last ones have the longest numbers."""
_NOTHING = trusted("")
_SHORTEST_TOOL = 8
"""The minimum width for a tool's name after a sentence."""
ROOMY = 98
"""The minimum width at which the list shows codes and opens the row at the cursor."""


class Pending(Struct, frozen=True, gc=False):
    """An open message of a growing input."""

    number: int | None
    idle_ms: int | None = None
    """The time since the last byte."""


class ProblemLines:
    """The rows for one audience. The safe view shows the number, a fixed sentence, and the code, but no position."""

    def __init__(
        self,
        problems: DiagnosticView,
        style: Style,
        *,
        safe: bool,
        pending: Pending | None = None,
        checking: bool = False,
        projection: Projection | None = None,
        calls: CallView | None = None,
    ) -> None:
        """`checking` means that checks are still running, so it is too early to report that there are no problems.
        `projection` provides the source lines of opened rows, and `calls` the tools of problems."""
        self.problems = problems
        self._projection, self._calls = projection, calls
        self._style, self._safe, self._pending, self._checking = style, safe, pending, checking
        self._counts = self.problems.severities
        self._numbers = max(3, len(_number(self.problems.largest)) if self.problems.largest else 0)

    @cached_property
    def _widths(self) -> tuple[int, int]:
        """The widths of the positions and the codes. A closed list does not need them, and computing them takes time:
        each position requires a search for line feeds."""
        looked_at = [*self.problems[:_LOOKED_AT], *self.problems[-_LOOKED_AT:]]
        places = 0 if self._safe else max((len(_place(found)) for found in looked_at), default=0)
        return places, min(_WIDEST_CODE, max((len(_code(found)) for found in looked_at), default=0))

    def set_pending(self, pending: Pending | None) -> None:
        """Update the open message."""
        self._pending = pending

    def __len__(self) -> int:
        return len(self.problems) + (self._pending is not None)

    def at(self, row: int) -> ShownDiagnostic | None:
        """Return the diagnostic of a row. Return None for the open message, or if there is no such row."""
        return self.problems[row] if 0 <= row < len(self.problems) else None

    def of(self, number: int) -> list[ShownDiagnostic]:
        """Return the problems of a message or, if it has none and is a call, of its reply."""
        found = self.problems.of(number)
        if not found and self._calls is not None:
            replies = [call.reply for call in self._calls.of(number) if call.reply]
            found = [problem for reply in replies for problem in self.problems.of(reply)]
        return found

    def number(self, row: int) -> int | None:
        """Return the number of a row's message, or None if it has none or the number is hidden."""
        found = self.at(row)
        if found is not None:
            return found.message
        return self._pending.number if self._pending is not None and not self._safe else None

    @property
    def counts(self) -> SafeText:
        """Return counts such as `1 error · 2 warnings · 1 pending`."""
        found = ((self._counts[severity], word) for severity, word in _WORDS.items())
        words = [counted(count, word) for count, word in found if count]
        words += ["1 pending"] if self._pending is not None else []
        words += ["checking…"] if self._checking else []
        return self._style.words(" · ".join(words or ["no problems"]))

    def line(self, row: int, width: int, *, is_cursor: bool = False) -> Line:
        """Return one row of the list."""
        found, style = self.at(row), self._style
        bar = Part(trusted(style.signs.gutter if is_cursor else " "), StyleRole.FOCUS)
        if found is None:
            number = "" if self._safe or self._pending is None else _number(self._pending.number)
            sign = Part(trusted(f"{style.signs.ellipsis[:1]} "), StyleRole.PENDING)
            return self._columns((bar, sign), number, self._pending_words(), "", "", width)
        count = f" {style.signs.times}{found.count}" if not self._safe and (found.count or 0) > 1 else ""
        words = described(found)
        sentence = style.spell(style.words(words if self._safe else first_sentence(words).rstrip(".")))
        sign = Part(trusted(f"{style.signs.severity(found.severity)} "), _LOOKS[found.severity])
        return self._columns(
            (bar, sign),
            _number(found.message),
            SafeText(sentence + count),
            _place(found),
            _code(found),
            width,
            self._tool(found),
        )

    def _tool(self, found: ShownDiagnostic) -> SafeText:
        """Return the tool of the problem's call or reply, after a separator; empty if there is none."""
        calls = self._calls.of(found.message) if self._calls is not None and found.message and not self._safe else []
        tool = calls[0].tool.removeprefix("functions.") if calls else ""
        return SafeText(f" · {self._style.name(tool)}") if tool else trusted("")

    def details(self, row: int, width: int, keys: str) -> list[Line]:
        """Return the lines below the row at the cursor: its source line, with the problem marked, and the advice. There
        are none in the safe view or in a narrow list.
        `keys` appear at the right end of the last line."""
        found = self.at(row)
        if found is None or self._safe or width < ROOMY:
            return []
        indent = self._numbers + 5
        lead = Part(trusted(" " * indent))
        lines: list[Line] = []
        source = self._source(found)
        if source is not None:
            shown, here, marks = excerpt(source, max(width - indent - 1, 20), self._style)
            lines.append((lead, Part(shown)))
            lines.append((lead, Part(trusted(" " * here + "~" * marks), _LOOKS[found.severity])))
        advice = [SafeText(row) for row in wrap(self._style.words(RULES[found.code].advice), width - indent - 1)]
        lines += [(lead, Part(row, StyleRole.QUIET)) for row in advice]
        hint = self._style.words(keys)
        gap = width - length(lines[-1]) - cells(hint) - 1
        if gap < 2:
            lines.append((lead,))
            gap = width - indent - cells(hint) - 1
        lines[-1] = (*lines[-1], Part(trusted(" " * max(gap, 0))), Part(hint, StyleRole.FOOTER_KEY))
        return lines

    def _source(self, found: ShownDiagnostic) -> tuple[str, int, int] | None:
        """Return the source line of the problem and the span to mark, or None if they are unknown. If the problem is in
        a body, limit the line to that body."""
        projection = self._projection
        if projection is None or found.span is None or not found.message:
            return None
        message = projection.message(found.message)
        if message is None or message.span is None or not message.span[0] <= found.span[0] <= message.span[1]:
            return None
        first, last = found.span
        low, high = message.span
        if message.body_span is not None and message.body_span[0] <= first <= message.body_span[1]:
            low, high = message.body_span
        data, base = projection.raw(found.message), message.span[0]
        start = max(low, base + data.rfind(b"\n", 0, max(first - base, 0)) + 1)
        end = data.find(b"\n", max(first - base, 0))
        end = min(high, base + end if end >= 0 else high)
        if not start < end:
            return None
        before, marked, after = (
            data[one - base : other - base].decode("utf-8", "replace")
            for one, other in ((start, first), (first, min(last, end)), (min(last, end), end))
        )
        return before + marked + after, len(before), len(before) + len(marked)

    def _columns(
        self,
        left: Line,
        number: str,
        sentence: SafeText | str,
        place: str,
        code: str,
        width: int,
        tool: SafeText = _NOTHING,
    ) -> Line:
        head = (*left, Part(trusted(f"{number:<{self._numbers}}  "), StyleRole.QUIET))
        used = length(head)
        of_places, of_codes = self._widths
        if width >= ROOMY:
            places = f"{place:<{of_places}}  " if of_places else ""
            codes = fitted(trusted(code), of_codes, self._style)
        else:
            places, codes = (f"{place:>{of_places}}" if of_places else ""), trusted("")
        room = max(width - used - len(places) - cells(codes) - 3, 0)
        return (
            *head,
            *self._named(SafeText(sentence), tool, room),
            Part(trusted("  " + places), StyleRole.QUIET),
            Part(SafeText(f"{codes} "), StyleRole.QUIET),
        )

    def _named(self, sentence: SafeText, tool: SafeText, room: int) -> Line:
        """Return a sentence and, if there is room for at least part of its name, the tool."""
        left = room - cells(sentence)
        if not tool or left < _SHORTEST_TOOL:
            return (Part(fitted(sentence, room, self._style)),)
        return Part(sentence), Part(fitted(self._style.words(tool), left, self._style), StyleRole.QUIET)

    def _pending_words(self) -> SafeText:
        if self._safe or self._pending is None:
            return self._style.words("The transcript is still being written.")
        idle = self._pending.idle_ms
        since = f" (last byte {duration(idle)} ago)" if idle is not None else ""
        return self._style.words(f"Becomes E-STREAM-TRUNCATED if the input ends here{since}.")


_WORDS = {"error": "error", "warning": "warning", "info": "note"}


def _place(found: ShownDiagnostic) -> str:
    return f"{found.line}:{found.column}" if found.line is not None else ""


def _code(found: ShownDiagnostic) -> str:
    return full_code(found.code, found.reason if found.span is not None else None)


def _number(message: int | None) -> str:
    return f"#{message}" if message is not None else ""
