"""Chunk boundaries are invisible: every sample, and random documents of every format, yield the same result in
pieces."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.fragments import Document, documents
from tests.support.reading import Reading, read, read_cut
from tests.support.samples import Sample, samples

SMALL = 4096
"""A sample of up to this size is cut at every byte."""
NEAR = 32
SHARE = 400
"""The maximum number of cuts per test, so processes can share the work."""
BATCH = 20_000
"""The number of documents generated between two resets, so memory stays bounded."""

_TOKEN = re.compile(rb"<\|[a-z_0-9]+\|>|\[[BE]OS\]")


def cuts_of(sample: Sample) -> list[int]:
    """Return every position in a small sample. In a larger one, return those near a control token."""
    text = sample.text
    if len(text) <= SMALL:
        return list(range(1, len(text)))
    near: set[int] = set()
    for token in _TOKEN.finditer(text):
        near.update(range(max(1, token.start() - NEAR), min(len(text), token.end() + NEAR)))
    return sorted(near)


def shares() -> list[tuple[str, Sample, list[int]]]:
    """Return each sample with the cuts that one test makes, and its ID."""
    return [
        (f"{sample.name}-{at // SHARE}", sample, cuts[at : at + SHARE])
        for sample in samples()
        for cuts in [cuts_of(sample)]
        for at in range(0, len(cuts), SHARE)
    ]


@each("sample", samples(), ids=lambda sample: sample.name, quick=144, test=12)
def test_a_sample_reads_the_same_byte_by_byte(sample: Sample) -> None:
    text = sample.text
    whole = read(text, sample.format)
    assert read_cut(text, sample.format, range(1, len(text))) == whole


@each("sample", samples(), ids=lambda sample: sample.name, quick=288, test=32)
def test_a_sample_reads_the_same_in_equal_pieces(sample: Sample) -> None:
    text = sample.text
    whole = read(text, sample.format)
    for size in (2, 3, 7, 64):
        assert read_cut(text, sample.format, range(size, len(text), size)) == whole, f"pieces of {size}"


@each("name, sample, cuts", shares(), ids=lambda share: share[0], quick=0, test=1152)
def test_a_sample_reads_the_same_in_any_two_pieces(name: str, sample: Sample, cuts: list[int]) -> None:
    text = sample.text
    whole = read(text, sample.format)
    for cut in cuts:
        assert read_cut(text, sample.format, [cut]) == whole, f"{name}: cut at {cut}"


USER = b"<|start|>user<|message|>Hi<|end|>\n"
EVENT = b'{"type":"response.delta","message_id":"m1","delta":"a"}'
LONG: dict[str, tuple[int, Callable[[int], bytes]]] = {
    "header": (64 * 1024, lambda size: b"<|start|>user " + b"a" * size + b"<|message|>Hi<|end|>\n" + USER),
    "words after a mark": (
        512,
        lambda size: b"<|start|>user<|message|>a<|start|>user " + b"a" * size + b"<|message|>b",
    ),
    "far from a mark": (600, lambda size: b"<|start|>user<|message|>a<|start|>" + b"a" * size + b"<|message|>b<|end|>"),
    "document header": (64 * 1024, lambda size: b"version: 2.2\nnote: " + b"a" * size + b"\n" + USER),
    "text before": (64 * 1024, lambda size: b"a" * size + b"<|channel|>final<|message|>b<|end|>" + USER),
    "tokens dropped": (64 * 1024, lambda size: b"analysis" + b"a" * (size - 22) + b"assistantfinalHi" + USER),
    "line of an event": (1024 * 1024, lambda size: USER + EVENT + b" " * (size - len(EVENT)) + b"\n" + USER),
    "first line": (1024 * 1024, lambda size: EVENT + b" " * (size - len(EVENT)) + b"\n" + USER),
    "line between": (1024 * 1024, lambda size: USER + b"a" * size + b"\n<|channel|>final<|message|>b<|end|>"),
}
"""Inputs in which something reaches the maximum length that a reader accepts, with that length."""


@pytest.mark.share(quick=12)
@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony"])
@pytest.mark.parametrize("kind", LONG)
def test_input_just_beyond_a_cap_reads_the_same_in_pieces(kind: str, format: str) -> None:
    limit, make = LONG[kind]
    for size in (limit - 64, limit - 1, limit, limit + 1, limit + 64):
        text = make(size)
        step = max(1, limit // 7)
        whole = read(text, format)
        assert read_cut(text, format, range(step, len(text), step)) == whole, (kind, size)
        assert read_cut(text, format, range(limit - 80, min(len(text), limit + 160))) == whole, (kind, size)


def same_in_pieces(document: Document, cuts: list[int]) -> None:
    """Check that a document reads the same whole, at these cuts, and one byte at a time."""
    text, format = document
    whole: Reading = read(text, format)
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    assert read_cut(text, format, places) == whole, (format, places)
    assert read_cut(text, format, range(1, len(text))) == whole, (format, "one byte at a time")


def campaign(examples: int) -> Callable[[], None]:
    """Return a test that tries this number of random documents."""

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(documents(), st.lists(st.integers(0, 2000), max_size=4))
    def search(document: Document, cuts: list[int]) -> None:
        same_in_pieces(document, cuts)

    return search


@pytest.mark.slow
def test_a_random_document_reads_the_same_in_pieces() -> None:
    campaign(100)()


@pytest.mark.share(test=0)
@pytest.mark.parametrize("part", range(4))
def test_many_random_documents_read_the_same_in_pieces(part: int) -> None:
    seed(part)(campaign(500))()


@pytest.mark.lab
def test_a_million_random_documents_read_the_same_in_pieces() -> None:
    examples = int(os.environ.get("OCML_LAB_EXAMPLES", "1000000"))
    for number, start in enumerate(range(0, examples, BATCH)):
        seed(number)(campaign(min(BATCH, examples - start)))()
