"""Parser for the filter language. Reports the column of an error, and completes the last term."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches

from viewer.cache import lazy_regex
from viewer.document.filter.fields import FIELDS, Field, FieldKind
from viewer.document.filter.tree import PATTERN_SIGNS, Choice, Filter, FilterError, Term
from viewer.document.search.regex import Regex, RegexError
from viewer.rules import RULES

LONGEST = 4096
"""The maximum length of a filter in bytes."""
MOST_TERMS = 64
_UNITS = {
    FieldKind.SIZE: {"": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000},
    FieldKind.DURATION: {"": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000},
}
_EXAMPLES = {
    FieldKind.NUMBER: "write 5, 3..5, or ..5",
    FieldKind.SIZE: "write 500, 10kb, or 2mb",
    FieldKind.DURATION: "write 500ms, 2s, 3m, or 1h",
    FieldKind.TIME: "write 10:02, 2026-11-22, or 2026-11-22T10:02",
}
_FIELD = lazy_regex(r"([A-Za-z_]+)(<=|>=|<|>|=|:)")
_ESCAPED = lazy_regex(r"\\.")
_BARE = lazy_regex(r"\S+")
_NUMBER = lazy_regex(r"[0-9]{1,15}")
_MEASURE = lazy_regex(r"([0-9]{1,15}(?:\.[0-9]{1,6})?)([a-z]*)")
_CLOCK = lazy_regex(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")
_DATE = lazy_regex(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?[Zz]?)?")


def parse(source: str, *, has_marks: bool = False) -> Filter:
    """Parse a filter. Raise FilterError if it is invalid. `has_marks` is true only in the viewer, which has marks."""
    if len(source.encode("utf-8", "surrogatepass")) > LONGEST:
        raise FilterError(f"a filter has at most {LONGEST:,} bytes", source, 0, 1)
    if source.lstrip().startswith(PATTERN_SIGNS):
        return Filter(source, pattern=_pattern(source))
    terms = tuple(_Parser(source, has_marks=has_marks).terms())
    if len(terms) > MOST_TERMS:
        last = terms[MOST_TERMS]
        raise FilterError(f"a filter has at most {MOST_TERMS} terms", source, last.column, last.length)
    _refuse_two_equals(source, terms)
    return Filter(source, terms)


def _pattern(source: str) -> str | None:
    sign = next(sign for sign in PATTERN_SIGNS if source.lstrip().startswith(sign))
    pattern = source.lstrip().removeprefix(sign)
    if not pattern:
        return None
    try:
        filter_regex(pattern)
    except RegexError as error:
        raise FilterError(error.sentence, source, source.index(sign) + len(sign), len(pattern)) from None
    return pattern


def _refuse_two_equals(source: str, terms: tuple[Term, ...]) -> None:
    seen: set[str] = set()
    for term in terms:
        if term.field is None or term.operator != "=" or term.is_negated:
            continue
        if term.field.name in seen:
            raise FilterError(f'"{term.field.name}=" appears twice', source, term.column, term.length)
        seen.add(term.field.name)


class _Parser:
    """Reads one filter from left to right."""

    def __init__(self, source: str, *, has_marks: bool) -> None:
        self._source = source
        self._at = 0
        self._has_marks = has_marks

    def terms(self) -> Iterator[Term]:
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
        """Return a bare word or, with `is_phrase`, the phrase of this word and the bare words after it."""
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
            raise self._error(f'"{field.name}" needs ":", not "{operator}"', at, len(operator))
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
            raise self._error("unexpected text after the quoted value", self._at, len(rest[0]))

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
        raise self._error('unclosed quote; end it with "', start, len(self._source) - start, is_incomplete=True)

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
            raise self._error("a range needs a start or an end", start, len(text))
        low = self._measure(field, first, start) if first else None
        high = self._measure(field, last, start + len(first) + 2) if last else None
        if low and high and low.is_of_day != high.is_of_day:
            raise self._error("use a date at both ends of a range, or at neither", start, len(text))
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
        """Return the bounds of a number, a size, a duration, or a time."""
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
    """Return the first and last millisecond of a day, a minute, or a second; None if the text names none of these."""
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
    except ValueError:  # there is no such day
        pass
    return None


def filter_regex(pattern: str) -> Regex:
    """Compile the pattern of a filter. The search is case-sensitive only if the pattern has a capital letter outside
    escapes."""
    plain = _ESCAPED.sub("", pattern)
    return Regex(pattern, plain == plain.lower())


def completions(source: str, values: Callable[[str], Iterable[str]] = lambda field: ()) -> list[str]:
    """Return completions of the last term: field names, or values of its field. Each one replaces the whole filter."""
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
