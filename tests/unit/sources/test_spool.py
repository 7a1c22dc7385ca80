"""Input that cannot be read twice is kept under a limit, in memory and then in an unlinked file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.source_following import reader_of
from viewer.document.live import LiveDocument
from viewer.errors import ViewerError
from viewer.sources.changes import SourceCondition
from viewer.sources.files import open_source
from viewer.sources.followed_pipe import FollowedPipe
from viewer.sources.limits import KB, MB, Limits, SpoolError, load_limits_with, parse_size, size_text
from viewer.sources.revision import FileRevision
from viewer.sources.spool import IN_MEMORY, Spool

STOPPED = "stopped after 16 KB: {} cannot be read twice; raise max_spool to continue"


@pytest.fixture(autouse=True)
def small_cap() -> Iterator[None]:
    load_limits_with(lambda: Limits(max_spool=16 * KB))
    yield
    load_limits_with(Limits)


def piped(data: bytes) -> int:
    """Return a closed pipe with this content."""
    reading, writing = os.pipe()
    os.write(writing, data)
    os.close(writing)
    return reading


def test_an_endless_device_is_cut_off() -> None:
    with pytest.raises(ViewerError, match="^" + STOPPED.format("/dev/zero") + "$"):
        open_source("/dev/zero")


@pytest.mark.parametrize("size", [16 * KB - 1, 16 * KB])
def test_input_within_the_cap_is_read(size: int) -> None:
    reading = piped(b"x" * size)
    assert open_source(f"/dev/fd/{reading}").size == size
    os.close(reading)


def test_a_converted_file_is_spooled_under_the_same_cap(tmp_path: Path) -> None:
    path = tmp_path / "utf-16"
    path.write_text("x" * 20_000, "utf-16")
    with pytest.raises(ViewerError, match="raise max_spool to continue"):
        open_source(str(path))


def test_a_followed_pipe_keeps_what_it_has_and_stops() -> None:
    reader = reader_of("/dev/zero")
    reader.settle()
    assert reader.text == bytes(16 * KB)
    assert reader.source.has_ended
    assert reader.conditions == [SourceCondition.STOPPED]
    assert reader.source.state.sentence == STOPPED.format("/dev/zero")
    assert reader.source.read(16 * KB - 1, 16 * KB + 9) == b"\0"


def test_a_followed_pipe_of_exactly_the_cap_has_ended() -> None:
    reading = piped(b"x" * 16 * KB)
    reader = reader_of(f"/dev/fd/{reading}")
    reader.settle()
    os.close(reading)
    assert (len(reader.text), reader.conditions) == (16 * KB, [SourceCondition.ENDED])


def test_a_followed_utf_16_file_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "utf-16"
    path.write_text("x" * 20_000, "utf-16")
    reader = reader_of(path)
    reader.settle()
    assert (reader.text, reader.conditions) == (b"x" * 16 * KB, [SourceCondition.STOPPED])


def test_a_document_that_was_stopped_is_complete() -> None:
    text = b"<|start|>user<|message|>Hello<|end|>\n" * 2000
    reading = piped(text[: 17 * KB])
    document = LiveDocument(reader_of(f"/dev/fd/{reading}").source)
    document.load()
    os.close(reading)
    assert document.is_complete
    assert document.message_count == 16 * KB // 37 + 1


def test_a_spool_moves_to_an_unlinked_file_of_mode_0600() -> None:
    load_limits_with(Limits)
    before = open_descriptors()
    spool = Spool("input")
    spool.append(b"x" * IN_MEMORY)
    assert open_descriptors() == before
    spool.append(b"y" * 10)
    (descriptor,) = open_descriptors() - before
    facts = os.fstat(descriptor)
    assert (stat.S_IMODE(facts.st_mode), facts.st_nlink, facts.st_size) == (0o600, 0, IN_MEMORY + 10)
    assert spool.read(IN_MEMORY - 2, IN_MEMORY + 99) == b"xx" + b"y" * 10
    assert spool.read(5, 2) == b""
    del spool
    assert open_descriptors() == before


def test_nul_bytes_take_no_space_on_the_disk() -> None:
    load_limits_with(Limits)
    before = open_descriptors()
    spool = Spool("input")
    for data in (b"x" * (IN_MEMORY + 1), bytes(4 * MB), b"y\0\0", bytes(4 * MB)):
        spool.append(data)
    (descriptor,) = open_descriptors() - before
    assert os.fstat(descriptor).st_blocks * 512 < 9 * MB
    end = IN_MEMORY + 4 * MB
    assert spool.read(IN_MEMORY, IN_MEMORY + 3) == b"x\0\0"
    assert spool.read(end, end + 5) == b"\0y\0\0\0"
    assert len(spool.read(0, 99 * MB)) == spool.size == IN_MEMORY + 8 * MB + 4


def open_descriptors() -> set[int]:
    return {int(entry.name) for entry in list(Path("/proc/self/fd").iterdir()) if entry.is_symlink()}


def test_a_full_disk_is_reported_in_one_sentence_and_keeps_what_is_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    load_limits_with(Limits)
    spool = Spool("<stdin>")
    spool.append(b"x" * 100)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(SpoolError, match=r"^<stdin> cannot be spooled: no space left on device; set TMPDIR to "):
        spool.append(b"y" * IN_MEMORY)
    monkeypatch.undo()
    assert (spool.size, spool.read(98, 200)) == (100, b"xx")


def test_a_full_disk_stops_a_followed_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    load_limits_with(Limits)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    generation = FileRevision("pipe", FollowedPipe(os.open("/dev/zero", os.O_RDONLY), ends=True))
    text = generation.add(bytes(4 * MB)) + generation.add(bytes(8 * MB))
    assert (len(text), generation.size) == (4 * MB, 4 * MB)
    assert "no space left on device" in generation.stopped


@pytest.mark.parametrize(
    ("text", "size"),
    [("4 GB", 4 << 30), ("1.5MB", 3 << 19), ("64 kb", 65536), ("4096", 4096), ("9 bytes", 9), ("0", None), ("-1", None)]
    + [(text, None) for text in ("", "GB", "4 GiB", "1e9", "4 GB 2", "９ KB", "9" * 16)],
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


def test_sizes_in_words() -> None:
    assert [size_text(size) for size in (4 << 30, 3 << 19, 100 * KB, 1000, 1)] == [
        "4 GB", "1536 KB", "100 KB", "1000 bytes", "1 byte",
    ]  # fmt: skip
