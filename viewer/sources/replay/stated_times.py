"""Stated times: the times that the lines of an event stream contain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from viewer.syntax.times import parse_decoded_time, parse_time

TIME_KEYS = ("ts", "timestamp", "created_at", "time", "created")
"""The keys of times, the most precise first. `created` has only whole seconds."""
_BEFORE, _AT_ONCE = 64 * 1024, 256 * 1024
_DATA = b"data:"


def times_of_lines(read: Callable[[int, int], bytes], offsets: Sequence[int], size: int) -> Iterator[int | None]:
    """Yield the times of the lines with these ascending offsets, in milliseconds since 1970; None for a line without a
    time.

    Safety: lines of any length are read. If there were a limit, the time of a shown part would depend on the length of
    a hidden part in the same line."""
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    data, first = b"", 0
    line_end, known = -1, None
    for offset in offsets:
        if offset < line_end:
            yield known
            continue
        if not first <= offset < first + len(data):
            first = max(0, offset - _BEFORE)
            data = read(first, min(size, offset + _AT_ONCE))
        first, data = _with_line_start(read, offset, first, data)
        first, data = _with_line_end(read, offset, size, first, data)
        start, end = data.rfind(b"\n", 0, offset - first) + 1, data.find(b"\n", offset - first)
        end = len(data) if end < 0 else end
        line_end = first + end
        known = _time_of(data[start:end], decode)
        yield known


def _with_line_start(read: Callable[[int, int], bytes], offset: int, first: int, data: bytes) -> tuple[int, bytes]:
    """Return bytes that include the beginning of the line at this offset, and where they begin. Each read is twice as
    long as the previous one."""
    step = _BEFORE
    while first and data.rfind(b"\n", 0, offset - first) < 0:
        step *= 2
        before = max(0, first - step)
        first, data = before, read(before, first) + data
    return first, data


def _with_line_end(
    read: Callable[[int, int], bytes], offset: int, size: int, first: int, data: bytes
) -> tuple[int, bytes]:
    """Return bytes that include the end of the line at this offset, and where they begin. Each read is twice as long as
    the previous one, and earlier lines are dropped before the first read."""
    if data.find(b"\n", offset - first) >= 0:
        return first, data
    start = data.rfind(b"\n", 0, offset - first) + 1
    first, data, step = first + start, data[start:], _AT_ONCE
    place = offset - first
    while first + len(data) < size and data.find(b"\n", place) < 0:
        more = read(first + len(data), min(size, first + len(data) + step))
        if not more:
            break
        step *= 2
        data += more
    return first, data


def _time_of(line: bytes, decode: Callable[[bytes], dict[str, msgspec.Raw]]) -> int | None:
    line = line.removeprefix(_DATA).strip()
    if not line.startswith(b"{"):
        return None
    try:
        members = decode(line)
        for key in TIME_KEYS:
            if key in members:
                value: object = msgspec.json.decode(members[key])
                found = parse_decoded_time(value) if isinstance(value, str) else parse_time(value)
                if found is not None:
                    return found
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return None
