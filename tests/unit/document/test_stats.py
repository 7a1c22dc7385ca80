"""Statistics from columns equal the sums over all messages one by one."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.samples import Sample, samples
from tests.support.transcripts import END_USER, EVERYTHING, STRICT
from viewer.document.document import Document
from viewer.document.stats import Sum, count
from viewer.document.values import ShownMessage
from viewer.model.messages import Coding
from viewer.model.visibility import Audience, Reveal
from viewer.sources.files import open_source

AUDIENCES = (END_USER, STRICT, EVERYTHING, Audience(frozenset({Reveal.ANALYSIS})), Audience(frozenset({Reveal.TOOL})))
CUT = (
    b"<|start|>assistant<|channel|>final<|message|><think>secret</think>shown<|return|>\n"
    b"<|start|>assistant<|channel|>final<|message|>a <<|end|> <|x|> b<|return|>\n"
    b"<|start|>assistant to=functions.f call_id=c<|channel|>commentary<|message|>{}<|call|>\n"
)


def counted(document: Document, audience: Audience) -> tuple[list[Sum], int]:
    """Count by definition: look at every message, and read every shown body."""
    projection = document.project(audience)
    calling = {call.call for call in projection.calls()}
    shown = [item for item in document.project(END_USER).items() if isinstance(item, ShownMessage)]
    cut = {item.number: item.body for item in shown if item.number in document.tally.cut}
    sums: dict[tuple[str, str | None], Sum] = {}
    hidden = 0
    for message in document.index:
        if not audience.sees(message):
            hidden += 1
            continue
        header = message.header
        channel = header.channel.value if header.channel else header.channel_given
        row = sums.setdefault((header.role, channel), Sum(header.role, channel))
        size = sum(piece.end - piece.start for piece in message.pieces if piece.coding is not Coding.BREAK)
        if any(piece.coding is Coding.LABEL for piece in message.pieces):
            labeled = projection.message(message.number)
            size = len(labeled.body.encode()) if labeled else 0
        if message.number in cut and not audience.sees_thoughts:
            size = len(cut[message.number].encode("utf-8", "replace"))
        row.messages, row.bytes = row.messages + 1, row.bytes + size
        row.calls += message.number in calling
    return sorted(sums.values(), key=lambda row: (-row.messages, row.role, row.channel or "")), hidden


def assert_counted(path: Path, text: bytes, format: str | None) -> None:
    path.write_bytes(text)
    document = Document(open_source(str(path)), format).load()
    for audience in AUDIENCES:
        stats = count(document, audience)
        sums, hidden = counted(document, audience)
        assert stats.messages == sums, (audience, text)
        assert stats.hidden == (None if audience.strict else hidden)


@each("sample", samples(), ids=lambda sample: sample.name, quick=72, test=6)
def test_a_sample_is_counted(sample: Sample, tmp_path: Path) -> None:
    assert_counted(tmp_path / "sample", sample.text, sample.format)


@pytest.mark.slow
def test_random_documents_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.document.stats.AT_ONCE", 3)
    for number in range(25):
        text, format = chance_document(Random(f"stats {number}"))
        assert_counted(tmp_path / f"{number}.txt", text, format)


def test_a_big_file_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.document.one_reading.BIG", 0)
    monkeypatch.setattr("viewer.document.one_reading.WORTH_SCANNING", 0)
    assert_counted(tmp_path / "a.ocml", b"version: 2.2\n\n" + CUT * 20, None)
