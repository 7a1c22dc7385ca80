"""Matchers: find a literal or a regular expression in the text of rows, window by window."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Protocol

from msgspec import Struct

from viewer.document.search.regex import Regex, RegexError

WINDOW = 512 * 1024
"""The length in code points beyond which a body is cut into windows. A window is at most twice as long."""
LONGEST_MATCH = 1024
"""The maximum length in code points of a regular expression's match across a cut inside one line."""
MOST_IN_WINDOW = 1_000_000
SECONDS = 2.0
"""The time limit in seconds of a regular expression for one request."""

TOO_SLOW = "The pattern takes too long. Simplify it."

Found = list[tuple[int, int]]
Cut = Callable[[str], tuple[str, int]]


class Window(Struct, frozen=True, gc=False):
    """Part of a row's text."""

    row: int
    base: int
    """The offset of the window in the text."""
    text: str
    limit: int
    """Matches must begin before this offset; the text after it is also in the next window."""
    final: bool
    """True for the last window of its row."""


class MatchRequest(Struct, frozen=True, gc=False):
    """Text to search. Matches must begin at or after `start`, and before `limit`."""

    text: str
    start: int
    limit: int


class Matcher(Protocol):
    """Finds matches, immediately or in the background."""

    fault: str | None
    """The reason why nothing more can be found, as a sentence; None if the search can continue."""

    def cut(self, text: str) -> tuple[str, int]:
        """Return the part of text that can be searched before more of it arrives, and where the next window
        begins."""

    def start(self, requests: list[MatchRequest]) -> None:
        """Start searching these requests. Call this only after the matches of the previous requests have been
        returned."""

    def run(self, seconds: float) -> list[Found] | None:
        """Return the matches of each request, or None if they have not been found in this time."""

    def close(self) -> None:
        """Stop a running search."""


def windows(row: int, blocks: Iterable[str], cut: Cut) -> Iterator[Window | None]:
    """Yield the text of a row in windows; None only signals progress."""
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
    """Cut after a complete line. If no line ends in the second half, the next window repeats as much text as the
    longest match."""
    end = text.rfind("\n", len(text) // 2) + 1
    return (text[:end], end) if end else (text, len(text) - LONGEST_MATCH)


class Literal:
    """Finds a literal string."""

    fault: str | None = None

    def __init__(self, text: str, ignores_case: bool) -> None:
        self._text = text
        self._lowers = ignores_case and text.isascii()
        self._pattern = re.compile(re.escape(text), re.IGNORECASE) if ignores_case else None
        self._found: list[Found] | None = None

    def cut(self, text: str) -> tuple[str, int]:
        """Return all of the text. The next window repeats the last characters, where a match may begin."""
        return text, max(1, len(text) - len(self._text) + 1)

    def start(self, requests: list[MatchRequest]) -> None:
        """Find the matches immediately."""
        self._found = [self._matches(each.text, each.start, each.limit) for each in requests]

    def run(self, seconds: float) -> list[Found] | None:
        """Return the matches that `start` found."""
        found, self._found = self._found, None
        return found

    def close(self) -> None:
        """Do nothing, because no search runs in the background."""

    def at_once(self, text: str) -> Found:
        """Return the matches in the text."""
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


class RegexMatcher:
    """Finds a regular expression in a thread. RE2 takes linear time, but some patterns take seconds per window.
    While RE2 is searching, other threads can run."""

    def __init__(self, pattern: str, ignores_case: bool, seconds: float = SECONDS) -> None:
        self.fault: str | None = None
        self._source = pattern, ignores_case
        self._regex: Regex | None = None
        self._seconds = seconds
        self._deadline = 0.0
        self._is_closed = False
        self._answers: SimpleQueue[list[Found] | str] = SimpleQueue()

    def cut(self, text: str) -> tuple[str, int]:
        """Cut at the end of a line."""
        return cut_at_line(text)

    def start(self, requests: list[MatchRequest]) -> None:
        """Search these requests in the background."""
        self._deadline = time.monotonic() + self._seconds
        Thread(target=self._search, args=(requests,), name="regex", daemon=True).start()

    def run(self, seconds: float) -> list[Found] | None:
        """Return the matches, or None if they have not been found yet, or if the search has failed."""
        try:
            answer = self._answers.get(timeout=max(0.0, seconds))
        except Empty:
            if time.monotonic() <= self._deadline:
                return None
            answer = TOO_SLOW
        if isinstance(answer, str):
            self.fault = answer
            self.close()
            return None
        return answer

    def close(self) -> None:
        """Stop the thread after its next match."""
        self._is_closed = True

    def _search(self, requests: list[MatchRequest]) -> None:
        """Search these requests, in the thread."""
        try:
            self._regex = self._regex or Regex(*self._source)
        except RegexError as error:
            self._answers.put(error.sentence)
        else:
            regex = self._regex
            self._answers.put([self._matches(regex, each.text, each.start, each.limit) for each in requests])

    def _matches(self, regex: Regex, text: str, start: int, limit: int) -> Found:
        found: Found = []
        for span in regex.spans(text, start):
            if self._is_closed or span[0] >= limit or len(found) >= MOST_IN_WINDOW:
                break
            found.append(span)
        return found


def _spans(matches: Iterable[re.Match[str]], limit: int) -> Found:
    """Return the spans of nonempty matches."""
    found: Found = []
    for match in matches:
        if match.start() >= limit or len(found) >= MOST_IN_WINDOW:
            break
        if match.end() > match.start():
            found.append(match.span())
    return found
