"""Random schedules of changes to a followed file: no byte is lost, duplicated, or spliced."""

from __future__ import annotations

import codecs
import os
import tempfile
from pathlib import Path
from shutil import rmtree
from typing import IO

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from tests.support.reading import Reading, describe
from tests.support.source_following import Clock, Recorded
from viewer.checks.analysis import Analysis
from viewer.document.document import open_document
from viewer.document.live import LiveDocument
from viewer.formats import FORMATS
from viewer.formats.detect import HEAD, detect
from viewer.formats.tokens.reader import body_of_ids
from viewer.reading.parser import Parser
from viewer.rules.structure import W_ENCODING
from viewer.sources.compressed import compression_of, may_be_compressed
from viewer.sources.revision import UTF_16

CAMPAIGN = "OCMLVIEW_SCHEDULES"
"""The variable with the number of schedules in the long campaign."""

PARTS = (
    "version: 2.2\n",
    "<|start|>user<|message|>Hi<|end|>\n",
    "<|start|>assistant<|channel|>final<|message|>Grüße 😀 <think>a</think><|end|>\n",
    "<|start|>assistant<|channel|>analysis<|message|>so <|start|> it is<|end|>\n",
    "<|start|>assistant<|channel|>final<|message|>open",
    '{"type":"response.delta","message_id":"m1","delta":"a"}\n',
    '{"role":"user","content":"Hi"}\n',
    "<|literal|><|end|><|endliteral|>",
    "[BOS]user\nHi[EOS]\n",
    "stray\r\n",
)
TEXTS = st.one_of(
    st.lists(st.sampled_from(PARTS), max_size=6).map(lambda parts: "".join(parts).encode()),
    st.tuples(st.sampled_from(PARTS), st.integers(1, 300)).map(lambda pair: (pair[0] * pair[1]).encode()),
    st.binary(max_size=40).filter(lambda data: compression_of(data) is None),  # compressed data is left to another test
    st.sampled_from(("\ufeff", "\ufeffversion: 2.2\n")).map(lambda text: text.encode("utf-16-be")),
)
WRITERS = st.integers(0, 2)


def is_file(schedule: Schedule) -> bool:
    return schedule.path.is_file()


def is_gone(schedule: Schedule) -> bool:
    return not os.path.lexists(schedule.path)


def has_writers(schedule: Schedule) -> bool:
    return bool(schedule.writers)


