"""Everything that can happen to a file while it is followed, on real files."""

from __future__ import annotations

import errno
import gc
import os
from pathlib import Path

import pytest

from tests.support.source_following import Clock, append, failing, followed, reader_of
from viewer.errors import FileRewrittenError
from viewer.sources.changes import Grew, Reason, SourceCondition, SourceState
from viewer.sources.follow import TURN, FollowSource
from viewer.sources.watcher import Polling


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "run.log"
    file.write_bytes(b"first\n")
    return file


class TestGrowth:
    def test_appended_bytes_come_next(self, path: Path) -> None:
        reader = followed(path)
        append(path, b"second\n")
        assert reader.settle() == b"first\nsecond\n"
        assert (reader.resets, reader.conditions) == ([], [])

    def test_a_character_and_a_token_split_over_writes_come_as_bytes(self, path: Path) -> None:
        reader = followed(path)
        for byte in "<|start|>é€😀".encode():
            append(path, bytes([byte]))
            reader.settle()
        assert reader.text == "first\n<|start|>é€😀".encode()

    def test_touch_is_not_a_reset(self, path: Path) -> None:
        reader = followed(path)
        os.utime(path, (1, 1))
        path.touch()
        assert reader.settle() == b"first\n"
        assert reader.resets == []

    def test_a_burst_comes_in_slices(self, path: Path) -> None:
        data = os.urandom(1024) * (20 * 1024)
        path.write_bytes(data)
        source = FollowSource(str(path))
        sizes = [len(change.data) for _ in range(4) for change in source.poll() if isinstance(change, Grew)]
        assert sizes == [TURN, TURN, len(data) - 2 * TURN]
        assert source.read(0, len(data)) == data

    def test_one_long_line_and_nul_bytes(self, path: Path) -> None:
        path.write_bytes(b"a" * (12 * 1024 * 1024) + b"\0\r\n")
        assert len(reader_of(path).settle()) == 12 * 1024 * 1024 + 3

    def test_utf_16_becomes_utf_8_for_any_chunks(self, path: Path) -> None:
        path.write_bytes(b"")
        reader = followed(path)
        for byte in "héllo 😀\n".encode("utf-16"):
            append(path, bytes([byte]))
            reader.settle()
        assert reader.text.decode() == "héllo 😀\n"
        assert reader.source.converted
        assert reader.source.note == "UTF-16 read as UTF-8"


