"""The order of the log, and what happens when it cannot be written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.logged import SSE, chunk, sse
from tests.support.reading import read
from viewer.tap import writer
from viewer.tap.frames import Facts, FrameKind, FrameReader, encoded
from viewer.tap.writer import LogFile, Writer

TIME = 1_767_322_000_000
ANSWER = [sse(chunk(content=text)) for text in ("An ", "answer")]


def frames(number: int) -> list[bytes]:
    """Return the frames of an exchange, in order."""
    request = json.dumps({"messages": [{"role": "user", "content": f"Question {number}"}]}).encode()
    parts: list[tuple[FrameKind, bytes | Facts]] = [
        (FrameKind.BEGIN, Facts(api="chat")),
        (FrameKind.REQUEST, request),
        (FrameKind.REQUEST_END, Facts()),
        (FrameKind.ANSWER, Facts(status=200, content_type=SSE)),
        *((FrameKind.BODY, part) for part in ANSWER),
        (FrameKind.END, Facts()),
    ]
    return [encoded(kind, number, TIME, data) for kind, data in parts]


def written(path: Path, data: bytes, step: int) -> list[dict[str, object]]:
    """Return the records in the log after these frames, which arrive in pieces."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    made, reader = Writer(LogFile(descriptor, pytest.fail), "run"), FrameReader()
    for at in range(0, len(data), step):
        for frame in reader.feed(data[at : at + step]):
            made.take(frame)
    made.close()
    os.close(descriptor)
    assert made.count == 3
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_exchanges_that_overlap_are_written_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (frames(number) for number in (1, 2, 3))
    overlapping = one[:4] + two[:5] + three + one[4:] + two[5:]
    for step in (1, 7, 10_000):
        records = written(tmp_path / "log", b"".join(overlapping), step)
        assert [record["exchange"] for record in records] == ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    text = (tmp_path / "log").read_text("utf-8")
    assert read(text, "tap").texts == ("Question 1", "An answer", "Question 2", "An answer", "Question 3", "An answer")
    monkeypatch.setattr(writer, "MOST_HELD", 100)
    records = written(tmp_path / "log", b"".join(overlapping), 7)
    assert sorted(str(record["exchange"]) for record in records) == ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    assert [record["exchange"] for record in records] != ["1"] * 4 + ["2"] * 4 + ["3"] * 4


def test_a_disk_that_was_full_gets_a_note_of_what_is_missing() -> None:
    reader, descriptor = os.pipe()
    os.set_blocking(descriptor, False)
    said: list[str] = []
    file = LogFile(descriptor, said.append)
    line = b'{"tap":"close"}'.ljust(9_999) + b"\n"
    for _ in range(20):
        file.write([line])
    assert len(said) == 1
    assert "the log is incomplete" in said[0]
    assert file.lost > 0
    kept = os.read(reader, 1 << 20)
    file.write([line, line])
    *lines, last = (kept + os.read(reader, 1 << 20)).splitlines()
    assert json.loads(last) == {"tap": "close"}
    [note] = [json.loads(line) for line in lines if b"missing here" in line]
    assert note["text"] == f"{file.lost:,} records are missing here."
    os.close(reader)
    os.close(descriptor)
