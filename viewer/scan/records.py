"""Match consecutive JSON records of known shapes with the native accelerator, which returns columns of their messages.

A program is a list of steps. It matches the same bytes as the pattern that it was made with."""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

from msgspec import Struct

from viewer.native import Native
from viewer.scan.text_signs import signs_of

HAS_ESCAPE, MAY_LEAD = 1, 4
"""Flags of a text, in addition to `IS_SPELLED`: it has an escape; its first byte is a space, a backslash, `a`, or
`c`."""


class Step(IntEnum):
    """The steps of a program; `_records.c` has the same numbers."""

    LITERAL = 0
    OPENS = 1
    CLOSES = 2
    TEXT = 3
    ID = 4
    NAME = 5
    WORDS = 6
    NUMBER = 7
    ANY = 8
    LIST = 9
    SCALAR = 10
    SCALARS = 11
    SPACE = 12
    ITEM = 13
    ITEMS = 14
    PLACE = 15
    BODY = 16
    DELTA = 17
    GOES_ON = 18


def step(*steps: Step) -> bytes:
    """Return the program for these steps, none of which needs text."""
    return bytes(steps)


def literal(text: bytes) -> bytes:
    """Return the program that matches these bytes."""
    return _with_text(Step.LITERAL, text) if text else b""


def items(between: bytes | None) -> bytes:
    """Return the program for at least one message, with text between messages, or for exactly one message if there is
    no such text."""
    return bytes((Step.ITEM,)) if between is None else _with_text(Step.ITEMS, between)


def _with_text(kind: Step, text: bytes) -> bytes:
    return bytes((kind,)) + struct.pack("=I", len(text)) + text


class Saying(Struct, frozen=True):
    """One message of a shape: the number of the message shape, and the groups of its parts, counted from 1; 0 if there
    is no such part. `text` is the index of the body among the texts of the shape."""

    number: int
    body: int
    id: int
    name: int
    tool: int
    text: int