class TestRewriting:
    def test_truncated(self, path: Path) -> None:
        reader = followed(path)
        path.write_bytes(b"")
        assert reader.settle() == b""
        append(path, b"again\n")
        assert reader.settle() == b"again\n"
        assert reader.resets == [Reason.TRUNCATED]

    @pytest.mark.parametrize("text", [b"new\n", b"other\n", b"something longer\n"])
    def test_rewritten_shorter_with_the_same_length_and_longer(self, path: Path, text: bytes) -> None:
        reader = followed(path)
        path.write_bytes(text)
        assert reader.settle() == text
        assert len(reader.resets) == 1

    def test_the_same_length_within_the_same_tick_of_the_clock(self, path: Path) -> None:
        reader = followed(path)
        reader.source.poll()
        times = path.stat().st_mtime_ns
        with path.open("r+b") as file:
            file.write(b"other\n")
        os.utime(path, ns=(times, times))
        assert reader.settle() == b"other\n"
        assert reader.resets == [Reason.REWRITTEN]

    def test_a_change_just_before_the_offset_is_noticed(self, path: Path) -> None:
        path.write_bytes(b"a" * 5000)
        reader = followed(path)
        path.write_bytes(b"a" * 4900 + b"b" * 200)
        assert reader.settle() == b"a" * 4900 + b"b" * 200
        assert reader.resets == [Reason.REWRITTEN]

    def test_copytruncate(self, path: Path, tmp_path: Path) -> None:
        reader = followed(path)
        with path.open("ab") as writer:
            (tmp_path / "run.log.1").write_bytes(path.read_bytes())
            os.truncate(path, 0)
            writer.write(b"new\n")
        assert reader.settle() == b"new\n"
        assert reader.resets == [Reason.TRUNCATED]

    def test_a_writer_that_continues_at_its_own_offset_leaves_a_hole(self, path: Path) -> None:
        path.write_bytes(b"")
        with path.open("wb", buffering=0) as writer:
            writer.write(b"before\n")
            reader = followed(path)
            os.truncate(path, 0)
            writer.write(b"after\n")
        assert reader.settle() == b"\0" * 7 + b"after\n"
        assert reader.resets == [Reason.REWRITTEN]

    def test_indexed_bytes_are_never_read_from_a_different_file(self, path: Path) -> None:
        size = 3 * 1024 * 1024
        path.write_bytes(b"seen" * (size // 4))
        reader = followed(path)
        old = reader.source.generation
        path.write_bytes(b"hide" * (size // 4))
        with pytest.raises(FileRewrittenError):
            old.read(0, 4)
        reader.settle()
        with pytest.raises(FileRewrittenError):
            old.read(0, 4)
        path.write_bytes(b"seen" * (size // 4))
        with pytest.raises(FileRewrittenError):
            old.read(0, 4)

    def test_a_file_that_became_shorter_is_not_read_either(self, path: Path) -> None:
        path.write_bytes(b"a" * (2 * 1024 * 1024))
        reader = followed(path)
        os.truncate(path, 100)
        with pytest.raises(FileRewrittenError):
            reader.source.read(0, 10)


class TestRotation:
    def test_renamed_and_recreated(self, path: Path, tmp_path: Path) -> None:
        reader = followed(path)
        with path.open("ab", buffering=0) as writer:
            path.rename(tmp_path / "run.log.1")
            writer.write(b"late\n")
            assert reader.settle() == b"first\nlate\n"
            writer.write(b"last\n")
        path.write_bytes(b"new\n")
        assert reader.source.poll() == [Grew(b"last\n")]
        assert reader.settle() == b"new\n"
        assert reader.resets == [Reason.REPLACED]
        assert reader.conditions == [SourceCondition.WAITING, SourceCondition.OK]

    def test_deleted_and_recreated(self, path: Path) -> None:
        reader = followed(path)
        path.unlink()
        assert reader.settle() == b"first\n"
        path.write_bytes(b"first\n")
        assert reader.settle() == b"first\n"
        assert reader.resets == [Reason.REPLACED]

    def test_replaced_at_once(self, path: Path, tmp_path: Path) -> None:
        reader = followed(path)
        (tmp_path / "next").write_bytes(b"first\nand more\n")
        (tmp_path / "next").replace(path)
        assert reader.settle() == b"first\nand more\n"
        assert (reader.resets, reader.conditions) == ([Reason.REPLACED], [])

    def test_a_symlink_is_switched(self, path: Path, tmp_path: Path) -> None:
        link, other = tmp_path / "link", tmp_path / "other.log"
        link.symlink_to(path)
        reader = followed(link)
        other.write_bytes(b"other\n")
        append(path, b"last\n")
        (tmp_path / "fresh").symlink_to(other)
        (tmp_path / "fresh").replace(link)
        assert reader.source.poll() == [Grew(b"last\n")]
        assert reader.settle() == b"other\n"
        assert reader.resets == [Reason.REPLACED]

    def test_the_old_file_stays_readable(self, path: Path) -> None:
        path.write_bytes(b"old!" * 1024 * 1024)
        reader = followed(path)
        old = reader.source.generation
        path.unlink()
        path.write_bytes(b"new")
        reader.settle()
        assert old.read(0, 4) == b"old!"

    @pytest.mark.slow
    def test_no_descriptors_are_leaked(self, path: Path) -> None:
        reader = followed(path)
        before = len(list(Path("/proc/self/fd").iterdir()))
        for number in range(20):
            path.unlink()
            path.write_bytes(b"%d\n" % number)
            reader.settle()
            path.write_bytes(b"")
            reader.settle()
        gc.collect()
        assert len(list(Path("/proc/self/fd").iterdir())) <= before


class TestTrouble:
    def test_not_there_yet(self, tmp_path: Path) -> None:
        path = tmp_path / "later" / "run.log"
        reader = followed(path)
        assert reader.source.state.sentence == "waiting for the file"
        path.parent.mkdir()
        path.write_bytes(b"there\n")
        assert reader.settle() == b"there\n"
        assert (reader.resets, reader.conditions) == ([], [SourceCondition.WAITING, SourceCondition.OK])

    def test_a_directory_first(self, tmp_path: Path) -> None:
        path = tmp_path / "run.log"
        path.mkdir()
        reader = followed(path)
        path.rmdir()
        path.write_bytes(b"there\n")
        assert reader.settle() == b"there\n"
        assert reader.conditions[0] is SourceCondition.DIRECTORY
        assert reader.source.state.condition is SourceCondition.OK

    def test_a_directory_in_its_place(self, path: Path) -> None:
        reader = followed(path)
        path.unlink()
        path.mkdir()
        assert reader.settle() == b"first\n"
        assert reader.conditions == [SourceCondition.DIRECTORY]

    def test_a_dangling_symlink(self, tmp_path: Path) -> None:
        link = tmp_path / "link"
        link.symlink_to(tmp_path / "target")
        reader = followed(link)
        (tmp_path / "target").write_bytes(b"there\n")
        assert reader.settle() == b"there\n"
        assert reader.conditions == [SourceCondition.WAITING, SourceCondition.OK]

    @pytest.mark.parametrize(
        ("number", "condition"),
        [
            (errno.EACCES, SourceCondition.DENIED),
            (errno.ESTALE, SourceCondition.ERROR),
            (errno.EIO, SourceCondition.ERROR),
            (errno.ELOOP, SourceCondition.ERROR),
        ],
    )
    @pytest.mark.parametrize("call", ["open", "stat"])
    def test_opening_fails_for_a_while(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, number: int, condition: SourceCondition, call: str
    ) -> None:
        with monkeypatch.context() as broken:
            broken.setattr(os, call, failing(number))
            reader = reader_of(path)
            reader.settle()
        assert reader.settle() == b"first\n"
        assert reader.conditions == [condition, SourceCondition.OK]

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_permission_denied(self, path: Path) -> None:
        path.chmod(0)
        reader = followed(path)
        path.chmod(0o600)
        assert reader.settle() == b"first\n"
        assert reader.conditions == [SourceCondition.DENIED, SourceCondition.OK]

    @pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE])
    @pytest.mark.parametrize("rewritten", [False, True])
    def test_reading_fails_for_a_while(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, number: int, rewritten: bool
    ) -> None:
        reader = followed(path)
        append(path, b"more\n")
        with monkeypatch.context() as broken:
            broken.setattr(os, "pread", failing(number))
            reader.clock.now += 1
            assert [change for change in reader.source.poll() if not isinstance(change, SourceState)] == []
            for _ in range(5):
                reader.clock.now += 5
                reader.source.poll()
        if rewritten:
            path.write_bytes(b"other\n")
        assert reader.settle() == (b"other\n" if rewritten else b"first\nmore\n")
        assert reader.resets == ([Reason.REPLACED] if rewritten else [])
        assert reader.source.state.condition is SourceCondition.OK

    def test_retries_back_off_and_an_event_causes_one(self, tmp_path: Path) -> None:
        clock = Clock()
        looked = []

        class Woken(Polling):
            def wait(self, timeout: float) -> bool:
                return True

        source = FollowSource(str(tmp_path / "run.log"), wake=Woken(), clock=clock)
        for _ in range(400):
            before = source._retry_at
            source.poll()
            if source._retry_at != before:
                looked.append(clock.now)
            clock.now += 0.02
        assert len(looked) < 20
        (tmp_path / "run.log").write_bytes(b"there\n")
        assert source.poll() == []
        source.wait(10)
        assert Grew(b"there\n") in source.poll()
