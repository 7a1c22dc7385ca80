"""The predicate of a filter: find the messages of a projection that match."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from viewer.document.filter.fields import Field
from viewer.document.filter.grammar import filter_regex
from viewer.document.filter.tree import Choice, Filter, Term
from viewer.document.projection import Projection
from viewer.document.rows import MessageSet, RowKind, Rows
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage

_DAY = 86_400_000
_SLICE_SECONDS = 60.0
_CHANGING = ("is", "has", "code", "severity", "tool", "call", "state", "latency", "deadline")
"""Fields that may get another value for a message when later messages arrive."""
Values = Iterable[str | float]
_COMPARISONS: dict[str, Callable[[float, float, float], bool]] = {
    "<": lambda value, low, high: value < low,
    "<=": lambda value, low, high: value <= high,
    ">": lambda value, low, high: value > low,
    ">=": lambda value, low, high: value >= low,
    "=": lambda value, low, high: low <= value <= high,
    ":": lambda value, low, high: low <= value <= high,
}
"""For each operator, a function that compares a value with the lower and upper bounds of a term. For a number, the
bounds are equal."""


class Facts(Struct, frozen=True):
    """The facts about one message that a filter can test, limited to those that the audience sees."""

    message: ShownMessage
    problems: list[ShownDiagnostic]
    calls: list[ShownCall]
    file: str
    model: str | None
    format: str
    time: int | None
    """Milliseconds since 1970."""
    first_day: int
    """Midnight before the first time in the transcript, in milliseconds since 1970."""
    is_marked: bool
    size: int | None
    text: Callable[[], str]
    """A function that reads the body."""


def matching(
    filter: Filter, projection: Projection, file: str, marks: Iterable[int] = (), rows: Rows | None = None
) -> MessageSet:
    """Return the messages of a projection that match, by their numbers in the input."""
    found = Matching(filter, projection, file, marks, rows or projection.rows())
    while found.step(_SLICE_SECONDS):
        pass
    return found.messages()


class Matching:
    """Finds matching messages in slices, and tests rows again if they may have changed."""

    def __init__(self, filter: Filter, projection: Projection, file: str, marks: Iterable[int], rows: Rows) -> None:
        self._test = _Test(filter)
        self._projection, self._file, self._marks, self._rows = projection, file, frozenset(marks), rows
        self._row = 0
        self._found: list[tuple[int, int]] = []
        """Each matching row, with its message number."""
        self._reader: _FactReader | None = None

    @property
    def progress(self) -> float:
        """The share of rows tested so far."""
        return self._row / max(1, len(self._rows))

    def step(self, seconds: float) -> bool:
        """Test rows for about this many seconds. Return True if there are more."""
        deadline = time.monotonic() + seconds
        if self._reader is None:
            needs_problems = self._test.asks("is", "has", "code", "severity")
            self._reader = _FactReader(
                self._projection, self._file, self._marks, self._rows, needs_problems=needs_problems
            )
        while self._row < len(self._rows):
            row = self._row
            self._row += 1
            if self._rows.kind(row) is RowKind.MESSAGE and self._test(self._reader.of(row)):
                self._found.append((row, self._rows.value(row)))
            if time.monotonic() >= deadline:
                break
        return self._row < len(self._rows)

    def resume(self, changed_row: int) -> None:
        """Test again from this row on, or from the start if later rows may change the values that the filter tests."""
        self._reader = None
        self._row = 0 if self._test.asks(*_CHANGING) else min(self._row, changed_row)
        while self._found and self._found[-1][0] >= self._row:
            self._found.pop()

    def messages(self) -> MessageSet:
        """Return the messages that match so far."""
        return MessageSet(number for _, number in self._found)

    def close(self) -> None:
        """Do nothing: nothing runs in the background."""


class _FactReader:
    """Reads the facts about rows, in order."""

    def __init__(
        self, projection: Projection, file: str, marks: frozenset[int], rows: Rows, *, needs_problems: bool
    ) -> None:
        self._projection = projection
        self._file = file
        self._marks = marks
        self._rows = rows
        self._calls = projection.calls()
        self._transcripts = {each.number: each for each in projection.transcripts()}
        self._problems: dict[int, list[ShownDiagnostic]] = {}
        if needs_problems:
            for found in projection.diagnostics():
                if found.message is not None and not found.hidden:
                    self._problems.setdefault(found.message, []).append(found)
        self._days: dict[int, int] = {}
        """Midnight before the first time in each transcript, in milliseconds since 1970."""
        self._has_day_of = 0
        """The number of rows already searched for `_days`."""

    def of(self, row: int) -> Facts:
        """Return the facts of the message in a row."""
        number = self._rows.value(row)
        message = self._projection.unread(self._rows, row)
        moment = _milliseconds(message.time)
        transcript = self._transcripts.get(message.transcript)
        span = message.body_span
        return Facts(
            message,
            self._problems.get(message.number, []),
            self._calls.of(number),
            self._file,
            transcript.model if transcript else None,
            transcript.format if transcript else "",
            moment,
            self._first_day(row, message.transcript),
            number in self._marks,
            span[1] - span[0] if span else None,
            lambda: "".join(self._projection.body_blocks(self._rows, row)),
        )

    def _first_day(self, row: int, transcript: int) -> int:
        """Return midnight before the first time in a transcript, searching up to this row; 0 if there is no time."""
        while transcript not in self._days and self._has_day_of <= row:
            at, self._has_day_of = self._has_day_of, self._has_day_of + 1
            if self._rows.kind(at) is RowKind.MESSAGE:
                message = self._projection.unread(self._rows, at)
                moment = _milliseconds(message.time)
                if moment is not None:
                    self._days.setdefault(message.transcript, moment - moment % _DAY)
        return self._days.get(transcript, 0)


def _milliseconds(time: str | None) -> int | None:
    return int(datetime.fromisoformat(time).timestamp() * 1000) if time else None


class _Test:
    """Tests facts against a filter. The body is read only after all other tests."""

    def __init__(self, filter: Filter) -> None:
        self._terms = sorted(filter.terms, key=lambda term: term.field is None)
        self._words = {
            term.words: re.compile(re.escape(term.words), re.IGNORECASE if term.words == term.words.lower() else 0)
            for term in filter.terms
            if term.field is None
        }
        pattern = filter.pattern
        self._regex = filter_regex(pattern) if pattern else None

    def asks(self, *names: str) -> bool:
        """True if the filter uses one of these fields."""
        return any(term.field is not None and term.field.name in names for term in self._terms)

    def __call__(self, facts: Facts) -> bool:
        if self._regex is not None:
            return next(iter(self._regex.spans(facts.text(), 0)), None) is not None
        return all(self._holds(term, facts) != term.is_negated for term in self._terms)

    def _holds(self, term: Term, facts: Facts) -> bool:
        if term.field is None:
            return self._words[term.words].search(facts.text()) is not None
        return has_value(term, term.field, _VALUES[term.field.name](facts), facts.first_day)


def has_value(term: Term, field: Field, values: Values, first_day: int = 0) -> bool:
    """True if one of these values matches one of the term's choices."""
    return any(_is_value(term, field, value, choice, first_day) for value in values for choice in term.choices)


