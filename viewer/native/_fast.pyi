"""Types of the C module; `Native` in the package describes its functions."""

from array import array

EDITION: int

_Column = array[int]

def fill_table(entries: _Column, hashes: _Column, values: _Column, new_hashes: _Column, /) -> None: ...
def find_hashes(entries: _Column, hashes: _Column, wanted: _Column, /) -> bytes: ...
def counts(data: bytes | memoryview, byte: bytes, cuts: bytes, /) -> bytes: ...
def find(data: bytes | memoryview, needle: bytes, fold: bytes, /) -> bytes: ...
def frames(data: bytes | memoryview, before: int, escapes: bool, /) -> tuple[bytes, bytes]: ...
def objects(
    data: bytes | memoryview,
    bounds: bytes,
    parts: bytes | bytearray = b"",
    names: bytes | bytearray = b"",
    text: bytes | bytearray = b"",
    wanted: bytes = b"",
    /,
) -> tuple[bytes, bytes]: ...
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
