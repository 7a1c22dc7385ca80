"""The expected rows of the native accelerator: computed mark by mark, and as found by NumPy."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from tests.support.native import accelerator
from viewer.checks.plain_calls import object_flags
from viewer.formats.text.openchatml import GRAMMAR_2_2
from viewer.scan.blocks import Frames, find_frames
from viewer.scan.headers import IRREGULAR, HeaderMemo
from viewer.scan.native_frames import ROW, find_native_frames
from viewer.syntax.json_text import known_object, plain_object
from viewer.syntax.utf8 import is_utf8

TOKENS = {b"start|>": "start", b"message|>": "message", b"channel|": "inner", b"constrai": "inner"}
STOPS = {b"end|>": 0, b"return|>": 1, b"call|>": 2}
LITERALS = {b"literal|": "other", b"endliter": "other"}
MARK = re.compile(rb"<\|(?=(" + b"|".join(map(re.escape, (*TOKENS, *STOPS, *LITERALS))) + rb")?)")
ID = re.compile(rb"(?<=[ \t\r\n])call_id=([!-;=-~]{1,64})(?=[ \t\r\n<]|\Z)")


@dataclass(frozen=True)
class Row:
    start: int
    message: int
    stop: int
    ending: int
    escaped: bool


def defined(data: bytes, before: int, escapes: bool) -> list[Row]:
    """Return the rows, mark by mark."""
    rows: list[Row] = []
    start = message = -1
    escaped = False
    for found in MARK.finditer(data):
        at, spelling = found.start(), found[1]
        kind = {**TOKENS, **LITERALS, **dict.fromkeys(STOPS, "stop")}.get(spelling, "foreign")
        after_less = (data[at - 1] if at else before) == ord("<")
        if at >= len(data) - 13:
            kind = "other" if after_less or kind == "foreign" else kind
        elif kind == "foreign" or (after_less and escapes):
            escaped = escaped or (after_less and escapes)
            continue
        if kind == "start":
            start, message = at, -1
        elif kind == "message" and start >= 0 > message:
            message, escaped = at, False
        elif kind == "stop" and message >= 0:
            rows.append(Row(start, message, at, STOPS[spelling], escaped))
            start = message = -1
        elif kind != "inner" or message >= 0:
            start = message = -1
    return rows


def exactly(data: bytes | memoryview) -> memoryview:
    """Return a copy with no byte after it, so that a sanitizer detects reads beyond the end."""
    return np.frombuffer(data, np.uint8).copy().data


def table_of(data: bytes | memoryview, before: int = 0, escapes: bool = False) -> np.ndarray[tuple[int], np.dtype]:
    rows, examples = accelerator().frames(exactly(data), before, escapes)
    table = np.frombuffer(rows, ROW)
    kinds = table["kind"][table["kind"] >= 0]
    assert np.array_equal(kinds, table["kind"][table["kind"] != IRREGULAR])
    assert table["kind"][np.frombuffer(examples, np.int64)].tolist() == list(range(len(examples) // 8))
    return table


def assert_defined(data: bytes) -> None:
    for escapes in (False, True):
        for before in (0, ord("<")):
            table = table_of(data, before, escapes)
            columns = [table[name].tolist() for name in ("start", "message", "stop", "ending")]
            columns.append(table["flags"].astype(bool).tolist())
            found = [Row(*row) for row in zip(*columns, strict=True)]
            assert found == defined(data, before, escapes), (data, before, escapes)
            assert_headers(data, table)


def assert_headers(data: bytes, table: np.ndarray[tuple[int], np.dtype]) -> None:
    """Check that call ids match the pattern, and that headers have the same kind exactly if all other words are
    equal."""
    kinds: dict[object, int] = {}
    for row in table:
        words = data[row["start"] + 9 : row["message"]]
        is_regular = len(words) <= 192 and words.count(b"call_id=") <= 1
        assert (row["kind"] >= 0) == is_regular, words
        if is_regular:
            found = ID.search(words)
            place = row["start"] + 9 + found.start(1) if found else 0
            assert (row["id_start"], row["id_length"]) == (place, len(found[1]) if found else 0), words
            key = (words[: found.start(1)], words[found.end(1) :]) if found else words
            assert kinds.setdefault(key, row["kind"]) == row["kind"], words
    assert len(set(kinds.values())) == len(kinds)


def assert_as_numpy(data: bytes) -> None:
    for escapes in (False, True):
        expected = find_frames(data, escapes=escapes)
        frames = find_native_frames(accelerator(), data, escapes=escapes)
        for name in ("starts", "messages", "stops", "ends", "endings", "follows", "escaped"):
            assert getattr(frames, name).tolist() == getattr(expected, name).tolist(), (name, data, escapes)
        assert_kinds(data, frames, expected)


def assert_kinds(data: bytes, frames: Frames, expected: Frames) -> None:
    """Check that a header that both can read has the same kind in both. NumPy does not learn every position of a call
    id."""
    ours, theirs = HeaderMemo(GRAMMAR_2_2), HeaderMemo(GRAMMAR_2_2)
    found, wanted = ours.read(data, frames), theirs.read(data, expected)
    for row in np.flatnonzero((found.kinds >= 0) & (wanted.kinds >= 0)).tolist():
        assert ours.kinds[found.kinds[row]] == theirs.kinds[wanted.kinds[row]], data
        for name in ("id_starts", "id_ends"):
            assert getattr(found, name)[row] == getattr(wanted, name)[row], data
    words = [data[at + 9 : end] for at, end in zip(frames.starts.tolist(), frames.messages.tolist(), strict=True)]
    for row in np.flatnonzero((found.kinds < 0) != (wanted.kinds < 0)).tolist():
        assert b"call_id=" in words[row], data


def assert_matches(data: bytes | memoryview, needle: bytes, fold: bytes) -> None:
    assert found(data, needle, fold) == expected(bytes(data), needle, fold), (bytes(data), needle, fold)


def found(data: bytes | memoryview, needle: bytes, fold: bytes) -> list[int]:
    offsets: list[int] = np.frombuffer(accelerator().find(exactly(data), needle, fold), np.int64).tolist()
    return offsets


def expected(data: bytes, needle: bytes, fold: bytes) -> list[int]:
    pairs = [set(pair) for pair in zip(needle, fold, strict=True)]
    last = len(data) - len(needle)
    return [at for at in range(last + 1) if all(data[at + place] in pair for place, pair in enumerate(pairs))]


def assert_places(data: bytes | memoryview, wanted: bytes) -> None:
    """Check that the bytes of a set, whose ranges may overlap, are found in order."""
    ranges = [(min(pair), max(pair)) for pair in zip(wanted[::2], wanted[1::2], strict=False)][:16]
    places = np.frombuffer(accelerator().places(exactly(data), bytes(sum(ranges, ()))), np.int64).tolist()
    in_set = [any(low <= byte <= high for low, high in ranges) for byte in range(256)]
    assert places == [at for at, byte in enumerate(bytes(data)) if in_set[byte]], (bytes(data), ranges)


def object_flags_of(*bodies: bytes) -> list[int]:
    """Return the flags of bodies among other bytes."""
    starts = np.cumsum([3, *(len(body) + 2 for body in bodies)])[:-1]
    bounds = np.stack((starts, starts + np.array([*map(len, bodies)])), axis=-1).astype(np.int64)
    data = exactly(b'{" ' + b'"}'.join(bodies) + b"}}")
    return [*accelerator().objects(data, bounds.tobytes())]


def assert_objects(bodies: list[bytes]) -> int:
    """Check that the reader in Python accepts every accepted body, with the same facts. Return the number of them."""
    bodies = [body for body in bodies if is_utf8(body)]
    accepted = [(body, flags) for body, flags in zip(bodies, object_flags_of(*bodies), strict=True) if flags]
    for body, flags in accepted:
        expected = plain_object(body)
        assert flags == object_flags(expected), body
        assert known_object(body) == expected, body
    return len(accepted)
