"""Readings of text in which a secret may become visible: unchanged, with escapes decoded, and joined across line
ends."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cached_property

from viewer.cache import lazy_regex
from viewer.model.messages import Span

_ESCAPE = lazy_regex(
    r"\\(?:u([0-9a-fA-F]{4})|([nrtbf])|([\"'/\\_*~.`-]))|%([0-9a-fA-F]{2})|&#(x[0-9a-fA-F]{2,4}|[0-9]{2,5});"
)
"""JSON, Markdown, and shell escapes, percent encoding, and character references."""
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}
_DEEPEST = 3
"""The number of levels of escapes to decode, for JSON in JSON in JSON."""
_GAP = lazy_regex(
    r"[ \t]{0,64}\\?\r?\n[ \t>|#+*]{0,16}(?![ \t]{0,64}\r?\n)"
    r"|[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]+"
    r"|\*\*|`|</?(?:b|i|em|strong|code|wbr|span|br) ?/?>"
)
"""Characters that may interrupt a word without being part of it: a line end with the quote or comment prefix of the
next line, invisible characters, and formatting."""


Parts = tuple[list[int], list[Span]]
"""The starts of the parts of a reading, and their spans in the original text."""


class Reading:
    """Text derived from other text, with the original span of each part."""

    def __init__(self, text: str, parts: Callable[[], Parts]) -> None:
        """`parts` is called once, when something is found in the text."""
        self.text = text
        self._parts = parts

    @cached_property
    def _map(self) -> Parts:
        return self._parts()

    @property
    def _starts(self) -> list[int]:
        """The start of each part in this text."""
        return self._map[0]

    @property
    def _places(self) -> list[Span]:
        """The span of each part in the original text. A part of equal length is a copy."""
        return self._map[1]

    def origin(self, start: int, end: int) -> Span:
        """Return the span of the original text that these characters come from."""
        return self._place(start)[0], self._place(end - 1)[1]

    def begins_at(self, start: int) -> bool:
        """True if a part begins at this character."""
        return self._starts[bisect_right(self._starts, start) - 1] == start

    def last_part(self, end: int) -> int:
        """Return the start of the part that contains the character before `end`."""
        return self._starts[bisect_right(self._starts, end - 1) - 1]

    def is_joined(self, start: int, end: int) -> bool:
        """True if something was removed or replaced between the first and the last of these characters."""
        return bisect_right(self._starts, end - 1) > bisect_right(self._starts, start)

    def cuts(self, start: int, end: int) -> Iterator[Span]:
        """Yield the spans into which the borders of the parts divide these characters."""
        part = bisect_right(self._starts, start) - 1
        while start < end:
            after = self._starts[part + 1] if part + 1 < len(self._starts) else len(self.text)
            yield start, min(after, end)
            start, part = after, part + 1

    def _place(self, at: int) -> Span:
        part = bisect_right(self._starts, at) - 1
        start, end = self._places[part]
        length = (self._starts[part + 1] if part + 1 < len(self._starts) else len(self.text)) - self._starts[part]
        if end - start != length:
            return start, end
        first = start + at - self._starts[part]
        return first, first + 1


def readings(text: str) -> Iterator[tuple[Reading, bool]]:
    """Yield all readings of the text, and whether each one joins separated characters."""
    reading = Reading(text, lambda: ([0], [(0, len(text))]))
    yield reading, False
    for _ in range(_DEEPEST):
        decoded = _decoded(reading)
        if decoded is None:
            break
        reading = decoded
        yield reading, False
    joined = _joined(reading)
    if joined is not None:
        yield joined, True


def _decoded(reading: Reading) -> Reading | None:
    """Decode one level of escapes. Return None if there are none."""
    text = reading.text
    if "\\" not in text and "%" not in text and "&#" not in text:
        return None
    parts: list[tuple[str, Span]] = []
    at = 0
    for found in _ESCAPE.finditer(text):
        if found.start() > at:
            parts.append((text[at : found.start()], (at, found.start())))
        parts.append((_character(found[1], found[2], found[3], found[4], found[5]), found.span()))
        at = found.end()
    if not parts:
        return None
    if at < len(text):
        parts.append((text[at:], (at, len(text))))
    return Reading("".join(part for part, _ in parts), lambda: _parts(reading, parts))


def _character(code: str | None, control: str | None, plain: str | None, byte: str | None, entity: str | None) -> str:
    if control:
        return _CONTROLS[control]
    if plain:
        return plain
    digits = code or byte or entity or ""
    number = int(digits) if digits == entity and digits[0] != "x" else int(digits.lstrip("x"), 16)
    return chr(number) if 0x20 <= number < 0xD800 or number in (9, 10, 13) else "\ufffd"


def _joined(reading: Reading) -> Reading | None:
    """Remove the gaps from the text. Return None if there are none."""
    text = reading.text
    joined = _GAP.sub("", text)
    if not joined or len(joined) == len(text):
        return None

    def parts() -> Parts:
        found: list[tuple[str, Span]] = []
        at = 0
        for gap in _GAP.finditer(text):
            if gap.start() > at:
                found.append((text[at : gap.start()], (at, gap.start())))
            at = gap.end()
        if at < len(text):
            found.append((text[at:], (at, len(text))))
        return _parts(reading, found)

    return Reading(joined, parts)


def _parts(reading: Reading, parts: list[tuple[str, Span]]) -> Parts:
    """Return the parts of a reading that was derived from another reading, with spans in the original text."""
    starts: list[int] = []
    places: list[Span] = []
    at = 0
    for text, (start, end) in parts:
        for first, last in reading.cuts(start, end):
            is_copy = len(text) == end - start
            if not is_copy and first > start:
                break
            starts.append(at + (first - start if is_copy else 0))
            places.append(reading.origin(first, last) if is_copy else reading.origin(start, end))
        at += len(text)
    return starts, places
