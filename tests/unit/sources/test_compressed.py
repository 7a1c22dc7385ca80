"""Compressed files: their content, their notes, and damaged files."""

from __future__ import annotations

import gzip
import importlib
import lzma
import os
import random
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from viewer.document.document import open_document
from viewer.errors import ViewerError
from viewer.model.diagnostic import Diagnostic
from viewer.sources import files as sources
from viewer.sources.compressed import COMPRESSIONS, MOST_KEPT
from viewer.sources.files import open_source
from viewer.sources.limits import MB, Limits, load_limits_with

TEXT = b"version: 2.2\n<|start|>user<|message|>Hi<|end|>\n" * 200


def zstd(data: bytes) -> bytes:
    module = pytest.importorskip("zstandard")
    return bytes(module.ZstdCompressor(write_content_size=False, write_checksum=True).compress(data))


WAYS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "xz": lzma.compress, "zstd": zstd}
EVERY_WAY = pytest.mark.parametrize("name", WAYS)


@pytest.fixture(autouse=True)
def default_limits() -> Iterator[None]:
    load_limits_with(Limits)
    yield
    load_limits_with(Limits)


def read(path: Path) -> tuple[bytes, str]:
    source = open_source(str(path))
    return source.read(0, source.size), source.note


def faults(path: Path) -> list[Diagnostic]:
    """Return the file-level diagnostics about compression."""
    found = [finding.diagnostic for finding in open_document(str(path)).findings()]
    return [one for one in found if one.code == "E-STREAM-TRUNCATED" and one.message is None]


