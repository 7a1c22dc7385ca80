"""Native accelerator: the optional C module, or None if it was not built or is switched off."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Protocol

from viewer.errors import ViewerError

if TYPE_CHECKING:
    from array import array
    from types import ModuleType

SWITCH = "OCMLVIEW_NATIVE"
"""The environment variable that switches the accelerator off if it is 0."""
LEVEL = "OCMLVIEW_NATIVE_LEVEL"
"""The environment variable that selects an instruction set, for tests and bug reports."""
BACKEND = "OCMLVIEW_BACKEND"
"""The environment variable that forces a backend. Only one of the backends uses the accelerator."""
LEVELS = ("scalar", "sse2", "avx2")
EDITION = 15
"""The edition of the C source. `_fast.c` has the same number, so a module that was compiled from other source is not
used."""


class Native(Protocol):
    """Functions that take a contiguous buffer and return columns as bytes. They release the interpreter lock, except
    those of hash tables."""

    def find(self, data: bytes | memoryview, needle: bytes, fold: bytes, /) -> bytes:
        """Return the offsets (int64) of all matches, which may overlap. `fold` maps each byte to its other letter
        case."""

    def frames(self, data: bytes | memoryview, before: int, escapes: bool, /) -> tuple[bytes, bytes]:
        """Return the plain frames as rows of 48 bytes, and the row (int64) of the first header of each kind.

        `before` is the byte that precedes the data. With `escapes`, a mark after `<` is text."""

    def counts(self, data: bytes | memoryview, byte: bytes, cuts: bytes, /) -> bytes:
        """Return how many times (int64) a byte occurs between each pair of adjacent cuts (int64)."""

    def fill_table(
        self, entries: array[int], hashes: array[int], values: array[int], new_hashes: array[int], /
    ) -> None:
        """Implement `Columns.fill_table`."""

    def find_hashes(self, entries: array[int], hashes: array[int], wanted: array[int], /) -> bytes:
        """Implement `Columns.find_hashes`."""

    def prove(self, data: bytes | memoryview, first: int, back: int, /) -> tuple[int, int]:
        """Return the offset of the first line that may begin a document header, or -1, and the offset of the last
        `literal|>`, or -1, as `viewer.scan.end_proof` describes. The first such line ends the search. Only signs that
        end after `first` count. `back` is how far back from a line to search for an opening token."""

    def signs(
        self,
        data: bytes | memoryview,
        messages: bytes,
        of_byte: bytes,
        literals: bytes,
        leads: bytes,
        spellings: bytes,
        pictographs: bytes = b"",
        /,
    ) -> tuple[bytes, bytes]:
        """Return the bits (uint32) of each message, and the offsets (int64) of all characters that may be hidden.

        A message is three offsets (int64): its start, and the bounds of its body. Bit 1 means that it is not UTF-8, and
        bit 2 that it has a carriage return without a line feed. Bit 4 means that its body has a character that may be
        hidden: one with a first byte in `leads` and a flag for the low bits of its second and third byte in the 512
        bytes of `spellings` for this lead. With `pictographs`, a flag for each code point below 0x20000, a selector or
        joiner is left out if its neighbors prove that it is part of an emoji. `of_byte` has a bit (uint32) for each
        byte; bits beyond ASCII are ignored. A literal is 32 bytes: its bit (uint32), whether it ignores case and is in
        lower case, its length, and up to 26 bytes to find in bodies."""

    def joined(self, data: bytes | memoryview, base: int, parts: array[int], /) -> bytes | None:
        """Return the text of all parts, or None if one is doubtful: if it is not UTF-8, or a string with a control
        character or a lone surrogate.

        A part is three numbers (int64): its bounds in the input, where the data begins at `base`, and 1 if it is a JSON
        string with its quotes or 0 if its bytes are the text. Only the lowest bit of the third number counts."""

    def objects(
        self,
        data: bytes | memoryview,
        bounds: bytes,
        parts: bytes | bytearray = b"",
        names: bytes | bytearray = b"",
        text: bytes | bytearray = b"",
        wanted: bytes = b"",
        /,
    ) -> tuple[bytes, bytes]:
        """Return a byte of flags for each pair of bounds (int64), and the faults. Data between bounds must be UTF-8.

        Flag 1 means one JSON object (RFC 8259) without repeated keys, deep nesting, `\\u`, or long numbers. Flag 2
        means that the object itself has a member `ok`; flag 4, that it has `error`, or that its `ok` is false. Flag 8
        means that it certainly fits its schema, and flag 16 that it certainly does not. The byte is 0 for anything
        else, and for any doubtful object.

        `wanted` has the number (int32) of each object's schema in `SchemaColumns`, if any. A fault is four numbers
        (int64): the object, the reason, and the span. The reason is 1 for a wrong type, 2 for a word that is not
        listed, 3 for a missing member, and 4 for an unknown one."""

    def string_objects(self, data: bytes | memoryview, bounds: array[int], strings: bytes | bytearray, /) -> bytes:
        """Return flags 1, 2, and 4, as `objects` does, for each pair of bounds (int64).

        Where `strings` has a byte other than 0, the data is a JSON string with its quotes, and the flags are those of
        its text. They are 0 if the string has `\\u` or a control character."""

    def records(
        self,
        data: bytes | bytearray | memoryview,
        settings: array[int],
        programs: bytes,
        starts: array[int],
        nexts: array[int],
        sayings: array[int],
        saying_ends: array[int],
        order: array[int],
        /,
    ) -> tuple[bytes, ...]:
        """Match consecutive records of known shapes and return their columns, as `viewer.scan.records` describes."""


def load() -> Native | None:
    """Load the accelerator. Return None if it is switched off or was not built. If the processor lacks the requested
    level, use the best one below it."""
    if os.environ.get(SWITCH) == "0" or os.environ.get(BACKEND) in ("plain", "numpy"):
        return None
    module = _module()
    if module is None:
        return None
    levels = module.levels()
    wanted = asked_level()
    last = LEVELS.index(wanted) if wanted else len(levels) - 1
    module.use_level(levels[min(last, len(levels) - 1)])
    native: Native = module
    return native


def asked_level() -> str | None:
    """Return the instruction set that the environment requests, or None if it requests none. Raise `ViewerError` for an
    unknown one."""
    wanted = os.environ.get(LEVEL) or None
    if wanted not in (None, *LEVELS):
        raise ViewerError(f"unknown level {wanted}: {LEVEL} must be {', '.join(LEVELS[:-1])}, or {LEVELS[-1]}")
    return wanted


@cache
def _module() -> ModuleType | None:
    try:
        from viewer.native import _fast
    except ImportError:
        return None
    return _fast if _fast.EDITION == EDITION else None
