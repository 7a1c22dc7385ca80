"""A filter as a frozen tree of terms, and the decision about which audience may use it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from viewer.document.filter.fields import ANY, OF_PROBLEMS, WORDS_OF_PROBLEMS, Field
from viewer.errors import Excerpt, ViewerError
from viewer.model.visibility import Audience, Reveal

PATTERN_SIGNS = ("/", "re:")
"""A filter that begins with one of these is a regular expression."""


class FilterError(ViewerError):
    """A filter that cannot be parsed or may not be used, with the position of the fault."""

    excerpt: Excerpt

    def __init__(self, sentence: str, source: str, column: int, length: int, *, is_incomplete: bool = False) -> None:
        super().__init__(f"filter, column {column + 1}: {sentence}")
        self.sentence = sentence
        self.excerpt = Excerpt(source, column, max(1, length))
        self.is_incomplete = is_incomplete
        """True if only the end of the last term is missing, so the user may still be typing it."""


class Choice(Struct, frozen=True):
    """One value, pattern, or range of a term."""

    text: str = ""
    is_pattern: bool = False
    """True if `*` and `?` are wildcards."""
    low: float = 0
    high: float = 0
    """The bounds of a number or time. Times are in milliseconds since 1970 or, if `is_of_day` is true, since
    midnight."""
    is_of_day: bool = False
    """True for a time without a date."""


class Term(Struct, frozen=True):
    """One term: a field with values, or words."""

    column: int
    length: int
    is_negated: bool
    field: Field | None = None
    operator: str = ":"
    choices: tuple[Choice, ...] = ()
    words: str = ""
    """The words to search for, if the term has no field."""


class Filter(Struct, frozen=True):
    """A filter. All its terms must match; without terms, everything matches."""

    source: str
    terms: tuple[Term, ...] = ()
    pattern: str | None = None
    """A regular expression to search for, instead of terms; None if there is none."""

    @property
    def searched(self) -> str | None:
        """The equivalent search text if the filter is a pattern or only words; otherwise None."""
        if self.pattern is not None:
            return self.source.strip()
        if len(self.terms) != 1 or self.terms[0].field is not None or self.terms[0].is_negated:
            return None
        words = self.terms[0].words
        return f"\\{words}" if words.startswith(PATTERN_SIGNS) else words

    def missing(self, audience: Audience) -> tuple[Term, str, str] | None:
        """Return the first term that needs more than the audience reveals, the text in that term that needs it, and
        what must be revealed; None if there is no such term."""
        for term in self.terms:
            for words, need in _needs(term):
                if not _is_granted(need, audience):
                    return term, words, need
        return None

    def refusal(self, audience: Audience, *, of_problems: bool = False) -> FilterError | None:
        """Return why this audience may not use the filter, or None if it may. With `of_problems`, the filter selects
        problems, whose positions are printed anyway."""
        if of_problems and all(is_of_problems(term) for term in self.terms) and self.pattern is None:
            return None
        if of_problems and audience.is_safe:
            term = next((term for term in self.terms if not is_of_problems(term)), None)
            column, length = (term.column, term.length) if term else (0, len(self.source))
            return FilterError("text and hidden data need --reveal all", self.source, column, length)
        found = self.missing(audience)
        if found is None:
            return None
        term, words, need = found
        wanted = "-d, or --reveal with a list of kinds" if need == ANY else f"--reveal {need}"
        return FilterError(f'"{words}" needs {wanted}', self.source, term.column, term.length)


def _needs(term: Term) -> Iterator[tuple[str, str]]:
    """Yield each part of a term, with the kind of content that must be revealed to use it."""
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


def is_of_problems(term: Term) -> bool:
    """True if the term tests only what `check` prints about a problem."""
    if term.field is None:
        return False
    is_state = term.field.name == "is" and all(choice.text in WORDS_OF_PROBLEMS for choice in term.choices)
    return term.field.name in OF_PROBLEMS or is_state
