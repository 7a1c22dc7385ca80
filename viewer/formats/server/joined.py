"""Join lines that a container runtime split: logs of Docker and of Kubernetes (CRI)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.formats.server.lines import LogLine, Made, wrapper_of
from viewer.formats.server.source_text import Segment, in_json, of_python, of_python_in_json, plain
from viewer.model.messages import Coding, Span
from viewer.syntax.json_text import JsonKind, read_json
from viewer.syntax.string_map import python_runs

MOST_STREAMS = 16
_CRI = lazy_regex(rb"\d{4}-\d\d-\d\dT[\d:.]{8,20}(?:Z|[+-]\d\d:\d\d) (stdout|stderr) ([PF])(?::[A-Z])* ")


_WHOLE = lazy_regex(rb'(?<!\\)(?:\\\\)*\\n"')
"""A pattern that matches every complete Docker line."""


class Part(Struct, frozen=True):
    """One physical line of a split line."""

    stream: str
    is_last: bool
    text: bytes
    line: bytes
    """The whole physical line."""
    at: int
    """The offset of the physical line."""
    start: int
    """Where the text, or the quoted JSON string that contains it, begins in the physical line."""
    end: int
    in_json: bool

    def segment(self, raw: bytes, start: int) -> Segment:
        """Return the text of a Python literal that begins at this offset of the text."""
        if self.in_json:
            return of_python_in_json(raw, start, self.line[self.start : self.end], self.at + self.start)
        return of_python(raw, self.at + self.start + start)

    def letter(self, start: int) -> Segment:
        """Return the character at this offset as it is, not as part of a Python escape."""
        raw = self.text[start : start + 1]
        if self.in_json:
            return in_json(raw, start, self.line[self.start : self.end], self.at + self.start)
        return plain(raw, self.at + self.start + start)

    def span(self, start: int, end: int) -> Span:
        """Return the input span of these bytes of the text."""
        if self.in_json:
            return self.at + self.start, self.at + self.end
        return self.at + self.start + start, self.at + self.start + end


def part_of(line: bytes, at: int) -> Part | None:
    """Return the part for a line that a container runtime marked as split or complete, or None for any other line."""
    if line.startswith(b"{"):
        return _docker(line, at) if b'"stream"' in line else None
    found = _CRI.match(line)
    if found is None:
        return None
    is_last = found[2] == b"F"
    text = line[found.end() :] if is_last else line[found.end() :].rstrip(b"\r\n")
    return Part(found[1].decode(), is_last, text, line, at, found.end(), found.end() + len(text), False)


def _docker(line: bytes, at: int) -> Part | None:
    node = read_json(line, 0).node
    if node is None or node.kind is not JsonKind.OBJECT or not node.closed:
        return None
    stream, value = node.get("stream"), node.get("log")
    if stream is None or value is None or value is not wrapper_of(node) or value.kind is not JsonKind.STRING:
        return None
    text = value.text.encode("utf-8", "replace")
    return Part(stream.text, text.endswith(b"\n"), text, line, at, value.start, value.end, True)


class Joiner:
    """Collects the parts of split lines, separately for each stream."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._open: dict[str, list[Part]] = {}
        self._sizes: dict[str, int] = {}
        """The total length of the open parts, by stream."""

    def take(self, line: bytes, at: int) -> list[Part] | None:
        """Return the parts of a split line that ends here, an empty list if it continues, or None for any other
        line."""
        is_whole = not self._open and line.startswith(b"{") and _WHOLE.search(line) is not None
        part = None if is_whole else part_of(line, at)
        if part is None or (part.is_last and part.stream not in self._open):
            return None
        if part.stream not in self._open and len(self._open) >= MOST_STREAMS:
            return None
        parts = self._open.setdefault(part.stream, [])
        parts.append(part)
        size = self._sizes[part.stream] = self._sizes.get(part.stream, 0) + len(part.text)
        if not part.is_last and size <= self._longest:
            return []
        del self._sizes[part.stream]
        return self._open.pop(part.stream)

    def rest(self) -> list[list[Part]]:
        """Return the parts of lines that never ended."""
        rest, self._open, self._sizes = [*self._open.values()], {}, {}
        return rest


def joined_line(parts: Sequence[Part]) -> LogLine:
    """Return one line made of several parts."""
    data = b"".join(part.text for part in parts)
    bounds = [0]
    for part in parts:
        bounds.append(bounds[-1] + len(part.text))

    def made(raw: bytes, start: int) -> Made:
        return _segments(parts, bounds, raw, start)

    def span(start: int, end: int) -> Span:
        inside = [
            parts[index].span(max(start - bounds[index], 0), min(end - bounds[index], len(parts[index].text)))
            for index in _inside(bounds, start, end)
        ]
        return (inside[0][0], inside[-1][1]) if inside else (parts[0].at, parts[0].at)

    return LogLine(data, parts[0].at, made, span)


def _inside(bounds: list[int], start: int, end: int) -> range:
    """Return the numbers of the parts that overlap this range of the whole text."""
    return range(bisect_right(bounds, start, 1) - 1, bisect_left(bounds, end, 0, len(bounds) - 1))


def _segments(parts: Sequence[Part], bounds: list[int], raw: bytes, start: int) -> Made:
    """Return the segments of a literal, split where the line was split, and whether they are complete. They end before
    an escape that the split made unreadable."""
    segments: list[Segment] = []
    end = start + len(raw)
    runs = [(start + low, start + high, text) for low, high, text in python_runs(raw) if text is not None]
    at, run = start, 0
    for index in _inside(bounds, start, end):
        part, low, high = parts[index], bounds[index], bounds[index + 1]
        if high <= at:
            continue
        stop = min(high, end)
        while run < len(runs) and runs[run][1] <= stop:
            run += 1
        if run < len(runs) and runs[run][0] < stop:  # the escape continues in the next part
            stop = runs[run][0]
        if stop > at:
            segments.append(part.segment(raw[at - start : stop - start], at - low))
        at = stop
        if stop < min(high, end):
            low, at, text = runs[run]
            last = parts[index + 1].letter(0) if at == high + 1 else None
            if last is None or text not in (b"\n", last.data):
                return segments or [part.segment(b"", 0)], False
            segments.append(Segment(b"\n", last.base, last.map, Coding.LINE) if text == b"\n" else last)
    return segments or [parts[0].segment(b"", 0)], True
