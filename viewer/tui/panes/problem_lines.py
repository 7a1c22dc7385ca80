"""Lines of the list of problems: counts, one line per diagnostic, and the open message."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.diagnostics import DiagnosticView
from viewer.document.values import ShownDiagnostic
from viewer.render.diagnostic import described
from viewer.render.number_format import counted, duration
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cut
from viewer.tui.panes.columns import fitted, spread

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
_WIDEST_CODE = 28
_SHORTEST = 12
"""Sentences are omitted below this width."""
_LOOKED_AT = 100
"""Rows at both ends that decide the width of places: the last ones have the longest numbers."""
_NARROW = 100
"""Columns are closer below this width."""


class Pending(Struct, frozen=True, gc=False):
    """An open message while the input grows."""

    number: int | None
    idle_ms: int | None = None
    """The time since the last byte."""


class ProblemLines:
    """The list for one audience. The safe view has code, number and a fixed sentence, but no place."""

    def __init__(
        self,
        problems: DiagnosticView,
        style: Style,
        *,
        safe: bool,
        pending: Pending | None = None,
        checking: bool = False,
    ) -> None:
        """With `checking`, the check is incomplete, and "none" would be premature."""
        self.problems = problems
        self._style, self._safe, self._pending, self._checking = style, safe, pending, checking
        self._counts = self.problems.severities
        self._codes = max(map(len, self.problems.codes), default=0)
        self._numbers = len(_number(self.problems.largest)) if self.problems.largest else 0
        looked_at = [*self.problems[:_LOOKED_AT], *self.problems[-_LOOKED_AT:]] if not safe else []
        self._places = max((len(_place(found)) for found in looked_at), default=0)

    def set_pending(self, pending: Pending | None) -> None:
        """Update the open message."""
        self._pending = pending

    def __len__(self) -> int:
        return len(self.problems) + (self._pending is not None)

    def at(self, row: int) -> ShownDiagnostic | None:
        """The diagnostic of a row; None for the open message."""
        return self.problems[row] if 0 <= row < len(self.problems) else None

    def number(self, row: int) -> int | None:
        """The printed number of the message of a row."""
        found = self.at(row)
        if found is not None:
            return found.message
        return self._pending.number if self._pending is not None and not self._safe else None

    def head(self, width: int) -> Line:
        """`PROBLEMS  1 error · 2 warnings · 1 pending`."""
        counts = [(self._counts[severity], word, _LOOKS[severity]) for severity, word in _WORDS.items()]
        parts = [Part(trusted(counted(count, word)), look) for count, word, look in counts if count]
        if self._pending is not None:
            parts.append(Part(trusted("1 pending"), StyleRole.PENDING))
        if self._checking:
            parts.append(Part(self._style.words("checking…"), StyleRole.PENDING))
        if not parts:
            parts = [Part(trusted("none"), StyleRole.OK)]
        line: list[Part] = [Part(trusted(" PROBLEMS  "), StyleRole.TITLE)]
        for place, part in enumerate(parts):
            line += [Part(self._style.words(" · " if place else ""), StyleRole.QUIET), part]
        order = "sorted by message " if self._safe else "sorted by position "
        return spread(tuple(line), (Part(trusted(order), StyleRole.QUIET),), width)

    def line(self, row: int, width: int) -> Line:
        """One row of the list."""
        found = self.at(row)
        if found is None:
            return self._pending_line(width)
        look = _LOOKS[found.severity]
        sign = self._style.signs.severity(found.severity)
        return self._columns(Part(trusted(sign), look), _place(found), _number(found.message), found.code, found, width)

    def one_line(self, row: int, width: int) -> Line:
        """The list as one line: `✖ 1/3  41:18 #11 E-…  sentence`."""
        if not self.problems:
            return self._pending_line(width) if self._pending is not None else self._none()
        row = max(0, min(row, len(self.problems) - 1))
        found = self.problems[row]
        place = " ".join(filter(None, [_place(found), _number(found.message)]))
        sign = self._style.signs.severity(found.severity)
        head = f" {sign} {row + 1}/{len(self.problems)}  {place} {found.code} "
        room = max(0, width - len(head) - 1)
        return (
            Part(trusted(f" {sign} {row + 1}/{len(self.problems)}  "), _LOOKS[found.severity]),
            Part(trusted(f"{place} " if place else ""), StyleRole.QUIET),
            Part(trusted(f"{found.code} "), StyleRole.STRONG),
            Part(
                cut(self._style.spell(self._style.words(described(found))), room, trusted(self._style.signs.ellipsis))
            ),
        )

    def _none(self) -> Line:
        return (Part(self._style.words(" checking…" if self._checking else " no problems"), StyleRole.QUIET),)

    def _columns(
        self, sign: Part, place: str, number: str, code: str, found: ShownDiagnostic | None, width: int
    ) -> Line:
        gap = "  " if width >= _NARROW else " "
        places = "" if self._safe else f"{place:<{max(self._places, 3 if self._pending else 0)}}{gap}"
        codes = min(_WIDEST_CODE, max(self._codes, len("open message") if self._pending else 0))
        numbers = f"{number:<{max(self._numbers, 3)}}{gap}"
        used = 3 + len(places) + len(numbers) + codes + len(gap)
        sentence = self._sentence(found) if width - used > _SHORTEST else ""
        return (
            Part(trusted(" ")),
            sign,
            Part(trusted(f" {places}"), StyleRole.QUIET),
            Part(trusted(numbers)),
            Part(trusted(fitted(trusted(code), codes, self._style) + gap), StyleRole.STRONG),
            Part(cut(self._style.words(sentence), max(0, width - used - 1), trusted(self._style.signs.ellipsis))),
        )

    def _sentence(self, found: ShownDiagnostic | None) -> str:
        if found is None:
            return self._pending_words()
        count = f" {self._style.signs.times}{found.count}" if not self._safe and (found.count or 0) > 1 else ""
        return self._style.spell(SafeText(described(found) + count))

    def _pending_line(self, width: int) -> Line:
        sign = Part(trusted(self._style.signs.ellipsis[:1]), StyleRole.PENDING)
        number = "" if self._safe or self._pending is None else _number(self._pending.number)
        return self._columns(sign, "EOF", number, "open message", None, width)

    def _pending_words(self) -> str:
        if self._safe or self._pending is None:
            return "The transcript is still being written."
        idle = self._pending.idle_ms
        since = f" (last byte {duration(idle)} ago)" if idle is not None else ""
        return f"Becomes E-STREAM-TRUNCATED if the input ends here{since}."


_WORDS = {"error": "error", "warning": "warning", "info": "note"}


def _place(found: ShownDiagnostic) -> str:
    return f"{found.line}:{found.column}" if found.line is not None else ""


def _number(message: int | None) -> str:
    return f"#{message}" if message is not None else ""
