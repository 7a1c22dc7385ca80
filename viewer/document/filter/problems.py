"""Filter problems by what `check` prints about them, or by their messages."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from viewer.document.filter.predicate import Values, given, has_value
from viewer.document.filter.tree import Filter, Term, is_of_problems
from viewer.document.rows import MessageSet


class ProblemFacts(Struct, frozen=True):
    """The facts that `check` prints about a problem."""

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
    "msg": lambda facts: given(facts.message),
    "transcript": lambda facts: [facts.transcript],
    "line": lambda facts: [facts.line],
    "file": lambda facts: [facts.file, facts.file.rsplit("/", 1)[-1]],
    "format": lambda facts: [facts.format],
    "model": lambda facts: given(facts.model),
}


def is_problem_wanted(filter: Filter, facts: ProblemFacts, messages: MessageSet | None) -> bool:
    """True if the problem matches the terms about problems, and its message matches all other terms."""
    is_of_message = messages is not None and facts.message is not None and facts.message in messages
    is_found = filter.pattern is None or is_of_message
    return is_found and all(_wants(term, facts, is_of_message) for term in filter.terms)


def _wants(term: Term, facts: ProblemFacts, is_of_message: bool) -> bool:
    if term.field is None or not is_of_problems(term):
        return is_of_message
    return term.is_negated != has_value(term, term.field, _OF_PROBLEMS[term.field.name](facts))


def without_problems(filter: Filter) -> Filter:
    """Return the filter without the terms about problems."""
    return Filter(filter.source, tuple(term for term in filter.terms if not is_of_problems(term)), filter.pattern)
