"""The filter language: `role:assistant latency>2s -is:hidden "words"`; its grammar, its fields, and the predicate.

A filter is evaluated on the messages of a projection and on nothing else. Whether an audience may use it depends on the
filter alone, and is decided before anything is read."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from enum import Enum

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.document.regex import Regex, RegexError
from viewer.document.rows import MessageSet, RowKind, Rows
from viewer.document.values import ShownCall, ShownDiagnostic, ShownMessage
from viewer.errors import Excerpt, ViewerError
from viewer.index.calls import CallState
from viewer.model.visibility import Audience, Reveal
from viewer.rules import RULES

LONGEST = 4096
"""Bytes."""
MOST_TERMS = 64
ANY = "any"
"""The need of a field that any reveal grants."""
_DAY = 86_400_000
_SLICE_SECONDS = 60.0
_CHANGING = ("is", "has", "code", "severity", "tool", "call", "state", "latency", "deadline")
"""Fields whose values a later message may change."""
_PATTERN_SIGNS = ("/", "re:")
Values = Iterable[str | float]


class FieldKind(Enum):
    """What the values of a field are."""

    NAME = "name"
    WORD = "word"
    NUMBER = "number"
    SIZE = "size"
    DURATION = "duration"
    TIME = "time"


class Field(Struct, frozen=True):
    """One row of the table of fields."""

    name: str
    kind: FieldKind
    matches: str
    """What it matches, for the documentation."""
    needs: str = ""
    """The kind that must be revealed, `any` for any of them; empty if the safe view allows the field."""
    of_values: Mapping[str, str] = {}
    """The needs of these values, if they differ."""
    words: tuple[str, ...] = ()
    """All values, if there are no others."""
    is_cased: bool = False
    """True if upper and lower case differ."""

    def need(self, value: str) -> str:
        """What must be revealed for this value."""
        return self.of_values.get(value.casefold(), self.needs)


_STATES = tuple(state.value for state in CallState)
_IS = ("shown", "hidden", "open", "preamble", "marked", "error", "warning", "inferred", *_STATES)
_SAFE_IS = ("shown", "open", "preamble", "marked", "error", "warning")

FIELDS = {
    field.name: field
    for field in (
        Field(
            "role",
            FieldKind.NAME,
            "the role: `role:user,assistant`",
            ANY,
            {"user": "", "assistant": "", "system": "system", "developer": "developer", "tool": "tool"},
        ),
        Field(
            "channel",
            FieldKind.NAME,
            "the channel: `channel:final`",
            ANY,
            {"final": "", "commentary": "", "analysis": "analysis"},
        ),
        Field("msg", FieldKind.NUMBER, "the number of the message: `msg>100`"),
        Field("turn", FieldKind.NUMBER, "the turn: `turn:3..5`"),
        Field("transcript", FieldKind.NUMBER, "the transcript of the input: `transcript:10..20`"),
        Field("time", FieldKind.TIME, "the time in UTC: `time>10:02` (of the first day), `time:2026-11-22..`"),
        Field(
            "is",
            FieldKind.WORD,
            "what the message is, or the state of its call: `is:open`, `is:failed`",
            "tool",
            dict.fromkeys(_SAFE_IS, "") | {"hidden": ANY},
            _IS,
        ),
        Field(
            "has",
            FieldKind.WORD,
            "what it has: `has:problem`",
            "tool",
            {"problem": "", "time": "", "json": ANY},
            ("problem", "time", "json", "call", "reply"),
        ),
        Field("code", FieldKind.NAME, "the code of a problem of the message: `code:E-*`"),
        Field("severity", FieldKind.WORD, "its severity: `severity:error`", words=("error", "warning", "info")),
        Field("to", FieldKind.NAME, "the recipient: `to:functions.*`", ANY),
        Field("from", FieldKind.NAME, "the sender: the name, or else the role", ANY),
        Field("name", FieldKind.NAME, "the name in the header", ANY),
        Field("intent", FieldKind.NAME, "the intent: `intent:preamble`", ANY),
        Field("tool", FieldKind.NAME, "the tool of a call or reply, with or without `functions.`", "tool"),
        Field("call", FieldKind.NAME, "the call id", "tool", is_cased=True),
        Field("state", FieldKind.WORD, "the state of a call: `state:failed,timeout`", "tool", words=_STATES),
        Field("latency", FieldKind.DURATION, "the time from call to reply: `latency>2s`", "tool"),
        Field("deadline", FieldKind.DURATION, "the deadline of a call: `deadline<10s`", "tool"),
        Field("bytes", FieldKind.SIZE, "the size of the body: `bytes>10kb`", ANY),
        Field("line", FieldKind.NUMBER, "the line of the file where the message begins", ANY),
        Field("file", FieldKind.NAME, "the name of the file: `file:*.jsonl`", is_cased=True),
        Field("model", FieldKind.NAME, "the model that the transcript names", is_cased=True),
        Field("format", FieldKind.NAME, "the format of the transcript"),
    )
}
"""The table of all fields."""

OF_PROBLEMS = frozenset({"code", "severity", "msg", "transcript", "line", "file", "format", "model"})
"""Fields of what `check` prints of any message, hidden or not."""
_WORDS_OF_PROBLEMS = frozenset({"error", "warning"})
_UNITS = {
    FieldKind.SIZE: {"": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000},
    FieldKind.DURATION: {"": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000},
}
_EXAMPLES = {
    FieldKind.NUMBER: "write 5, 3..5 or ..5",
    FieldKind.SIZE: "write 500, 10kb or 2mb",
    FieldKind.DURATION: "write 500ms, 2s, 3m or 1h",
    FieldKind.TIME: "write 10:02, 2026-11-22 or 2026-11-22T10:02",
}
_COMPARISONS: dict[str, Callable[[float, float, float], bool]] = {
    "<": lambda value, low, high: value < low,
    "<=": lambda value, low, high: value <= high,
    ">": lambda value, low, high: value > low,
    ">=": lambda value, low, high: value >= low,
    "=": lambda value, low, high: low <= value <= high,
    ":": lambda value, low, high: low <= value <= high,
}
"""Each compares with the first and the last moment of a value; those of a number are the same."""
_FIELD = re.compile(r"([A-Za-z_]+)(<=|>=|<|>|=|:)")
_ESCAPED = re.compile(r"\\.")
_BARE = re.compile(r"\S+")
_NUMBER = re.compile(r"[0-9]{1,15}")
_MEASURE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([a-z]*)")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[Zz]?)?")


class FilterError(ViewerError):
    """A filter that cannot be read, with the place of the fault."""

    excerpt: Excerpt

    def __init__(self, sentence: str, source: str, column: int, length: int, *, is_incomplete: bool = False) -> None:
        super().__init__(f"filter, column {column + 1}: {sentence}")
        self.sentence = sentence
        self.excerpt = Excerpt(source, column, max(1, length))
        self.is_incomplete = is_incomplete
        """True if the end of the last term is missing: it may be typed next."""


class Choice(Struct, frozen=True):
    """One value of a term."""

    text: str = ""
    is_pattern: bool = False
    """True if `*` and `?` are wildcards."""
    low: float = 0
    high: float = 0
    """The limits of a number; those of a time are milliseconds since 1970, or since midnight."""
    is_of_day: bool = False
    """True for a time without a date."""


class Term(Struct, frozen=True):
    """One term: a field with its values, or words."""

    column: int
    length: int
    is_negated: bool
    field: Field | None = None
    operator: str = ":"
    choices: tuple[Choice, ...] = ()
    words: str = ""
    """The words, if it has no field."""


class Filter(Struct, frozen=True):
    """A filter: all its terms must match. Without terms, everything does."""

    source: str
    terms: tuple[Term, ...] = ()
    pattern: str | None = None
    """A regular expression over the text, in place of terms."""

    @property
    def searched(self) -> str | None:
        """The text of a search for the same, if the filter is a pattern or nothing but words."""
        if self.pattern is not None:
            return self.source.strip()
        if len(self.terms) != 1 or self.terms[0].field is not None or self.terms[0].is_negated:
            return None
        words = self.terms[0].words
        return f"\\{words}" if words.startswith(_PATTERN_SIGNS) else words

    def missing(self, audience: Audience) -> tuple[Term, str, str] | None:
        """The first term that needs more than the audience reveals, its words, and what it needs."""
        for term in self.terms:
            for words, need in _needs(term):
                if not _is_granted(need, audience):
                    return term, words, need
        return None

    def refusal(self, audience: Audience, *, of_problems: bool = False) -> FilterError | None:
        """Why this audience may not use the filter. With `of_problems`, it selects problems, whose places are printed
        anyway."""
        if of_problems and all(_is_of_problems(term) for term in self.terms) and self.pattern is None:
            return None
        if of_problems and audience.is_safe:
            term = next((term for term in self.terms if not _is_of_problems(term)), None)
            column, length = (term.column, term.length) if term else (0, len(self.source))
            return FilterError("text and hidden facts need --reveal all", self.source, column, length)
        found = self.missing(audience)
        if found is None:
            return None
        term, words, need = found
        wanted = "-d, or --reveal with a list of kinds" if need == ANY else f"--reveal {need}"
        return FilterError(f'"{words}" needs {wanted}', self.source, term.column, term.length)


def _needs(term: Term) -> Iterator[tuple[str, str]]:
    """The words of what needs something, and what."""
    if term.field is None:
        return
    for choice in term.choices:
        text = choice.text if term.field.of_values and not choice.is_pattern else ""
        need = term.field.need(text) if text else term.field.needs
        yield (f"{term.field.name}:{text}" if text else term.field.name), need


def _is_granted(need: str, audience: Audience) -> bool:
    if not need:
        return True
    return not audience.is_safe if need == ANY else audience.reveals(Reveal(need))


def _is_of_problems(term: Term) -> bool:
    if term.field is None:
        return False
    is_state = term.field.name == "is" and all(choice.text in _WORDS_OF_PROBLEMS for choice in term.choices)
    return term.field.name in OF_PROBLEMS or is_state


# Grammar.


def parse(source: str, *, has_marks: bool = False) -> Filter:
    """Read a filter. Only the viewer has marks."""
    if len(source.encode("utf-8", "surrogatepass")) > LONGEST:
        raise FilterError(f"a filter has at most {LONGEST:,} bytes", source, 0, 1)
    if source.lstrip().startswith(_PATTERN_SIGNS):
        return Filter(source, pattern=_pattern(source))
    terms = tuple(_Parser(source, has_marks=has_marks).terms())
    if len(terms) > MOST_TERMS:
        last = terms[MOST_TERMS]
        raise FilterError(f"a filter has at most {MOST_TERMS} terms", source, last.column, last.length)
    _refuse_two_equals(source, terms)
    return Filter(source, terms)


def _pattern(source: str) -> str | None:
    sign = next(sign for sign in _PATTERN_SIGNS if source.lstrip().startswith(sign))
    pattern = source.lstrip().removeprefix(sign)
    if not pattern:
        return None
    try:
        _regex(pattern)
    except RegexError as error:
        raise FilterError(error.sentence, source, source.index(sign) + len(sign), len(pattern)) from None
    return pattern


def _regex(pattern: str) -> Regex:
    """Case matters only if there is a capital letter."""
    plain = _ESCAPED.sub("", pattern)
    return Regex(pattern, plain == plain.lower())


def _refuse_two_equals(source: str, terms: tuple[Term, ...]) -> None:
    seen: set[str] = set()
    for term in terms:
        if term.field is None or term.operator != "=" or term.is_negated:
            continue
        if term.field.name in seen:
            raise FilterError(f'"{term.field.name}=" is there twice', source, term.column, term.length)
        seen.add(term.field.name)


class _Parser:
    """Reads one filter from left to right."""

    def __init__(self, source: str, *, has_marks: bool) -> None:
        self._source = source
        self._at = 0
        self._has_marks = has_marks

    def terms(self) -> Iterator[Term]:
        """All terms."""
        while self._skip_space():
            yield self._term()

    def _skip_space(self) -> bool:
        while self._at < len(self._source) and self._source[self._at].isspace():
            self._at += 1
        return self._at < len(self._source)

    def _term(self) -> Term:
        start, source = self._at, self._source
        is_negated = source[start] == "-" and start + 1 < len(source) and not source[start + 1].isspace()
        self._at += is_negated
        if source[self._at] == '"':
            words = self._quoted()
            return Term(start, self._at - start, is_negated, words=words)
        found = _FIELD.match(source, self._at)
        if found is None:
            words = self._bare_words(is_phrase=not is_negated)
            return Term(start, self._at - start, is_negated, words=words)
        field = self._field(found)
        self._at = found.end()
        choices = tuple(self._choices(field, found[2]))
        return Term(start, self._at - start, is_negated, field, found[2], choices)

    def _bare_words(self, *, is_phrase: bool) -> str:
        """A word and the bare words after it, which form one phrase."""
        start = end = self._at
        while self._skip_space() or end == start:
            is_bare = self._source[self._at] not in '"-' and not _FIELD.match(self._source, self._at)
            found = _BARE.match(self._source, self._at)
            if found is None or (end > start and not (is_bare and is_phrase)):
                break
            self._at = end = found.end()
        self._at = end
        return self._source[start:end]

    def _field(self, found: re.Match[str]) -> Field:
        name = found[1].casefold()
        field = FIELDS.get(name)
        if field is not None:
            return field
        word = _BARE.match(self._source, found.start())
        assert word is not None
        near = get_close_matches(name, FIELDS, 1, 0.6)
        advice = f'did you mean "{near[0]}"?' if near else f'to search for the words, quote them: "{word[0]}"'
        raise self._error(f'unknown field "{found[1]}"; {advice}', found.start(), len(found[1]))

    def _choices(self, field: Field, operator: str) -> Iterator[Choice]:
        is_word = field.kind in (FieldKind.NAME, FieldKind.WORD)
        if is_word and operator not in ":=":
            at = self._at - len(operator)
            raise self._error(f'"{field.name}" takes ":", not "{operator}"', at, len(operator))
        while True:
            start = self._at
            is_quoted = self._source.startswith('"', start)
            text = self._quoted() if is_quoted else self._value(is_list=operator == ":")
            if not text:
                is_end = start >= len(self._source)
                raise self._error(f'"{field.name}{operator}" lacks a value', start, 1, is_incomplete=is_end)
            yield self._choice(field, operator, text, start, is_quoted=is_quoted)
            if operator != ":" or not self._source.startswith(",", self._at):
                break
            self._at += 1
        rest = _BARE.match(self._source, self._at)
        if rest is not None:
            raise self._error("there is text after the quoted value", self._at, len(rest[0]))

    def _value(self, *, is_list: bool) -> str:
        start = self._at
        while self._at < len(self._source):
            char = self._source[self._at]
            if char.isspace() or (is_list and char == ","):
                break
            self._at += 1
        return self._source[start : self._at]

    def _quoted(self) -> str:
        start = self._at
        chars: list[str] = []
        self._at += 1
        while self._at < len(self._source):
            char = self._source[self._at]
            self._at += 1
            if char == '"':
                return "".join(chars)
            if char == "\\" and self._source[self._at : self._at + 1] in ('"', "\\"):
                char = self._source[self._at]
                self._at += 1
            chars.append(char)
        raise self._error('a quote is not closed; end it with "', start, len(self._source) - start, is_incomplete=True)

    def _choice(self, field: Field, operator: str, text: str, start: int, *, is_quoted: bool) -> Choice:
        if field.kind is FieldKind.NAME:
            is_pattern = not is_quoted and ("*" in text or "?" in text)
            if field.name == "code" and not is_pattern:
                self._check_word(text.upper(), RULES, "code", start)
            return Choice(text if field.is_cased else text.casefold(), is_pattern)
        if field.kind is FieldKind.WORD:
            word = text.casefold()
            self._check_word(word, field.words, f"value of {field.name}", start)
            if word == "marked" and not self._has_marks:
                raise self._error("only the viewer has marks", start, len(text))
            return Choice(word)
        if operator != ":" or ".." not in text:
            return self._measure(field, text, start)
        first, _, last = text.partition("..")
        if not first and not last:
            raise self._error("a range has at least one end", start, len(text))
        low = self._measure(field, first, start) if first else None
        high = self._measure(field, last, start + len(first) + 2) if last else None
        if low and high and low.is_of_day != high.is_of_day:
            raise self._error("both ends of a range have a date, or none has", start, len(text))
        if low and high and low.low > high.high:
            raise self._error("the range is empty: it ends before it begins", start, len(text))
        known = low or high
        assert known is not None
        return Choice(
            "", False, low.low if low else float("-inf"), high.high if high else float("inf"), known.is_of_day
        )

    def _check_word(self, word: str, known: Iterable[str], what: str, start: int) -> None:
        if word in known:
            return
        near = get_close_matches(word, known, 1, 0.6)
        advice = f'did you mean "{near[0]}"?' if near else "`ocmlview explain` lists all codes"
        if not near and what != "code":
            advice = f"use {', '.join(known)}"
        raise self._error(f'unknown {what} "{word}"; {advice}', start, len(word))

    def _measure(self, field: Field, text: str, start: int) -> Choice:
        """The limits of a number, a size, a duration, or a time."""
        found = _time(text) if field.kind is FieldKind.TIME else _amount(field.kind, text.lower())
        if found is None:
            raise self._error(f'"{text}" is not a {field.kind.value}; {_EXAMPLES[field.kind]}', start, len(text))
        return found

    def _error(self, sentence: str, column: int, length: int, *, is_incomplete: bool = False) -> FilterError:
        return FilterError(sentence, self._source, column, length, is_incomplete=is_incomplete)


def _amount(kind: FieldKind, text: str) -> Choice | None:
    if kind is FieldKind.NUMBER:
        return Choice("", False, int(text), int(text)) if _NUMBER.fullmatch(text) else None
    found = _MEASURE.fullmatch(text)
    if found is None or found[2] not in _UNITS[kind]:
        return None
    value = float(found[1]) * _UNITS[kind][found[2]]
    return Choice("", False, value, value)


def _time(text: str) -> Choice | None:
    """The first and the last millisecond of a day, a minute, or a second."""
    clock, date = _CLOCK.fullmatch(text), _DATE.fullmatch(text)
    try:
        if clock:
            hours, minutes, seconds = int(clock[1]), int(clock[2]), int(clock[3] or 0)
            if hours > 23 or minutes > 59 or seconds > 59:
                return None
            low = ((hours * 60 + minutes) * 60 + seconds) * 1000
            return Choice("", False, low, low + (1000 if clock[3] else 60_000) - 1, True)
        if date:
            parts = [int(part or 0) for part in date.groups()]
            at = datetime(parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], tzinfo=UTC)
            low = int(at.timestamp()) * 1000
            unit = timedelta(days=1) if not date[4] else timedelta(seconds=1 if date[6] else 60)
            return Choice("", False, low, low + unit.total_seconds() * 1000 - 1)
    except ValueError:  # no such day
        pass
    return None


# The predicate.


class Facts(Struct, frozen=True):
    """What a filter may ask of one message: facts that its audience sees."""

    message: ShownMessage
    problems: list[ShownDiagnostic]
    calls: list[ShownCall]
    file: str
    model: str | None
    format: str
    time: int | None
    """Milliseconds since 1970."""
    first_day: int
    """The midnight before the first shown message of the transcript."""
    is_marked: bool
    size: int | None
    text: Callable[[], str]
    """Reads the body."""


def matching(
    filter: Filter, projection: Projection, file: str, marks: Iterable[int] = (), rows: Rows | None = None
) -> MessageSet:
    """The messages of a projection that match; numbers are those of the input."""
    found = Matching(filter, projection, file, marks, rows or projection.rows())
    while found.step(_SLICE_SECONDS):
        pass
    return found.messages()


class Matching:
    """The messages that match, found in slices, and again where rows are new or may have changed."""

    def __init__(self, filter: Filter, projection: Projection, file: str, marks: Iterable[int], rows: Rows) -> None:
        self._test = _Test(filter)
        self._projection, self._file, self._marks, self._rows = projection, file, frozenset(marks), rows
        self._row = 0
        self._found: list[tuple[int, int]] = []
        """The rows that match, and their messages."""
        self._reader: _FactReader | None = None

    @property
    def progress(self) -> float:
        """The share of the rows that were tested."""
        return self._row / max(1, len(self._rows))

    def step(self, seconds: float) -> bool:
        """Test rows for about this time; True if there are more."""
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
        """Test the rows from this one on again; all of them if the filter asks for calls or problems, which later
        rows may change."""
        self._reader = None
        self._row = 0 if self._test.asks(*_CHANGING) else min(self._row, changed_row)
        while self._found and self._found[-1][0] >= self._row:
            self._found.pop()

    def messages(self) -> MessageSet:
        """The messages that match so far."""
        return MessageSet(number for _, number in self._found)

    def close(self) -> None:
        """Do nothing: nothing runs in the background."""


class _FactReader:
    """Reads the facts of rows, in order."""

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
        """The first day of each transcript."""
        self._has_day_of = 0
        """The number of rows whose days are known."""

    def of(self, row: int) -> Facts:
        """The facts of the message of a row."""
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
        """The midnight before the first time of a transcript, up to this row."""
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
    """A filter as a function of facts. Text is read last."""

    def __init__(self, filter: Filter) -> None:
        self._terms = sorted(filter.terms, key=lambda term: term.field is None)
        self._words = {
            term.words: re.compile(re.escape(term.words), re.IGNORECASE if term.words == term.words.lower() else 0)
            for term in filter.terms
            if term.field is None
        }
        pattern = filter.pattern
        self._regex = _regex(pattern) if pattern else None

    def asks(self, *names: str) -> bool:
        """True if one of these fields is asked for."""
        return any(term.field is not None and term.field.name in names for term in self._terms)

    def __call__(self, facts: Facts) -> bool:
        if self._regex is not None:
            return next(iter(self._regex.spans(facts.text(), 0)), None) is not None
        return all(self._holds(term, facts) != term.is_negated for term in self._terms)

    def _holds(self, term: Term, facts: Facts) -> bool:
        if term.field is None:
            return self._words[term.words].search(facts.text()) is not None
        return _has_value(term, term.field, _VALUES[term.field.name](facts), facts.first_day)


def _has_value(term: Term, field: Field, values: Values, first_day: int = 0) -> bool:
    """True if one of the values is one of those of the term."""
    return any(_is_value(term, field, value, choice, first_day) for value in values for choice in term.choices)


def _is_value(term: Term, field: Field, value: str | float, choice: Choice, first_day: int) -> bool:
    if isinstance(value, str):
        value = value if field.is_cased else value.casefold()
        return _is_like(choice.text, value) if choice.is_pattern else value == choice.text
    base = first_day if choice.is_of_day else 0
    return _COMPARISONS[term.operator](value, choice.low + base, choice.high + base)


def _is_like(pattern: str, text: str) -> bool:
    """True if a text matches a pattern with `*` and `?`, in a time that no pattern makes long."""
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


def _given(*values: str | float | None) -> Values:
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
    "role": lambda facts: [facts.message.role],
    "channel": lambda facts: _given(facts.message.channel, facts.message.channel_given),
    "msg": lambda facts: [facts.message.number],
    "turn": lambda facts: [facts.message.turn],
    "transcript": lambda facts: [facts.message.transcript],
    "time": lambda facts: _given(facts.time),
    "is": _states,
    "has": _possessions,
    "code": lambda facts: [problem.code for problem in facts.problems],
    "severity": lambda facts: [problem.severity for problem in facts.problems],
    "to": lambda facts: _given(facts.message.recipient),
    "from": lambda facts: _given(facts.message.name or facts.message.role),
    "name": lambda facts: _given(facts.message.name),
    "intent": lambda facts: _given(facts.message.intent),
    "tool": _tools,
    "call": lambda facts: _given(facts.message.call_id, *(call.call_id for call in facts.calls)),
    "state": lambda facts: [call.state for call in facts.calls],
    "latency": lambda facts: _given(*(call.latency_ms for call in facts.calls)),
    "deadline": lambda facts: _given(*(call.deadline_ms for call in facts.calls)),
    "bytes": lambda facts: _given(facts.size),
    "line": lambda facts: _given(facts.message.line),
    "file": lambda facts: [facts.file, facts.file.rsplit("/", 1)[-1]],
    "model": lambda facts: _given(facts.model),
    "format": lambda facts: [facts.format],
}
"""The values of each field."""


# Problems.


class ProblemFacts(Struct, frozen=True):
    """What `check` prints of a problem."""

    code: str
    severity: str
    message: int | None
    transcript: int
    line: int
    file: str
    format: str
    model: str | None


_OF_PROBLEMS: dict[str, Callable[[ProblemFacts], Values]] = {
    "code": lambda facts: [facts.code],
    "severity": lambda facts: [facts.severity],
    "is": lambda facts: [facts.severity],
    "msg": lambda facts: _given(facts.message),
    "transcript": lambda facts: [facts.transcript],
    "line": lambda facts: [facts.line],
    "file": lambda facts: [facts.file, facts.file.rsplit("/", 1)[-1]],
    "format": lambda facts: [facts.format],
    "model": lambda facts: _given(facts.model),
}


def is_problem_wanted(filter: Filter, facts: ProblemFacts, messages: MessageSet | None) -> bool:
    """True if a problem matches: its own facts do, and all other terms match its message, which is one of these."""
    is_of_message = messages is not None and facts.message is not None and facts.message in messages
    is_found = filter.pattern is None or is_of_message
    return is_found and all(_wants(term, facts, is_of_message) for term in filter.terms)


def _wants(term: Term, facts: ProblemFacts, is_of_message: bool) -> bool:
    if term.field is None or not _is_of_problems(term):
        return is_of_message
    return term.is_negated != _has_value(term, term.field, _OF_PROBLEMS[term.field.name](facts))


def without_problems(filter: Filter) -> Filter:
    """The filter with the terms that ask about messages only."""
    return Filter(filter.source, tuple(term for term in filter.terms if not _is_of_problems(term)), filter.pattern)


# Completion.


def completions(source: str, values: Callable[[str], Iterable[str]] = lambda field: ()) -> list[str]:
    """How the last term may go on: names of fields, or values of its field; each replaces the whole text."""
    last = re.search(r"\S*\Z", source)
    assert last is not None
    before, term = source[: last.start()], last[0]
    sign = "-" if term.startswith("-") else ""
    found = _FIELD.match(term, len(sign))
    if found is None:
        typed = term[len(sign) :].casefold()
        return [f"{before}{sign}{name}:" for name in FIELDS if typed and name.startswith(typed)]
    field = FIELDS.get(found[1].casefold())
    if field is None:
        return []
    listed = term[found.end() :].rfind(",") + 1 + found.end()
    known = dict.fromkeys((*field.words, *field.of_values, *values(field.name)))
    return [f"{before}{term[:listed]}{value}" for value in known if value.startswith(term[listed:])]
