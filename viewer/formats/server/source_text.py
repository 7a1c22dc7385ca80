"""Decoded log text with the source position of each byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from viewer.model.messages import Coding, Piece, Span
from viewer.syntax.json_text import JsonNode
from viewer.syntax.string_map import PythonMap, StringMap, python_text


class Map(Protocol):
    """Maps decoded bytes to offsets in their source."""

    def source_of(self, meant: int, last: bool) -> int:
        """Return the source offset of a decoded byte or, with `last`, the offset where that byte ends."""


class Segment(Struct, frozen=True):
    """Text from one string of the input."""

    data: bytes
    base: int
    """The input offset to which the offsets of the map are relative."""
    map: Map | None
    """The map to the source; None for text that is not in the input. All bytes of such text are mapped to the base."""
    coding: Coding

    def span(self, start: int, end: int) -> Span:
        """Return the source span of these bytes."""
        if self.map is None:
            return self.base, self.base
        first = self.base + self.map.source_of(start, False)
        return first, max(first, self.base + self.map.source_of(end - 1, True)) if end > start else first


class _InJson:
    """The map of a Python string inside a JSON string."""

    def __init__(self, outer: StringMap, inner: PythonMap, start: int) -> None:
        self._outer, self._inner, self._start = outer, inner, start

    def source_of(self, meant: int, last: bool) -> int:
        at = self._start + self._inner.source_of(meant, last)
        return self._outer.source_of(max(0, at - last), last)


def of_python(raw: bytes, at: int) -> Segment:
    """Return the text of a Python literal at this offset, given without its quotes."""
    return Segment(python_text(raw), at, PythonMap(raw), Coding.PYTHON_STRING)


def of_python_in_json(raw: bytes, start: int, string: bytes, at: int) -> Segment:
    """Return the text of a Python literal inside a JSON string. `string`, with its quotes, is at `at`; the literal
    starts at `start` in its decoded text."""
    return Segment(python_text(raw), at, _InJson(StringMap(string), PythonMap(raw), start), Coding.NESTED_PYTHON)


def of_json(node: JsonNode, string: bytes) -> Segment:
    """Return the text of a JSON string, given with its quotes."""
    return Segment(node.text.encode("utf-8", "replace"), node.start, StringMap(string), Coding.JSON_TEXT)


class _Shifted:
    """The map of text that begins inside other text. Without an outer map, every byte maps to itself."""

    def __init__(self, outer: StringMap | None, start: int) -> None:
        self._outer, self._start = outer, start

    def source_of(self, meant: int, last: bool) -> int:
        if self._outer is None:
            return meant + last
        return self._outer.source_of(self._start + meant, last)


def plain(raw: bytes, at: int) -> Segment:
    """Return a segment of text without escapes."""
    return Segment(raw, at, _Shifted(None, 0), Coding.PLAIN)


def in_json(raw: bytes, start: int, string: bytes, at: int) -> Segment:
    """Return a segment of text inside a JSON string. `string`, with its quotes, is at `at`; the text starts at `start`
    in its decoded form."""
    return Segment(raw, at, _Shifted(StringMap(string), start), Coding.JSON_TEXT)


def made(data: bytes, at: int) -> Segment:
    """Return a segment of text that is not in the input."""
    return Segment(data, at, None, Coding.PLAIN)


class SourceText:
    """Text that consists of consecutive segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = [segment for segment in segments if segment.data]
        self.data = b"".join(segment.data for segment in self._segments)

    def _parts(self, start: int, end: int) -> Iterator[tuple[Segment, int, int]]:
        at = 0
        for segment in self._segments:
            low, high = max(start - at, 0), min(end - at, len(segment.data))
            if low < high or (start == end and 0 <= start - at <= len(segment.data)):
                yield segment, low, max(low, high)
            at += len(segment.data)

    def pieces(self, start: int, end: int) -> list[Piece]:
        """Return the pieces of the input that these decoded bytes came from."""
        found = [
            Piece(*segment.span(low, high), segment.coding)
            for segment, low, high in self._parts(start, end)
            if segment.map is not None and low < high
        ]
        at = self.span(start, end)[0]
        return found or [Piece(at, at, Coding.PLAIN)]

    def span(self, start: int, end: int) -> Span:
        """Return the span of the input from the first to the last of these bytes."""
        spans = [segment.span(low, high) for segment, low, high in self._parts(start, end)]
        return (spans[0][0], max(spans[0][0], spans[-1][1])) if spans else (0, 0)
