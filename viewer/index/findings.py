"""Diagnostics of an input as columns, with a cap per code. Equal neighbors are merged and counted."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator

from msgspec import Struct

from viewer.model.diagnostic import Diagnostic, Rule
from viewer.rules import RULES

MOST_PER_CODE = 1_000
"""The default maximum number of diagnostics to list per code. See `Findings` for what is kept beyond it."""

_KINDS = [(code, reason) for code, rule in RULES.items() for reason in (None, *rule.reasons)]
_KIND_OF = {kind: number for number, kind in enumerate(_KINDS)}
_GROWS = [RULES[code].grows for code, _ in _KINDS]
_SEVERITIES = [RULES[code].severity.value for code, _ in _KINDS]
_BLANK_BLOCK = 4096


class Kept(Struct, frozen=True):
    """The number of diagnostics that were kept, by code."""

    listed: dict[str, int]
    shown: dict[str, int]
    """Those of messages that the end user sees, listed or spare."""


class Findings:
    """A growing list of diagnostics, about 30 bytes each, converted to values on access. `read` returns input bytes.

    At most `most_per_code` diagnostics of each code are listed. Up to the same number again are kept for messages that
    the end user sees, so diagnostics of hidden messages cannot crowd out those for a safe audience. Diagnostics over
    the cap are *spare*: only safe audiences get them."""

    def __init__(
        self,
        read: Callable[[int, int], bytes],
        most_per_code: int = MOST_PER_CODE,
        is_shown: Callable[[int], bool] | None = None,
    ) -> None:
        self.most_per_code = most_per_code
        """The maximum number of diagnostics of a code that are listed; 0 for all."""
        self.more: dict[str, int] = {}
        """The number of diagnostics of each code that are omitted."""
        self._read = read
        self._is_shown = is_shown
        """True if the end user sees the message with this number."""
        self._kept: dict[str, int] = {}
        self._kept_shown: dict[str, int] = {}
        """For each code over the cap, the number of diagnostics kept for messages that the end user sees."""
        self._shown_before: dict[str, int] = {}
        """The part of these numbers that is about text that is not read here."""
        self._spare = bytearray()
        self._kinds = array("H")
        self._messages = array("I")
        self._starts = array("Q")
        self._ends = array("Q")
        self._counts = array("I")
        self._newest: dict[int, int] = {}
        """The newest row of each kind. An equal diagnostic may be merged into it."""
        self._totals = {"error": 0, "warning": 0, "info": 0}

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, row: int) -> Diagnostic:
        code, reason = _KINDS[self._kinds[row]]
        return Diagnostic(
            RULES[code], reason, self._messages[row] or None, self._starts[row], self._ends[row], self._counts[row]
        )

    def __iter__(self) -> Iterator[Diagnostic]:
        return (self[row] for row in range(len(self)))

    def keep(self, most_per_code: int) -> None:
        """From now on, list at most this many diagnostics of a code; 0 for all."""
        self.most_per_code = most_per_code

    def kept_between(self, first: int, end: int) -> Kept:
        """Count the diagnostics that are kept between two offsets, for each code over the cap."""
        found = Kept(dict.fromkeys(self.more, 0), dict.fromkeys(self.more, 0))
        for row in range(len(self)):
            code = self.code(row)
            if code in self.more and first <= self._starts[row] < end:
                found.listed[code] += not self._spare[row]
                number = self._messages[row]
                found.shown[code] += number > 0 and self._is_shown is not None and self._is_shown(number)
        return found

    def continue_after(self, before: Kept) -> None:
        """Count these diagnostics of earlier text toward the caps. Nothing may have been added yet."""
        self._kept, self._shown_before = {**before.listed}, before.shown

    def add(self, rule: Rule, reason: str | None, start: int, end: int, message: int | None, count: int = 1) -> None:
        """Add a diagnostic. It is merged into an equal one if only whitespace separates them."""
        code = rule.code
        kind = _KIND_OF[code, reason]
        number = message or 0
        self._totals[_SEVERITIES[kind]] += count
        row = self._newest.get(kind)
        if row is not None and self._messages[row] == number and self._joins(row, start, end):
            self._ends[row] = end
            self._counts[row] += count
            if self._spare[row]:
                self.more[code] += count
            return
        kept = self._kept.get(code, 0)
        is_spare = kept >= self.most_per_code > 0
        if is_spare:
            self.more[code] = self.more.get(code, 0) + count
            if not self._is_wanted_as_spare(code, number):
                self._newest.pop(kind, None)
                return
        else:
            self._kept[code] = kept + 1
        self._spare.append(is_spare)
        self._newest[kind] = len(self)
        self._kinds.append(kind)
        self._messages.append(number)
        self._starts.append(start)
        self._ends.append(end)
        self._counts.append(count)

    def add_more(self, code: str, count: int) -> None:
        """Count diagnostics that were dropped elsewhere."""
        self._totals[RULES[code].severity.value] += count
        self.more[code] = self.more.get(code, 0) + count

    def omits(self, code: str) -> bool:
        """True if further diagnostics with this code are only counted, except for messages that the end user sees."""
        return self._kept.get(code, 0) >= self.most_per_code > 0 and code in self.more

    def count_omitted(self, rule: Rule, reason: str | None, count: int) -> None:
        """Count this many diagnostics for which `omits` is true. They belong to hidden messages that have no diagnostic
        of this kind yet."""
        self.add_more(rule.code, count)
        self._newest.pop(_KIND_OF[rule.code, reason], None)

    def _is_wanted_as_spare(self, code: str, message: int) -> bool:
        """True if the end user sees this message and may see more diagnostics of this code. If so, count this one."""
        if self._is_shown is None:
            return False
        known = self._kept_shown.get(code)
        if known is None:
            rows = (row for row in range(len(self)) if self.code(row) == code)
            known = self._shown_before.get(code, 0)
            known += sum(1 for row in rows if self._messages[row] and self._is_shown(self._messages[row]))
        is_wanted = known < self.most_per_code and message > 0 and self._is_shown(message)
        self._kept_shown[code] = known + is_wanted
        return is_wanted

    def _joins(self, row: int, start: int, end: int) -> bool:
        first, last = self._starts[row], self._ends[row]
        if _GROWS[self._kinds[row]]:
            return start == first
        if end == start or first == last:
            return start == last and (end > start or first == last)
        return start >= last and self._is_blank(last, start)

    def _is_blank(self, start: int, end: int) -> bool:
        """True if there is only whitespace between these offsets."""
        size = 1  # the first byte usually decides
        while start < end:
            if not self._read(start, min(end, start + size)).isspace():
                return False
            start, size = start + size, _BLANK_BLOCK
        return True

    def set_reason(self, row: int, reason: str) -> bool:
        """Change the reason of a diagnostic, but not its code. Return True if the reason was different."""
        code, before = _KINDS[self._kinds[row]]
        if before == reason:
            return False
        if self._newest.get(self._kinds[row]) == row:
            del self._newest[self._kinds[row]]
        self._kinds[row] = _KIND_OF[code, reason]
        return True

    def total(self, severity: str) -> int:
        """Return how many diagnostics have this severity, including merged ones and those not kept."""
        return self._totals[severity]

    def count(self, code: str) -> int:
        """Return how many diagnostics have this code, including merged ones and those not kept."""
        kept = (row for row in range(len(self)) if not self._spare[row] and self.code(row) == code)
        return sum(self._counts[row] for row in kept) + self.more.get(code, 0)

    def number(self, row: int) -> int:
        """Return the message of this diagnostic, or 0 for none."""
        return self._messages[row]

    def severity(self, row: int) -> str:
        return _SEVERITIES[self._kinds[row]]

    def place(self, row: int) -> tuple[int, int, int]:
        """Return the sort key of this diagnostic, by position."""
        return self._starts[row], self._ends[row], self._kinds[row]

    def code(self, row: int) -> str:
        return _KINDS[self._kinds[row]][0]

    def is_spare(self, row: int) -> bool:
        """True if this diagnostic is over the cap and was kept only for safe audiences."""
        return bool(self._spare[row])

    def by_position(self) -> list[Diagnostic]:
        """Return the diagnostics for developers, sorted by position, then by code."""
        rows = sorted((row for row in range(len(self)) if not self._spare[row]), key=self.place)
        return [self[row] for row in rows]