class Schedule(RuleBasedStateMachine):
    """A log, the actions of programs on it, and a document that follows it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "run.log"
        self.count = 0
        self.sent: bytes | None = None
        """The bytes written to the FIFO since its creation."""
        self.writers: list[IO[bytes]] = []
        self.clock = Clock()
        self.source = Recorded(self.path, self.clock)
        self.document = LiveDocument(self.source, clock=self.clock)

    @initialize(beginning=st.none() | TEXTS)
    def begin(self, beginning: bytes | None) -> None:
        if beginning is not None:
            self.path.write_bytes(beginning)

    def fresh(self) -> Path:
        self.count += 1
        return self.folder / f"file{self.count}"

    # Actions of writers. Only a file that has been read is changed destructively, because otherwise it would be unknown
    # whether the change can be noticed.

    @precondition(is_file)
    @rule(data=TEXTS)
    def append(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    @precondition(is_file)
    @rule(data=TEXTS, share=st.floats(0, 1))
    def append_in_two(self, data: bytes, share: float) -> None:
        at = int(share * len(data))
        self.append(data[:at])
        self.settle()
        self.append(data[at:])

    @precondition(is_file)
    @rule(share=st.floats(0, 1))
    def truncate(self, share: float) -> None:
        self.settle()
        os.truncate(self.path, int(share * self.path.stat().st_size))
        self.settle()

    @precondition(is_file)
    @rule(data=TEXTS)
    def rewrite(self, data: bytes) -> None:
        self.settle()
        if not goes_unnoticed(self.path.read_bytes(), data):
            self.path.write_bytes(data)
        self.settle()

    @precondition(is_file)
    @rule(share=st.floats(0, 1), at_end=st.booleans())
    def rewrite_with_the_same_length(self, share: float, at_end: bool) -> None:
        """The change is among the first 1,024 bytes, or among the last 256."""
        self.settle()
        old = self.path.read_bytes()
        if old:
            first = int(share * (min(len(old), 1024) - 1))
            place = len(old) - 1 - min(first, 255) if at_end else first
            with self.path.open("r+b") as file:
                file.seek(place)
                file.write(bytes([old[place] ^ 1]))

    @precondition(is_file)
    @rule(data=TEXTS)
    def copy_and_truncate(self, data: bytes) -> None:
        self.settle()
        old = self.path.read_bytes()
        self.fresh().write_bytes(old)
        if not goes_unnoticed(old, data):
            os.truncate(self.path, 0)
            self.append(data)
        self.settle()

    @precondition(is_file)
    @rule(late=TEXTS, data=TEXTS)
    def rename_and_recreate(self, late: bytes, data: bytes) -> None:
        self.settle()
        old = self.path.read_bytes()
        with self.path.open("ab") as file:
            self.path.rename(self.fresh())
            file.write(late)
        self.path.write_bytes(data)
        self.settle()
        assert self.source.before[-1] == as_text(old + late)

    @precondition(is_file)
    @rule()
    def delete(self) -> None:
        self.path.unlink()

    @precondition(is_gone)
    @rule(data=TEXTS)
    def create(self, data: bytes) -> None:
        self.path.write_bytes(data)

    @rule(data=TEXTS)
    def replace(self, data: bytes) -> None:
        self.leave_fifo()
        fresh = self.fresh()
        fresh.write_bytes(data)
        fresh.replace(self.path)

    @rule(data=TEXTS)
    def switch_symlink(self, data: bytes) -> None:
        self.leave_fifo()
        target, link = self.fresh(), self.fresh()
        target.write_bytes(data)
        link.symlink_to(target)
        link.replace(self.path)

    @precondition(is_file)
    @rule()
    def touch(self) -> None:
        self.settle()
        before = len(self.source.resets)
        self.path.touch()
        os.utime(self.path, (1, 1))
        self.settle()
        assert len(self.source.resets) == before

    # FIFOs.

    @rule()
    def make_fifo(self) -> None:
        self.leave_fifo()
        fresh = self.fresh()
        os.mkfifo(fresh)
        fresh.replace(self.path)
        self.sent = b""
        self.settle()

    @precondition(lambda self: self.sent is not None)
    @rule()
    def open_writer(self) -> None:
        self.writers.append(self.path.open("wb", buffering=0))

    @precondition(has_writers)
    @rule(which=WRITERS, data=TEXTS)
    def write(self, which: int, data: bytes) -> None:
        assert self.sent is not None
        data = data[:2000]
        self.writers[which % len(self.writers)].write(data)
        self.sent += data
        self.settle()

    @precondition(has_writers)
    @rule(which=WRITERS)
    def close_writer(self, which: int) -> None:
        self.writers.pop(which % len(self.writers)).close()

    def leave_fifo(self) -> None:
        self.settle()
        while self.writers:
            self.writers.pop().close()
        self.sent = None

    # Invariants.

    @rule(size=st.integers(1, 100))
    def step(self, size: int) -> None:
        self.document.step(size)

    @rule()
    def settle(self) -> None:
        quiet = 0
        while quiet < 2:
            self.clock.now += 5
            change = self.document.step()
            quiet = 0 if change.grew or change.state or change.more else quiet + 1
        self.compare()

    def compare(self) -> None:
        """Check that the document equals one that is read from scratch."""
        data = self.path.read_bytes() if self.path.is_file() else self.sent
        if data is None:
            return
        waits = not self.path.is_file() and may_be_compressed(data)  # a stream: the next bytes identify it
        text = b"" if waits else as_text(data)
        assert self.source.text == text
        assert self.document._source.read(0, len(text) + 1) == text
        assert self.document.detection == detect(text[:HEAD])
        converted = data[:2] in UTF_16
        assert describe(self.document._analysis, text) == read_so_far(text, self.document.detection.format, converted)

    def teardown(self) -> None:
        self.settle()
        if self.path.is_file():
            self.document.close()
            whole = open_document(str(self.path))
            text = whole._source.read(0, whole._source.size)
            assert describe(self.document._analysis, text) == describe(whole._analysis, text)
        for writer in self.writers:
            writer.close()
        rmtree(self.folder)


def goes_unnoticed(old: bytes, new: bytes) -> bool:
    """True if the new text has the same fingerprint, so the rewrite cannot be detected."""
    end = len(old)
    guards_hold = new[: min(1024, end)] == old[:1024] and new[max(0, end - 256) : end] == old[-256:]
    return len(new) >= end and guards_hold and not new.startswith(old)


def as_text(data: bytes) -> bytes:
    """Return the decoded content of a file."""
    if data[:2] in UTF_16:
        return codecs.getincrementaldecoder("utf-16")("replace").decode(data).encode("utf-8", "replace")
    return b"" if data in (b"\xff", b"\xfe") else data


def read_so_far(text: bytes, format: str, converted: bool) -> Reading:
    """Return what is known about text that may continue."""
    parser = Parser(FORMATS[format])
    analysis = Analysis(lambda start, end: text[start:end], FORMATS, body_of_ids)
    if converted:
        analysis.findings.add(W_ENCODING, "utf-16", 0, 0, None)
    analysis.apply(parser.feed(text))
    return describe(analysis, text)


def run(count: int) -> None:
    run_state_machine_as_test(
        Schedule,
        settings=settings(
            max_examples=count, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.mark.slow
def test_random_schedules_lose_nothing() -> None:
    run(10)


@pytest.mark.lab
def test_very_many_schedules_lose_nothing() -> None:
    run(int(os.environ.get(CAMPAIGN, "10000")))