def _is_value(term: Term, field: Field, value: str | float, choice: Choice, first_day: int) -> bool:
    if isinstance(value, str):
        value = value if field.is_cased else value.casefold()
        return _is_like(choice.text, value) if choice.is_pattern else value == choice.text
    base = first_day if choice.is_of_day else 0
    return _COMPARISONS[term.operator](value, choice.low + base, choice.high + base)


def _is_like(pattern: str, text: str) -> bool:
    """True if the text matches a pattern with `*` and `?`. The time is at most proportional to the product of both
    lengths."""
    at = place = 0
    star, mark = -1, 0
    while at < len(text):
        if place < len(pattern) and pattern[place] == "*":
            star, mark = place, at
            place += 1
        elif place < len(pattern) and pattern[place] in ("?", text[at]):
            at += 1
            place += 1
        elif star >= 0:
            place, mark = star + 1, mark + 1
            at = mark
        else:
            return False
    return all(char == "*" for char in pattern[place:])


def given(*values: str | float | None) -> Values:
    """Return these values without None and empty strings."""
    return [value for value in values if value is not None and value != ""]


def _tools(facts: Facts) -> Values:
    for call in facts.calls:
        yield call.tool
        yield call.tool.removeprefix("functions.")


def _states(facts: Facts) -> Iterator[str]:
    message = facts.message
    yield "shown" if message.visible else "hidden"
    if message.ending == "open":
        yield "open"
    if message.intent == "preamble":
        yield "preamble"
    if facts.is_marked:
        yield "marked"
    yield from (problem.severity for problem in facts.problems if problem.severity != "info")
    yield from (call.state for call in facts.calls)
    if any(call.inferred for call in facts.calls):
        yield "inferred"


def _possessions(facts: Facts) -> Iterator[str]:
    message = facts.message
    if any(problem.severity != "info" for problem in facts.problems):
        yield "problem"
    if message.time is not None:
        yield "time"
    if message.content_type == "json" or message.constrained or message.is_value:
        yield "json"
    if facts.calls:
        number = facts.message.number
        yield from ("call" if call.call == number else "reply" for call in facts.calls)


_VALUES: dict[str, Callable[[Facts], Values]] = {
    "role": lambda facts: given(facts.message.role),
    "channel": lambda facts: given(facts.message.channel, facts.message.channel_given),
    "msg": lambda facts: [facts.message.number],
    "turn": lambda facts: [facts.message.turn],
    "transcript": lambda facts: [facts.message.transcript],
    "time": lambda facts: given(facts.time),
    "is": _states,
    "has": _possessions,
    "code": lambda facts: [problem.code for problem in facts.problems],
    "severity": lambda facts: [problem.severity for problem in facts.problems],
    "to": lambda facts: given(facts.message.recipient),
    "from": lambda facts: given(facts.message.name or facts.message.role),
    "name": lambda facts: given(facts.message.name),
    "intent": lambda facts: given(facts.message.intent),
    "tool": _tools,
    "call": lambda facts: given(facts.message.call_id, *(call.call_id for call in facts.calls)),
    "state": lambda facts: [call.state for call in facts.calls],
    "latency": lambda facts: given(*(call.latency_ms for call in facts.calls)),
    "deadline": lambda facts: given(*(call.deadline_ms for call in facts.calls)),
    "bytes": lambda facts: given(facts.size),
    "line": lambda facts: given(facts.message.line),
    "file": lambda facts: [facts.file, facts.file.rsplit("/", 1)[-1]],
    "model": lambda facts: given(facts.model),
    "format": lambda facts: [facts.format],
}
"""For each field, a function that returns its values."""