@EVERY_WAY
def test_a_compressed_file_gives_its_content_and_the_ratio(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(WAYS[name](TEXT))
    data, note = read(path)
    assert data == TEXT
    assert note == f"{name}, 1:{len(TEXT) / path.stat().st_size:.1f}"
    assert not open_source(str(path)).converted
    assert open_document(str(path)).message_count == 200


@EVERY_WAY
def test_several_members_are_joined(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    parts = [b"one\n", b"", b"two\n" * 3000, b"three\n"] * 50
    path.write_bytes(b"".join(map(WAYS[name], parts)))
    data, note = read(path)
    assert data == b"".join(parts)
    assert note.startswith(f"{name}, 1:")
    assert "," not in note.removeprefix(f"{name}, ")


@EVERY_WAY
def test_a_truncated_file_gives_what_it_has(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    text = random.Random(4).randbytes(300_000)
    whole = WAYS[name](text)
    path.write_bytes(whole[: len(whole) // 2])
    data, note = read(path)
    assert text.startswith(data)
    assert (len(data) > 20_000) == (name != "xz" or len(data) > 0)
    assert note.endswith("compressed data ends early")


@EVERY_WAY
def test_every_beginning_is_read_without_raising(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    whole = WAYS[name](b"some text\n" * 9)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        data, _ = read(path)
        assert (b"some text\n" * 9).startswith(data) or data == whole[:length]


@EVERY_WAY
def test_damage_is_reported(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    whole = bytearray(WAYS[name](random.Random(4).randbytes(100_000)))
    whole[30_000:30_010] = bytes(10)
    whole[-8:] = bytes(8)
    path.write_bytes(whole)
    assert read(path)[1].endswith(("compressed data is damaged", "compressed data ends early"))


@EVERY_WAY
def test_data_after_the_end_is_ignored(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(WAYS[name](TEXT) + b"something else")
    assert read(path)[0] == TEXT
    assert read(path)[1].endswith("the data after the compressed stream is ignored")


def test_zeros_that_pad_a_block_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(gzip.compress(TEXT) + bytes(10_000) + gzip.compress(TEXT) + bytes(100))
    data, note = read(path)
    assert data == 2 * TEXT
    assert "ignored" not in note


@pytest.mark.share(quick=3, test=3)
@EVERY_WAY
def test_a_bomb_is_cut_off(name: str, tmp_path: Path) -> None:
    load_limits_with(lambda: Limits(max_decompressed=4 * MB))
    path = tmp_path / "sample"
    path.write_bytes(WAYS[name](TEXT + b"the same line again\n" * (40 * MB // 20)))
    data, note = read(path)
    assert len(data) == 4 * MB
    assert note.endswith("cut off at 4 MB")
    assert note.startswith(f"{name}, 1:")
    assert [(one.reason, one.start, one.end) for one in faults(path)] == [("too-large", 4 * MB, 4 * MB)]


def whole(name: str) -> bytes:
    """Return a small transcript with lines that do not repeat."""
    chance = random.Random(5)
    turns = (b"<|start|>user<|message|>%s<|end|>\n" % chance.randbytes(12).hex().encode() for _ in range(60))
    return WAYS[name](b"version: 2.2\n" + b"".join(turns))


@EVERY_WAY
def test_a_truncated_file_is_reported_where_reading_stopped(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    data = whole(name)
    for length in (len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        size = open_source(str(path)).size
        assert [(one.reason, one.start, one.end) for one in faults(path)] == [("compressed-truncated", size, size)]


@EVERY_WAY
def test_a_wrong_checksum_is_reported_and_loses_nothing(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    data = bytearray(whole(name))
    text = read_bytes(path, bytes(data))
    data[{"gzip": -7, "xz": -30, "zstd": -1}[name]] ^= 1
    path.write_bytes(data)
    assert [one.reason for one in faults(path)] == ["compressed-damaged"]
    assert name == "zstd" or read(path)[0] == text


def read_bytes(path: Path, data: bytes) -> bytes:
    path.write_bytes(data)
    return read(path)[0]


@EVERY_WAY
def test_data_after_the_last_member_is_reported(name: str, tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(whole(name) + b"something else")
    assert [one.reason for one in faults(path)] == ["compressed-damaged"]
    path.write_bytes(whole(name) + WAYS[name](b"") + whole(name) + bytes(512))
    assert faults(path) == []


def campaign(name: str, path: Path, rounds: int) -> None:
    """Try random damage, cuts, insertions, and tails: the decompressed text is right, or there is a diagnostic."""
    chance = random.Random(f"{name} {rounds}")
    magic = next(len(row.magic) for row in COMPRESSIONS if row.name == name)
    base = whole(name)
    text = read_bytes(path, base)
    for number in range(rounds):
        data = bytearray(base if chance.random() < 0.7 else base + WAYS[name](b"") + base)
        expected = text if len(data) == len(base) else text + text
        for _ in range(chance.choice((1, 1, 1, 2, 9))):
            if len(data) <= magic:
                break  # nothing is left to damage
            place = chance.randrange(magic, len(data))
            match chance.randrange(5):
                case 0:
                    data[place] ^= 1 << chance.randrange(8)
                case 1:
                    del data[place:]
                    data += b"" if len(data) > magic else base[len(data) : magic + 1]
                case 2:
                    del data[place : place + chance.randrange(1, 9)]
                case 3:
                    data[place:place] = chance.randbytes(chance.randrange(1, 9))
                case _:
                    data += chance.randbytes(chance.randrange(1, 40))
        got = read_bytes(path, bytes(data))
        assert got == expected or faults(path), (number, bytes(data).hex())


@pytest.mark.share(quick=12)
@EVERY_WAY
def test_random_damage_is_never_silent(name: str, tmp_path: Path) -> None:
    campaign(name, tmp_path / "sample", 120)


@pytest.mark.lab
@EVERY_WAY
def test_random_damage_is_never_silent_in_a_long_campaign(name: str, tmp_path: Path) -> None:
    campaign(name, tmp_path / "sample", 5000)


@pytest.mark.slow
def test_damage_far_into_a_large_member_loses_one_slice_at_most(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    text = random.Random(7).randbytes(2 * MOST_KEPT)
    data = bytearray(gzip.compress(text, 1))
    data[-6] ^= 1
    path.write_bytes(data)
    assert len(text) - 8192 <= len(read(path)[0]) <= len(text)
    assert [one.reason for one in faults(path)] == ["compressed-damaged"]


def test_compressed_utf_16_is_converted(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(gzip.compress("Grüße".encode("utf-16")))
    source = open_source(str(path))
    assert source.read(0, 100).decode() == "Grüße"
    assert source.converted
    assert source.note.endswith(", UTF-16 read as UTF-8")


def test_a_compressed_pipe_is_read(tmp_path: Path) -> None:
    program = (
        "from viewer.sources.files import open_source\ns = open_source('-')\nprint(s.note, s.read(0, 99).decode())"
    )
    run = subprocess.run([sys.executable, "-c", program], input=gzip.compress(b"text"), capture_output=True, check=True)
    assert run.stdout.decode() == "spooled from a pipe, gzip, 1:0.2 text\n"


def test_notes_of_other_sources(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(b"text")
    assert read(path) == (b"text", "")
    path.write_bytes("text".encode("utf-16"))
    assert read(path) == (b"text", "UTF-16 read as UTF-8")


def test_zstd_without_its_library_is_reported_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError):
        importlib.import_module("zstandard")
    path = tmp_path / "sample"
    path.write_bytes(b"\x28\xb5\x2f\xfd" + bytes(20))
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(ViewerError, match="install the Python package zstandard"):
        open_source(str(path))
    assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_file_with_only_a_magic_number_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "sample"
    path.write_bytes(b"\x1f\x8b\x08 and then some text")
    data, note = read(path)
    assert data == b""
    assert "compressed data" in note


@pytest.mark.parametrize("size", [1, 2, 5, 6, 7])
def test_the_first_bytes_may_come_one_by_one(size: int) -> None:
    class Slow:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def read1(self, _: int, /) -> bytes:
            data, self.data = self.data[:size], self.data[size:]
            return data

    source = sources._spooled("slow", Slow(gzip.compress(b"text")))
    assert source.read(0, 10) == b"text"
    assert sources._spooled("slow", Slow(os.urandom(0))).size == 0
    assert zlib.crc32(source.read(0, 10)) == zlib.crc32(b"text")
