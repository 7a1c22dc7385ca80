"""Reading a file that changes: the result is the indexed bytes, or nothing."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.leaks.rewriting import tick
from viewer.document import one_reading
from viewer.document.document import Document
from viewer.document.values import ShownMessage
from viewer.errors import FileRewrittenError, UnprovenError
from viewer.model.visibility import END_USER
from viewer.sources import stamp
from viewer.sources.checksums import BLOCK, Checksums
from viewer.sources.file_source import FileSource
from viewer.sources.files import open_source

HEAD = "version: 2.2\n"


def turn(number: int, word: str = "Answer", channel: str = "final") -> str:
    return (
        f"<|start|>user<|message|>Question {number}<|end|>\n"
        f"<|start|>assistant<|channel|>{channel}<|message|>{word} {number}<|return|>\n"
    )


def chat(turns: int, word: str = "Answer", channel: str = "final") -> str:
    return HEAD + "".join(turn(number, word, channel) for number in range(turns))


def bodies(document: Document) -> list[str]:
    return [item.body for item in document.project(END_USER).items() if isinstance(item, ShownMessage)]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file whose stamp is old enough to be trusted."""
    monkeypatch.setattr(stamp, "YOUNGEST_NS", 0)
    return tmp_path / "chat.ocml"


@pytest.fixture
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan small files, too, so that their blocks have no checksums."""
    monkeypatch.setattr(one_reading, "BIG", 1)
    monkeypatch.setattr(one_reading, "WORTH_SCANNING", 1)


def write(path: Path, text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    with path.open("r+b" if path.exists() else "wb", buffering=0) as file:
        file.write(data)
        file.truncate()
    tick(path.parent)


def opened(path: Path) -> Document:
    return Document(open_source(str(path))).load()


class TestChecksums:
    def test_blocks_are_proven_for_any_chunk_sizes(self) -> None:
        data = os.urandom(2 * BLOCK + 77)
        for size in (BLOCK, BLOCK + 1, 100_000, len(data)):
            sums = Checksums()
            for at in range(0, len(data), size):
                sums.add(data[at : at + size])
            assert sums.read(lambda start, end: data[start:end], 5, 2 * BLOCK + 70) == data[5 : 2 * BLOCK + 70]
            assert sums.hold(lambda start, end: data[start:end])
            assert sums.is_whole

    def test_a_changed_byte_is_noticed_only_in_its_block(self) -> None:
        data = bytearray(os.urandom(2 * BLOCK + 77))
        sums = Checksums()
        sums.add(bytes(data))
        data[BLOCK] ^= 1
        assert sums.read(lambda start, end: bytes(data[start:end]), BLOCK + 9, BLOCK + 10) is None
        assert sums.read(lambda start, end: bytes(data[start:end]), 9, 10) == bytes(data[9:10])
        assert not sums.hold(lambda start, end: bytes(data[start:end]))

    def test_only_parsed_blocks_have_a_checksum(self) -> None:
        sums = Checksums()
        sums.add(bytes(3 * BLOCK), [(BLOCK + 1, BLOCK + 2)])
        assert not sums.is_whole
        assert [sums.covers(at, at + 1) for at in (0, BLOCK, 2 * BLOCK)] == [False, True, False]


class TestReading:
    def test_an_unchanged_file_is_read_as_before(self, path: Path) -> None:
        write(path, chat(30))
        assert bodies(opened(path))[-1] == "Answer 29"

    def test_appending_is_not_a_rewrite(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        write(path, chat(40))
        assert bodies(document)[-1] == "Answer 29"

    @pytest.mark.slow
    @pytest.mark.usefixtures("scanned")
    def test_appending_to_a_scanned_file_proves_it_again(self, path: Path) -> None:
        write(path, chat(9000))
        document = opened(path)
        write(path, chat(9100))
        assert bodies(document)[-1] == "Answer 8999"
        with pytest.raises(UnprovenError):
            document._source.read(400_000, 400_010)

    def test_a_touched_file_is_not_a_rewrite(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        path.touch()
        assert len(bodies(document)) == 60

    @pytest.mark.share(quick=4)
    @pytest.mark.parametrize("restores", [False, True])
    @pytest.mark.parametrize(
        "other",
        [
            lambda: chat(30, "Secret", "hidde"),
            lambda: chat(31, "Secret", "analysis"),
            lambda: chat(2),
            lambda: "",
            lambda: HEAD + "x" * 900 + chat(30),
        ],
        ids=["same length", "longer", "shorter", "empty", "moved"],
    )
    @pytest.mark.parametrize("is_scanned", [False, True])
    def test_no_body_comes_from_a_rewritten_file(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, other: Callable[[], str], restores: bool, is_scanned: bool
    ) -> None:
        if is_scanned:
            monkeypatch.setattr(one_reading, "BIG", 1)
            monkeypatch.setattr(one_reading, "WORTH_SCANNING", 1)
        write(path, chat(30))
        status = path.stat()
        document = opened(path)
        write(path, other())
        if restores:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        with pytest.raises(FileRewrittenError):
            bodies(document)
        document.begin_again()
        assert not any("Secret" in body for body in bodies(document.load()))

    def test_old_bytes_that_come_back_do_not_count(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        write(path, chat(30, "Secret", "hidde"))
        with pytest.raises(FileRewrittenError):
            bodies(document)
        write(path, chat(30))
        with pytest.raises(FileRewrittenError):
            bodies(document)

    def test_the_file_that_was_opened_is_read_on_if_another_takes_its_place(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        beside = path.with_name("beside")
        beside.write_text(chat(30, "Secret", "hidde"))
        beside.replace(path)
        assert bodies(document)[-1] == "Answer 29"

    @pytest.mark.slow
    def test_a_rewrite_between_two_steps_starts_over(self, path: Path) -> None:
        write(path, chat(3000))
        document = Document(open_source(str(path)))
        document.read_some(20_000)
        write(path, chat(3000, "Others"))
        document.load()
        assert document.revision == 1
        assert bodies(document)[1] == "Others 0"

    def test_after_a_rewrite_the_screen_gets_an_empty_body_and_a_report(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        calls: list[int] = []
        document.rewrites.withhold(lambda: calls.append(1))
        projection = document.project(END_USER)
        write(path, chat(30, "Secret", "hidde"))
        assert projection.item(projection.rows(), 1).body == ""  # type: ignore[union-attr]
        assert calls
        document.begin_again()
        known = len(calls)
        assert projection.item(projection.rows(), 1).body == ""  # type: ignore[union-attr]
        assert len(calls) == known

    def test_a_projection_older_than_the_request_also_withholds(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        projection = document.project(END_USER)
        calls: list[int] = []
        document.rewrites.withhold(lambda: calls.append(1))
        write(path, chat(30, "Secret", "hidde"))
        assert projection.item(projection.rows(), 1).body == ""  # type: ignore[union-attr]
        assert calls

    def test_the_screen_trusts_no_stamp(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(path, chat(30))
        monkeypatch.setattr(
            "viewer.sources.guarded_file.stamp_of", lambda descriptor: (1, 1, path.stat().st_size, 1, 1)
        )
        document = opened(path)
        document.rewrites.withhold(lambda: None)
        write(path, chat(30, "Secret", "hidde"))
        assert set(bodies(document)) == {""}

    def test_a_command_reads_no_message_a_second_time(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(path, chat(30))
        document = opened(path)
        with monkeypatch.context() as patch:
            patch.delattr("viewer.sources.file_source.FileSource.read_again")
            assert len(bodies(document)) == len(document.index)
            document.rewrites.withhold(lambda: None)
            with pytest.raises(AttributeError):
                bodies(document)

    def test_a_young_stamp_proves_nothing(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(path, chat(30))
        monkeypatch.setattr(stamp, "YOUNGEST_NS", 10**19)
        monkeypatch.setattr(
            "viewer.sources.guarded_file.stamp_of", lambda descriptor: (1, 1, path.stat().st_size, 1, 1)
        )
        document = opened(path)
        write(path, chat(30, "Secret", "hidde"))
        with pytest.raises(FileRewrittenError):
            bodies(document)

    def test_a_check_finds_a_rewrite_and_nothing_else(self, path: Path) -> None:
        write(path, chat(30))
        document = opened(path)
        assert not document.stored.is_rewritten()
        write(path, chat(40))
        assert not document.stored.is_rewritten()
        path.touch()
        assert not document.stored.is_rewritten()
        write(path, chat(40, "Secret", "hidde"))
        assert document.stored.is_rewritten()
        document.begin_again()
        document.load()
        assert not document.stored.is_rewritten()
        write(path, chat(1))
        assert document.stored.is_rewritten()

    def test_checking_an_unchanged_file_reads_nothing(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(path, chat(30))
        document = opened(path)
        document.stored.is_rewritten()
        monkeypatch.setattr(os, "pread", None)
        assert not document.stored.is_rewritten()

    def test_utf_16_of_two_contents_is_never_mixed(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        other = chat(30, "Secret", "hidde")
        write(path, chat(30).encode("utf-16"))
        monkeypatch.setattr("viewer.sources.files.CHUNK", 500)
        pread, parts = os.pread, []

        def rewriting(descriptor: int, size: int, offset: int) -> bytes:
            parts.append(1)
            if len(parts) == 4:
                write(path, other.encode("utf-16"))
            return pread(descriptor, size, offset)

        monkeypatch.setattr(os, "pread", rewriting)
        source = open_source(str(path))
        assert source.read(0, source.size).decode() == other

    @pytest.mark.slow
    def test_descriptors_are_closed(self, path: Path) -> None:
        write(path, chat(3))
        gc.collect()
        before = len(list(Path("/proc/self/fd").iterdir()))
        document = opened(path)
        for _ in range(5):
            document.begin_again()
            document.load()
        assert isinstance(document._source, FileSource)
        del document
        gc.collect()
        assert len(list(Path("/proc/self/fd").iterdir())) == before
