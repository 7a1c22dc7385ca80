"""Compile a filter to a SQL condition over the tables of a scan. Values become parameters, never part of the query."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from viewer.corpus.tables import Contents
from viewer.document.filter.fields import FieldKind
from viewer.document.filter.grammar import filter_regex
from viewer.document.filter.tree import Choice, Filter, FilterError, Term

_DAY = 86_400_000


class Condition(Struct, frozen=True):
    """A condition on a row `m` of the view `messages` and its row `f` of `files`."""

    sql: str
    parameters: dict[str, Any]


_FIRST_DAY = (
    f"coalesce((select arg_min(x.time_ms - x.time_ms % {_DAY}, x.message) from messages x where x.file_key = m.file_key"
    " and x.transcript = m.transcript and x.time_ms is not null), 0)"
)
_OF_MESSAGE = {"d": "d.message = m.message", "c": "m.message in (c.call, c.reply)"}
_TABLES = {"d": "diagnostics d", "c": "calls c"}

_TEXTS: dict[str, tuple[str, ...]] = {
    "role": ("nullif(m.role, '')",),
    "channel": ("nullif(m.channel, '')", "nullif(m.channel_given, '')"),
    "to": ("nullif(m.recipient, '')",),
    "from": ("coalesce(nullif(m.name, ''), nullif(m.role, ''))",),
    "name": ("nullif(m.name, '')",),
    "intent": ("nullif(m.intent, '')",),
    "file": ("f.path", "split_part(f.path, '/', -1)"),
    "model": ("nullif(m.model, '')",),
    "format": ("m.format",),
    "code": ("d.code",),
    "severity": ("d.severity",),
    "tool": ("c.tool", "regexp_replace(c.tool, '^functions\\.', '')"),
    "call": ("nullif(m.call_id, '')", "nullif(c.call_id, '')"),
    "state": ("c.state",),
}
"""The SQL expressions for each field that has names or words as values."""
_NUMBERS = {
    "msg": "m.message",
    "turn": "m.turn",
    "transcript": "m.transcript",
    "time": "m.time_ms",
    "latency": "c.latency_ms",
    "deadline": "c.deadline_ms",
    "bytes": "m.bytes",
    "line": "m.line",
}
_SEVERE = "select 1 from diagnostics d where d.file_key = m.file_key and d.message = m.message and d.severity"
_CALL = "select 1 from calls c where c.file_key = m.file_key and"
_WORDS = {
    "shown": "m.visible",
    "hidden": "not m.visible",
    "open": "m.ending = 'open'",
    "preamble": "m.preamble",
    "error": f"exists ({_SEVERE} = 'error')",
    "warning": f"exists ({_SEVERE} = 'warning')",
    "inferred": f"exists ({_CALL} {_OF_MESSAGE['c']} and c.inferred)",
    "problem": f"exists ({_SEVERE} <> 'info')",
    "time": "m.time_ms is not null",
    "json": "m.json",
    "call": f"exists ({_CALL} c.call = m.message)",
    "reply": f"exists ({_CALL} c.reply = m.message and c.call is distinct from m.message)",
}
"""The conditions for the values of `is` and `has`. Any other value of `is` is the state of a call."""


def compile_filter(filter: Filter, contents: Contents) -> Condition:
    """Return a condition for the matching messages. Raise FilterError if the tables lack what the filter needs."""
    refused = filter.refusal(contents.audience)
    if refused is not None:
        raise refused
    compiler = _Compiler()
    if filter.pattern is not None:
        _check_text(filter, contents, 0, len(filter.source))
        return Condition(compiler.pattern(filter.pattern), compiler.parameters)
    terms = []
    for term in filter.terms:
        if term.field is None:
            _check_text(filter, contents, term.column, term.length)
        terms.append(compiler.term(term))
    return Condition(" and ".join(terms) or "true", compiler.parameters)


def _check_text(filter: Filter, contents: Contents, column: int, length: int) -> None:
    if not contents.text:
        raise FilterError("these tables contain no text; scan again with --text", filter.source, column, length)


class _Compiler:
    """Compiles terms, and collects their parameters."""

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {}

    def _parameter(self, value: object) -> str:
        name = f"filter_{len(self.parameters)}"
        self.parameters[name] = value
        return f"${name}"

    def term(self, term: Term) -> str:
        """Return the condition for one term. A message without a value for its field matches only if the term is
        negated."""
        condition = self._words(term) if term.field is None else self._field(term)
        return f"{'not ' if term.is_negated else ''}coalesce({condition}, false)"

    def pattern(self, pattern: str) -> str:
        """Return the condition for a regular expression. An empty match does not count."""
        regex = filter_regex(pattern)
        found = f"regexp_extract_all(m.text, {self._parameter(regex.re2_pattern)}, 0)"
        return f"len(list_filter({found}, lambda x: x <> '')) > 0"

    def _words(self, term: Term) -> str:
        flag = "i" if term.words == term.words.lower() else "c"
        return f"regexp_matches(m.text, {self._parameter(re.escape(term.words))}, '{flag}')"

    def _field(self, term: Term) -> str:
        assert term.field is not None
        choices = [self._choice(term, choice) for choice in term.choices]
        return f"({' or '.join(choices)})"

    def _choice(self, term: Term, choice: Choice) -> str:
        assert term.field is not None
        name = term.field.name
        if name in ("is", "has"):
            known = _WORDS.get(choice.text)
            return known or _exists("c", f"c.state = {self._parameter(choice.text)}")
        if term.field.kind in (FieldKind.NAME, FieldKind.WORD):
            return " or ".join(
                _of_table(text, self._compare_text(text, choice, is_cased=term.field.is_cased)) for text in _TEXTS[name]
            )
        number = _NUMBERS[name]
        return _of_table(number, self._compare_number(number, term.operator, choice))

    def _compare_text(self, text: str, choice: Choice, *, is_cased: bool) -> str:
        value = text if is_cased else f"lower({text})"
        if not choice.is_pattern:
            return f"{value} = {self._parameter(choice.text)}"
        escaped = re.sub(r"([\\%_])", r"\\\1", choice.text).replace("*", "%").replace("?", "_")
        return f"{value} like {self._parameter(escaped)} escape '\\'"

    def _compare_number(self, number: str, operator: str, choice: Choice) -> str:
        value = f"({number} - {_FIRST_DAY})" if choice.is_of_day else number
        return _COMPARISONS[operator](self, value, choice)

    def _between(self, value: str, choice: Choice) -> str:
        ends = [
            f"{value} {sign} {self._parameter(end)}"
            for sign, end in ((">=", choice.low), ("<=", choice.high))
            if math.isfinite(end)
        ]
        return f"({' and '.join(ends)})"

    def _less(self, value: str, choice: Choice) -> str:
        return f"{value} < {self._parameter(choice.low)}"

    def _at_most(self, value: str, choice: Choice) -> str:
        return f"{value} <= {self._parameter(choice.high)}"

    def _more(self, value: str, choice: Choice) -> str:
        return f"{value} > {self._parameter(choice.high)}"

    def _at_least(self, value: str, choice: Choice) -> str:
        return f"{value} >= {self._parameter(choice.low)}"


_COMPARISONS: dict[str, Callable[[_Compiler, str, Choice], str]] = {
    ":": _Compiler._between,
    "=": _Compiler._between,
    "<": _Compiler._less,
    "<=": _Compiler._at_most,
    ">": _Compiler._more,
    ">=": _Compiler._at_least,
}


def _of_table(expression: str, condition: str) -> str:
    """Wrap a condition on the table that the expression names: true if any row of the message meets the condition."""
    for alias in _TABLES:
        if re.search(rf"\b{alias}\.", expression):
            return _exists(alias, condition)
    return f"coalesce({condition}, false)"


def _exists(alias: str, condition: str) -> str:
    key = f"{alias}.file_key = m.file_key and {_OF_MESSAGE[alias]}"
    return f"exists (select 1 from {_TABLES[alias]} where {key} and {condition})"
