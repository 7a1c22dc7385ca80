"""Types of the C module; `Native` in the package describes its functions."""

from array import array

EDITION: int

_Column = array[int]

def fill_table(entries: _Column, hashes: _Column, values: _Column, new_hashes: _Column, /) -> None: ...
def find_hashes(entries: _Column, hashes: _Column, wanted: _Column, /) -> bytes: ...
def counts(data: bytes | memoryview, byte: bytes, cuts: bytes, /) -> bytes: ...
def find(data: bytes | memoryview, needle: bytes, fold: bytes, /) -> bytes: ...
def frames(data: bytes | memoryview, before: int, escapes: bool, /) -> tuple[bytes, bytes]: ...
def joined(data: bytes | memoryview, base: int, parts: _Column, /) -> bytes | None: ...
def objects(
    data: bytes | memoryview,
    bounds: bytes,
    parts: bytes | bytearray = b"",
    names: bytes | bytearray = b"",
    text: bytes | bytearray = b"",
    wanted: bytes = b"",
    /,
) -> tuple[bytes, bytes]: ...
def prove(data: bytes | memoryview, first: int, back: int, /) -> tuple[int, int]: ...
def records(
    data: bytes | bytearray | memoryview,
    settings: _Column,
    programs: bytes,
    starts: _Column,
    nexts: _Column,
    sayings: _Column,
    saying_ends: _Column,
    order: _Column,
    /,
) -> tuple[bytes, ...]: ...
def string_objects(data: bytes | memoryview, bounds: _Column, strings: bytes | bytearray, /) -> bytes: ...
def signs(
    data: bytes | memoryview,
    messages: bytes,
    of_byte: bytes,
    literals: bytes,
    leads: bytes,
    spellings: bytes,
    pictographs: bytes = b"",
    /,
) -> tuple[bytes, bytes]: ...
def levels() -> tuple[str, ...]: ...
def use_level(name: str, /) -> None: ...