class ShapePrograms:
    """The programs of all known shapes, and the messages that their objects become."""

    def __init__(self, programs: Sequence[bytes], messages: Sequence[Sequence[Saying]]) -> None:
        self.programs = programs
        self.sayings, self.ends = array("i"), array("i")
        for sayings in messages:
            for one in sayings:
                self.sayings.extend((one.number, one.body, one.id, one.name, one.tool, one.text))
            self.ends.append(len(self.sayings) // 6)


class Match(Protocol):
    """A match of a pattern or program: the part of `re.Match` that readers of known shapes use."""

    @property
    def regs(self) -> Sequence[tuple[int, int]]:
        """The bounds of the match and of its groups."""
        ...

    @property
    def string(self) -> bytes | bytearray:
        """The bytes that were searched."""
        ...

    def span(self, group: int = 0, /) -> tuple[int, int]:
        """Return the bounds of a group."""
        ...

    def __getitem__(self, group: int, /) -> bytes:
        """Return the bytes of a group."""
        ...


class _NativeMatch:
    def __init__(self, string: bytes | bytearray, regs: Sequence[tuple[int, int]]) -> None:
        self.string = string
        self.regs = regs

    def span(self, group: int = 0, /) -> tuple[int, int]:
        return self.regs[group]

    def __getitem__(self, group: int, /) -> bytes:
        return bytes(memoryview(self.string)[slice(*self.regs[group])])


class Records:
    """Consecutive records as columns. Counts include the row that they are in."""

    def __init__(self, columns: tuple[bytes, ...], first_record: int) -> None:
        self.first_record = first_record
        """The number of the first program for records."""
        rows, values, groups, matched, texts, flags, numbers, *positions, of_text, named, names = columns
        row, item = _column("q", rows), _column("q", matched)
        self.programs, self.starts, self.ends = row[0::6], row[1::6], row[2::6]
        self.item_counts, self.message_counts, self.value_counts = row[3::6], row[4::6], row[5::6]
        self.values = _column("q", values)
        """The offsets, in the input, of the places and groups outside the messages."""
        self.groups = _column("q", groups)
        self.shapes, self.item_starts, self.item_ends = item[0::5], item[1::5], item[2::5]
        self.item_message_counts, self.first_groups = item[3::5], item[4::5]
        self.texts = _column("q", texts)
        """For each text, three offsets from the first record: its start, its start again, and its end."""
        self.flags = flags
        """The flags of each text."""
        self.numbers = _column("I", numbers)
        """The number of the message shape of each message."""
        self.message_starts, self.message_ends, self.bodies, self.body_ends = (_column("Q", each) for each in positions)
        """Offsets in the input. If a body has escapes, its quotes are included."""
        self.of_text = _column("I", of_text)
        """For each message, the index of its body among the texts."""
        self.named = _column("I", named)
        """The indices of the messages with an ID, a name, or a tool."""
        ids = names.decode("ascii").split("\n")
        self.ids, self.names, self.tools = ids[0:-1:3], ids[1::3], ids[2::3]
        """For each message with names, its ID with its quotes, its name, and its tool; empty if it has none."""

    def __len__(self) -> int:
        return len(self.starts)

    def match(self, item: int, data: bytes | bytearray) -> Match:
        """Return the match of an object, by its index."""
        low, is_last = 2 * self.first_groups[item], item + 1 == len(self.first_groups)
        high = len(self.groups) if is_last else 2 * self.first_groups[item + 1]
        bounds = self.item_starts[item], self.item_ends[item]
        return _NativeMatch(data, [bounds, *zip(self.groups[low:high:2], self.groups[low + 1 : high : 2], strict=True)])


class Values:
    """Consecutive records without messages of known shapes: the bounds of each, and the offsets, in the input, of the
    places and groups in them."""

    def __init__(self, rows: bytes, values: bytes) -> None:
        row = _column("q", rows)
        self.starts, self.ends = row[1::6], row[2::6]
        self.values = _column("q", values)

    def __len__(self) -> int:
        return len(self.starts)


def _column(code: str, data: bytes) -> array[int]:
    column = array(code)
    column.frombytes(data)
    return column


_FIRST, _NONE = array("q", (0,)), array("i")
"""The start of the only program, which is also its number; and columns of shapes, if there are none."""


def match_records(
    accelerator: Native,
    data: bytes | bytearray | memoryview,
    at: int,
    base: int,
    shapes: ShapePrograms,
    nexts: Sequence[int],
    last: int,
    records: Sequence[bytes],
    most: int,
    longest: tuple[int, int],
) -> Records:
    """Match at most `most` records that start at an index, each with one of the programs in `records`. `nexts` has the
    shape to try first after each shape, and `last` is the shape of the last message. `longest` are the maximum lengths
    of a message and of a record; `base` is the offset of the data."""
    programs, starts, size = [*shapes.programs, *records], array("q"), 0
    for program in programs:
        starts.append(size)
        size += len(program)
    count = len(shapes.programs)
    settings = array("q", (at, most, base, last, count, *longest))
    order = array("q", range(count, len(programs)))
    columns = accelerator.records(
        data, settings, b"".join(programs), starts, array("i", nexts), shapes.sayings, shapes.ends, order
    )
    return Records(columns, count)


def match_values(
    accelerator: Native, data: bytes | bytearray | memoryview, at: int, base: int, program: bytes, most: int = 1 << 40
) -> Values:
    """Match consecutive records without messages of known shapes."""
    settings = array("q", (at, most, base, 0, 0, 0, 0))
    rows, values, *_ = accelerator.records(data, settings, program, _FIRST, _NONE, _NONE, _NONE, _FIRST)
    return Values(rows, values)


def find_signs(accelerator: Native, records: Records, data: bytes | bytearray, at: int) -> bytes | None:
    """Return a mask of the texts that may have marks, as `places_with_signs` finds them, or None if the records, which
    start at an index, are not UTF-8."""
    with memoryview(data) as view, view[at : records.ends[-1]] as block:
        return signs_of(accelerator, block, records.texts, records.flags)
