"""Matches in texts: literal ones, and patterns where a library finds them in linear time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple, Protocol

WINDOW = 512 * 1024
"""Code points after which a body is cut into windows; a window has at most twice as many."""
LONGEST_MATCH = 1024
"""Code points of a match of a pattern that goes over a cut inside one line."""
MOST_IN_WINDOW = 1_000_000

Found = list[tuple[int, int]]
Cut = Callable[[str], tuple[str, int]]


class Window(NamedTuple):
    """A stretch of the text of a row."""

    row: int
    base: int
    """Where it begins in the text."""
    text: str
    limit: int
    """Matches begin before this; what comes after it stands in the next window too."""
    final: bool
    """The last one of its row."""


class MatchRequest(NamedTuple):
    """What is to be searched: matches begin from `start` on and before `limit`."""

    text: str
    start: int
    limit: int


class Matcher(Protocol):
    """Something that finds matches, at once or after a while."""

    fault: str | None
    """Why nothing can be found any more, in a sentence."""

    def cut(self, text: str) -> tuple[str, int]:
        """What of a text to search before more of it has come, and where the next window begins."""

    def ask(self, asked: list[MatchRequest]) -> None:
        """Begin with these texts; only after the answer to the texts before."""

    def answer(self, seconds: float) -> list[Found] | None:
        """The matches in each text; None when they are not there after so many seconds."""

    def close(self) -> None:
        """Stop whatever still runs."""


def windows(row: int, blocks: Iterable[str], cut: Cut) -> Iterator[Window | None]:
    """The text of a row in windows; None says only that there is more to wait for."""
    kept, base = "", 0
    for block in blocks:
        if not block:
            yield None
        for at in range(0, len(block), WINDOW):
            if len(kept) >= WINDOW:
                text, limit = cut(kept)
                yield Window(row, base, text, limit, False)
                kept, base = kept[limit:], base + limit
            kept += block[at : at + WINDOW]
    yield Window(row, base, kept, len(kept), True)


def cut_at_line(text: str) -> tuple[str, int]:
    """Patterns see whole lines; in a line without an end, as much as a match may have is seen again."""
    end = text.rfind("\n", len(text) // 2) + 1
    return (text[:end], end) if end else (text, len(text) - LONGEST_MATCH)


class Literal:
    """Finds the text itself."""

    fault: str | None = None

    def __init__(self, text: str, ignores_case: bool) -> None:
        self._text = text
        self._lowers = ignores_case and text.isascii()
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if ignores_case else None
        self._found: list[Found] | None = None

    def cut(self, text: str) -> tuple[str, int]:
        """A match may begin in one window and end in the next."""
        return text, max(1, len(text) - len(self._text) + 1)

    def ask(self, asked: list[MatchRequest]) -> None:
        """Find them now."""
        self._found = [self._matches(*one) for one in asked]

    def answer(self, seconds: float) -> list[Found] | None:
        """What was found."""
        found, self._found = self._found, None
        return found

    def close(self) -> None:
        """Nothing runs."""

    def at_once(self, text: str) -> Found:
        """The matches in a text."""
        return self._matches(text, 0, len(text))

    def _matches(self, text: str, start: int, limit: int) -> Found:
        if self._pattern and not (self._lowers and text.isascii()):
            return _spans(self._pattern.finditer(text, start), limit)
        text = text.lower() if self._pattern else text
        found: Found = []
        at = text.find(self._text, start)
        while 0 <= at < limit and len(found) < MOST_IN_WINDOW:
            found.append((at, at + len(self._text)))
            at = text.find(self._text, at + len(self._text))
        return found


class Linear:
    """Finds a pattern with RE2, whose time is linear in the text."""

    fault: str | None = None

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._found: list[Found] | None = None

    def cut(self, text: str) -> tuple[str, int]:
        """At the end of a line."""
        return cut_at_line(text)

    def ask(self, asked: list[MatchRequest]) -> None:
        """Find them now."""
        self._found = [_spans(self._pattern.finditer(text, start), limit) for text, start, limit in asked]

    def answer(self, seconds: float) -> list[Found] | None:
        """What was found."""
        found, self._found = self._found, None
        return found

    def close(self) -> None:
        """Nothing runs."""


def linear(pattern: str, ignores_case: bool) -> Linear | None:
    """The pattern for RE2, where that is installed and can do it."""
    if find_spec("re2") is None:
        return None
    re2 = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = not ignores_case
    try:
        return Linear(re2.compile(f"(?m){pattern}", options))
    except re2.error:
        return None


def _spans(matches: Iterable[re.Match[str]], limit: int) -> Found:
    """Matches that are not empty."""
    found: Found = []
    for match in matches:
        if match.start() >= limit or len(found) >= MOST_IN_WINDOW:
            break
        if match.end() > match.start():
            found.append(match.span())
    return found
