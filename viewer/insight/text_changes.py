"""Diff two strings word by word, or line by line if they are long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from viewer.insight.matching import equal_runs
from viewer.insight.words import plain_words, tokens_of

MOST_WORDS = 20_000
"""The maximum number of words in a version that is compared word by word. Longer versions are compared by lines."""
_LONGEST_BY_WORDS = 8 * MOST_WORDS


class TextRun(Struct, frozen=True, gc=False):
    """A run of text that is in both versions (`=`), or only in the old (`-`) or the new version (`+`)."""

    sign: str
    text: str
    """The text, not sanitized."""


class TextChange(Struct, frozen=True):
    """The changes from the old text to the new text."""

    runs: Sequence[TextRun]
    kept: int
    """The number of words that are in both versions."""
    removed: int
    """The number of words only in the old text."""
    added: int

    @property
    def alike(self) -> float:
        """The share of words that are in both versions, from 0 to 1."""
        total = 2 * self.kept + self.removed + self.added
        return 2 * self.kept / total if total else 1.0


def text_change(old: str, new: str, *, by_lines: bool = False) -> TextChange:
    """Compare two versions of text. Removed runs come before added runs."""
    runs = [*_settled(_runs(old, new, by_lines or max(len(old), len(new)) > _LONGEST_BY_WORDS))]
    counts = Counter[str]()
    for run in runs:
        counts[run.sign] += len(plain_words(run.text))
    return TextChange(runs, counts["="], counts["-"], counts["+"])


def _runs(old: str, new: str, by_lines: bool) -> Iterator[TextRun]:
    first, second = (text.splitlines(keepends=True) if by_lines else tokens_of(text) for text in (old, new))
    if not by_lines and max(len(first), len(second)) > 2 * MOST_WORDS:
        first, second = old.splitlines(keepends=True), new.splitlines(keepends=True)
    i = j = 0
    for a, b, length in (*equal_runs(first, second), (len(first), len(second), 0)):
        if i < a:
            yield TextRun("-", "".join(first[i:a]))
        if j < b:
            yield TextRun("+", "".join(second[j:b]))
        if length:
            yield TextRun("=", "".join(first[a : a + length]))
        i, j = a + length, b + length


def _settled(runs: Iterator[TextRun]) -> Iterator[TextRun]:
    """Join replacements that are separated only by spaces so that they read as one."""
    removed = added = between = ""
    for run in runs:
        if run.sign == "=" and removed and added and not between and run.text.isspace() and "\n" not in run.text:
            between = run.text
        elif run.sign == "=":
            yield from _changed(removed, added)
            yield TextRun("=", between + run.text)
            removed = added = between = ""
        else:
            removed, added, between = removed + between, added + between, ""
            if run.sign == "-":
                removed += run.text
            else:
                added += run.text
    yield from _changed(removed, added)
    if between:
        yield TextRun("=", between)


def _changed(removed: str, added: str) -> Iterator[TextRun]:
    if removed:
        yield TextRun("-", removed)
    if added:
        yield TextRun("+", added)
