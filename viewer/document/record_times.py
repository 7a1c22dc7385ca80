"""Record times: the time that each line of an event stream states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from viewer.syntax.times import parse_decoded_time, parse_time

TIME_KEYS = ("ts", "timestamp", "created_at", "time", "created")
"""In order of precision. `created` has only whole seconds."""
LONGEST_LINE = 64 * 1024
"""A longer line is the record of a whole message, whose time the index knows."""
_AT_ONCE = 256 * 1024
_DATA = b"data:"


def times_of_lines(read: Callable[[int, int], bytes], offsets: Sequence[int], size: int) -> Iterator[int | None]:
    """The times of the lines with these ascending offsets, in milliseconds since 1970."""
    decode = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
    data, first = b"", 0
    line_end, known = -1, None
    for offset in offsets:
        if offset < line_end:
            yield known
            continue
        if offset + LONGEST_LINE > first + len(data) < size or offset - LONGEST_LINE < first:
            first = max(0, offset - LONGEST_LINE)
            data = read(first, min(size, offset + _AT_ONCE))
        start = data.rfind(b"\n", 0, offset - first) + 1
        end = data.find(b"\n", offset - first)
        end = len(data) if end < 0 else end
        line_end = first + end
        known = _time_of(data[start:end], decode)
        yield known


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
