"""Pipes and FIFOs while they are followed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.source_following import followed, reader_of
from viewer.sources.changes import Reason, SourceCondition


class TestStreams:
    def test_the_end_of_one_writer_is_not_the_end_of_a_fifo(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        reader = followed(path)
        for text in (b"one\n", b"", b"two\n"):
            with path.open("wb") as writer:
                writer.write(text)
                writer.flush()
            reader.settle()
        assert reader.text == b"one\ntwo\n"
        assert (reader.resets, reader.conditions) == ([], [])
        assert reader.source.note == "spooled from a pipe"

    def test_two_writers_of_a_fifo(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        reader = followed(path)
        with path.open("wb", buffering=0) as one, path.open("wb", buffering=0) as other:
            one.write(b"a")
            other.write(b"b")
            one.write(b"c")
            assert reader.settle() == b"abc"

    def test_a_recreated_fifo_is_reopened(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        reader = followed(path)
        with path.open("wb") as writer:
            writer.write(b"one\n")
        path.unlink()
        assert reader.settle() == b"one\n"
        path.write_bytes(b"a file\n")
        assert reader.settle() == b"a file\n"
        assert reader.resets == [Reason.REPLACED]

    def test_the_end_of_a_pipe_is_its_end(self) -> None:
        descriptor, writing = os.pipe()
        reader = reader_of(f"/dev/fd/{descriptor}")
        os.write(writing, "hé".encode()[:2])
        reader.settle()
        os.write(writing, "hé".encode()[2:])
        reader.settle()
        assert not reader.source.has_ended
        os.close(writing)
        assert reader.settle() == "hé".encode()
        os.close(descriptor)
        assert reader.source.has_ended
        assert reader.conditions == [SourceCondition.ENDED]

    def test_a_pipe_that_ends_inside_utf_16(self) -> None:
        descriptor, writing = os.pipe()
        reader = reader_of(f"/dev/fd/{descriptor}")
        os.write(writing, b"\xff")
        reader.settle()
        os.write(writing, b"\xfea\0b")
        assert reader.settle() == b"a"
        os.close(writing)
        assert reader.settle() == "a\ufffd".encode()
        os.close(descriptor)

    def test_standard_input(self) -> None:
        program = (
            "import time\n"
            "from viewer.sources.follow import FollowSource\n"
            "from viewer.sources.changes import Grew\n"
            "source, text = FollowSource('-'), b''\n"
            "while not source.has_ended:\n"
            "    text += b''.join(c.data for c in source.poll() if isinstance(c, Grew))\n"
            "    source.wait(0.01)\n"
            "print(source.name, text.decode())\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        out, _ = process.communicate("some text", timeout=60)
        assert out == "<stdin> some text\n"
