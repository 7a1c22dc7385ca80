"""The expected rows of the native accelerator: computed mark by mark, and as found by NumPy."""

from __future__ import annotations

import json
import random
import re
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

import numpy as np

from tests.support.native import accelerator
from viewer.checks.batches import REASONS
from viewer.checks.hidden_numpy import find_unexplained, native_pictographs
from viewer.checks.plain_calls import DEADLINE, FITS, MISFITS, object_flags
from viewer.checks.prefilter_numpy import native_literal
from viewer.formats.text.openchatml import GRAMMAR_2_2
from viewer.reading.bodies import string_data
from viewer.scan.blocks import Frames, find_frames
from viewer.scan.headers import IRREGULAR, HeaderMemo
from viewer.scan.native_frames import ROW, find_native_frames
from viewer.syntax.characters import HIDING_LEADS, hidden_spellings
from viewer.syntax.json_text import known_object, plain_object, read_json
from viewer.syntax.utf8 import is_utf8
from viewer.tools.arguments import Schematic
from viewer.tools.schema_columns import SchemaColumns
from viewer.tools.validate import Schema

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
    """Return a copy with no byte after it so that a sanitizer detects reads beyond the end."""
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
    """Check that call IDs match the pattern, and that headers have the same kind if and only if all other words are
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


BYTES = {0: 8, 0x1F: 16, 0x7F: 16, ord("a"): 32}
SIGN_TEXTS = (
    *((b"<think", 64, True), (b"[/x", 64, True), (b"<", 128, False), (b"<|C|>", 256, False), (b'"ab"', 512, False)),
    *(("◁".encode(), 1024, True), ("<｜".encode(), 1024, True), (b"tag", 2048, True), (b"Tag", 4096, False)),
    *((b":::", 8192, False), (b"00a", 16384, True)),
)
SIGN_STARTS = {
    first for text, _, folds in SIGN_TEXTS for first in (text[:1].lower() + text[:1].upper() if folds else text[:1])
}
LEADS = HIDING_LEADS[:5]


@cache
def bits_of_bytes() -> bytes:
    table = np.zeros(256, np.uint32)
    for byte, bit in BYTES.items():
        table[byte] = bit
    return table.tobytes()


@cache
def sign_literals() -> bytes:
    return b"".join(native_literal(text, bit, folds=folds) for text, bit, folds in SIGN_TEXTS)


@lru_cache(2_000)  # each level searches the same data
def signs_of(data: bytes, messages: tuple[tuple[int, int, int], ...]) -> tuple[list[int], list[int]]:
    """Return the bits of each message and the offsets of characters that may be hidden, character by character."""
    bits, hiding, at = [0] * len(messages), [], 0
    while at < len(data):
        row = max(0, bisect_right(messages, at, key=lambda message: message[0]) - 1)
        _, body, end = messages[row]
        size = 1 if data[at] < 0x80 else size_at(data, at)
        bits[row] |= BYTES.get(data[at], 0) | (1 if size == 0 else 0)
        if data[at : at + 2] != b"\r\n" and data[at] == 13:
            bits[row] |= 2
        if body <= at < end:
            for text, bit, folds in SIGN_TEXTS if data[at] in SIGN_STARTS else ():
                found = data[at : min(end, at + len(text))]
                bits[row] |= bit if (found.lower() == text.lower() if folds else found == text) else 0
            spelling = data[at : at + 3]
            if spelling[0] in LEADS and (len(spelling) < 3 or is_spelled(*spelling)):
                bits[row] |= 4
                hiding.append(at)
        at += max(1, size)
    return bits, hiding


def size_at(data: bytes, at: int) -> int:
    """Return the number of bytes of the character at an offset, or 0 if it is ill-formed."""
    return next((size for size in range(1, 5) if is_utf8(data[at : at + size]) and at + size <= len(data)), 0)


def is_spelled(lead: int, second: int, third: int) -> bool:
    """True for an arbitrary third of all spellings."""
    return (lead + 5 * (second & 0x3F) + (third & 0x3F)) % 3 == 0


@cache
def spellings() -> bytes:
    flags = [[is_spelled(lead, place >> 6, place & 0x3F) for place in range(4096)] for lead in LEADS]
    return np.packbits(np.array(flags, bool), bitorder="little").tobytes()


def assert_signs(data: bytes | memoryview, chance: random.Random, cuts: Sequence[int] = ()) -> None:
    """Check the signs of messages at these offsets, or at random ones."""
    cuts = cuts or sorted(chance.randrange(len(data) + 1) for _ in range(3 * chance.randrange(1, 6)))
    messages = [(cuts[at], cuts[at + 1], cuts[at + 2]) for at in range(0, len(cuts), 3)]
    bits, hiding = accelerator().signs(
        exactly(data), np.array(messages, np.int64).tobytes(), bits_of_bytes(), sign_literals(), LEADS, spellings()
    )
    found = np.frombuffer(bits, np.uint32).tolist(), np.frombuffer(hiding, np.int64).tolist()
    assert found == signs_of(bytes(data), tuple(messages)), (bytes(data), messages)


def assert_emoji(data: bytes) -> None:
    """Check that a character is left out if NumPy finds that it is in an emoji. Blanks precede and follow the data."""
    data = data.center(len(data) + 16)
    message = np.array([(0, 0, len(data))], np.int64).tobytes()
    found = accelerator().signs(
        exactly(data), message, bytes(1024), b"", HIDING_LEADS, hidden_spellings(), native_pictographs()
    )
    leads = np.array([at for at, byte in enumerate(data) if byte in HIDING_LEADS], np.int64)
    assert np.frombuffer(found[1], np.int64).tolist() == find_unexplained(data, leads).tolist(), data


def assert_counts(data: bytes | memoryview, cuts: list[int], byte: int) -> None:
    """Check the number of times that a byte occurs between cuts."""
    found = np.frombuffer(
        accelerator().counts(exactly(data), bytes((byte,)), np.array(cuts, np.int64).tobytes()), np.int64
    )
    assert found.tolist() == [bytes(data[first:last]).count(byte) for first, last in pairwise(cuts)]


def assert_faults(bodies: list[bytes], schema: Schema) -> int:
    """Check that objects have the faults that Python finds in them. Return the number of objects that are not doubtful.

    Calls with a deadline are left out, because their arguments are never checked as columns."""
    columns, schematic = SchemaColumns(), Schematic(schema)
    part = columns.add("tool", schematic.plain_schema)
    bodies = [body for body in bodies if is_utf8(body) and DEADLINE not in body]
    data, bounds = joined(bodies)
    wanted = np.full(len(bodies), part, np.int32).tobytes()
    flags, faults = accelerator().objects(data, bounds, columns.parts, columns.names, columns.text, wanted)
    table = np.frombuffer(faults, np.int64).reshape(-1, 4)
    starts = np.frombuffer(bounds, np.int64)[::2].tolist()
    sure = 0
    for row, (body, flag) in enumerate(zip(bodies, flags, strict=True)):
        found = table[table[:, 0] == row]
        listed = [(REASONS[reason], start - starts[row], end - starts[row]) for _, reason, start, end in found.tolist()]
        if flag & (FITS | MISFITS):
            node = read_json(body, 0).node
            assert node is not None
            expected = [(fault.reason, fault.start, fault.end) for fault in schematic.faults(node)]
            assert (listed, bool(flag & MISFITS)) == (expected, bool(expected)), (body, schema)
            sure += 1
        else:
            assert not listed, (body, schema)
    return sure


def joined(bodies: Sequence[bytes]) -> tuple[memoryview, bytes]:
    """Return bodies among other bytes, and their bounds."""
    starts = np.cumsum([3, *(len(body) + 2 for body in bodies)])[:-1]
    bounds = np.stack((starts, starts + np.array([*map(len, bodies)])), axis=-1).astype(np.int64)
    return exactly(b'{" ' + b'"}'.join(bodies) + b"}}"), bounds.tobytes()


def object_flags_of(*bodies: bytes) -> list[int]:
    """Return the flags of bodies among other bytes."""
    return [*accelerator().objects(*joined(bodies))[0]]


def assert_objects(bodies: list[bytes]) -> int:
    """Check that the reader in Python accepts every accepted body, with the same flags. Return the number of bodies."""
    bodies = [body for body in bodies if is_utf8(body)]
    accepted = [(body, flags) for body, flags in zip(bodies, object_flags_of(*bodies), strict=True) if flags]
    for body, flags in accepted:
        expected = plain_object(body)
        assert flags == object_flags(expected), body
        assert known_object(body) == expected, body
    return len(accepted)


def assert_string_objects(bodies: list[bytes]) -> int:
    """Check that bodies in JSON strings have the flags of their text. Return the number of accepted bodies."""
    bodies = [body for body in bodies if is_utf8(body)]
    raw = [json.dumps(body.decode(), ensure_ascii=False).encode() for body in bodies]
    raw += [one[1:-1].join((b'"', chance)) for one, chance in zip(raw, (b"x", b"", b'\\"', b"\\"), strict=False)]
    raw += [one.replace(b"/", b"\\/") for one in raw] + [one.replace(b"a", b"\\u0061") for one in raw]
    data, bounds = joined(raw)
    found = accelerator().string_objects(data, array("q", bounds), b"\1" * len(raw))
    for one, flags in zip(raw, found, strict=True):
        text = string_data(one)
        if flags:
            assert text is not None and flags == object_flags(plain_object(text)), one
        elif text is not None and b"\\u" not in one and min(one) >= 0x20:
            assert object_flags_of(text) == [0], one
    verbatim, bounds = joined(bodies)
    assert accelerator().string_objects(verbatim, array("q", bounds), bytes(len(bodies))) == bytes(
        flag & 7 for flag in object_flags_of(*bodies)
    )
    return sum(map(bool, found))
