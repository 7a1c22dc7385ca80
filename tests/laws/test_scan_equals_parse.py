"""The scanner equals the parser: every sample, every hostile shape, random documents, at any block border."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.fragments import Document, text_documents
from tests.support.hostile import SHAPES, Shape
from tests.support.reading import read, read_scanned, scan
from tests.support.samples import Sample, samples
from tests.support.unconditional import unconditional
from viewer.checks import CHECKS

TEXT = ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony")
EXAMPLES = int(os.environ.get("OCML_LAB_EXAMPLES", "1000000"))
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))
SHARES = 4
HEADER = b"version: 2.2\n"
USER = b"<|start|>user<|message|>Hi<|end|>\n"
THOUGHT = b"<|start|>assistant<|channel|>analysis<|message|>Think<|end|>\n"
CALL = (
    b"<|start|>assistant to=functions.f call_id=c%d<|channel|>commentary<|constrain|>json<|message|>"
    b'{"a": %d, "deadline_ms": 5}<|call|>\n'
)
REPLY = b'<|start|>tool name=functions.f call_id=c%d to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>\n'
ANSWER = b"<|start|>assistant<|channel|>final<|message|>It is so.<|return|>\n"
DECLARED = (
    b"<|start|>developer<|message|>namespace functions { type f = (_: { a: number, d?: 1 | 2 }) => any; }<|end|>\n"
)


def turn(number: int) -> bytes:
    """A turn with a call."""
    return USER + THOUGHT + CALL % (number, number) + REPLY % number + ANSWER


TURNS = b"".join(map(turn, range(1, 20)))
ODD: dict[str, bytes] = {
    "a token at the beginning": USER,
    "an escaped stop": b"<|start|>user<|message|>a<<|end|>b<|end|>",
    "an escaped start": USER + b"<<|start|>user<|message|>a<|end|>",
    "a literal block": b"<|start|>user<|message|><|literal|>" + USER * 3 + b"<|endliteral|>a<|end|>",
    "an unclosed literal block": b"<|start|>user<|message|><|literal|>" + USER * 3,
    "a stray literal mark": b"<|literal|>" + USER + b"<|endliteral|>\n",
    "start twice": b"<|start|><|start|>user<|message|>a<|end|>",
    "start and start": b"<|start|>user<|start|>user<|message|>a<|end|>",
    "start and another": b"<|start|>user<|start|>assistant<|message|>a<|end|>",
    "a message mark in a body": b"<|start|>user<|message|>a<|message|>b<|end|>",
    "a channel in a body": b"<|start|>assistant<|channel|>final<|message|>a<|channel|>final<|message|>b<|end|>",
    "a channel mark in a body": b"<|start|>user<|message|>a<|channel|>b<|end|>",
    "a constraint in a body": b"<|start|>user<|message|>a<|constrain|>json<|end|>",
    "a message within": b"<|start|>user<|message|>a<|start|>user<|message|>b<|end|>",
    "a header with a stop": b"<|start|>user<|end|>",
    "two stops": USER + b"<|end|>\n",
    "stray text": b"so far\n",
    "stray bytes": b"so \xff far \0\n",
    "an event": b'{"type":"response.delta","message_id":"m1","delta":"a"}\n',
    "a cancelled call": b'{"type":"tool.cancel","call_id":"c3","reason":"h"}\n',
    "another document": b"version: 2.0\n<|start|>user<|message|>a<|constrain|>b<|end|>\n",
    "another of 1.x": b"---\nversion: 1.0\n---\n<|start|>assistant<|channel|>final<|message|>a<|end|>\n",
    "an unexpected stop": b"<|start|>user<|message|>a<|return|>",
    "an unknown role": b"<|start|>asistant<|message|>a<|end|>",
    "an unknown attribute": b"<|start|>user mood=curious<|message|>a<|end|>",
    "two call ids": b"<|start|>assistant to=f call_id=c1 call_id=c2<|channel|>commentary<|message|>{}<|call|>",
    "the same call id twice, and another": b"".join(
        b"<|start|>assistant to=f call_id=c%d call_id=c1<|channel|>commentary<|message|>{}<|call|>" % number
        for number in (1, 2, 1, 1, 2, 3)
    ),
    "a call id twice": b"<|start|>assistant to=f call_id=c1 call_id=c1<|channel|>commentary<|message|>{}<|call|>",
    "no call id": b"<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}<|call|>",
    "an empty call id": b"<|start|>assistant to=functions.f call_id= <|channel|>commentary<|message|>{}<|call|>",
    "a call id of letters": "<|start|>assistant to=f call_id=cä1<|channel|>final<|message|>{}<|call|>".encode(),
    "a long call id": b"<|start|>assistant to=f call_id=" + b"c" * 80 + b"<|channel|>final<|message|>{}<|call|>",
    "a call id of 64": b"<|start|>assistant to=f call_id=" + b"c" * 64 + b"<|channel|>final<|message|>{}<|call|>",
    "a call id with a mark": b"<|start|>assistant to=f call_id=c<x<|channel|>final<|message|>{}<|call|>",
    "a call id behind a mark": b"<|start|>assistant to=f<|channel|>call_id=c1<|message|>{}<|call|>",
    "a call id in a word": b"<|start|>assistant to=f my_call_id=c1<|channel|>final<|message|>{}<|call|>",
    "a call again": CALL % (3, 3),
    "a reply again": REPLY % 3,
    "a reply to nobody": REPLY % 999,
    "a call without a reply": CALL % (500, 500) + USER,
    "arguments that do not fit": DECLARED + CALL.replace(b"%d,", b'"x",') % 501,
    "no JSON": CALL.replace(b"%d,", b",") % 502,
    "a failure": REPLY.replace(b"true", b"false") % 4,
    "an envelope that lacks ok": REPLY.replace(b'{"ok": true}', b'{"a": 1, "a": 2}') % 5,
    "calls in an answer": b'<|start|>assistant<|message|>{"tool_calls": [{}]}<|end|>\n' + CALL % (503, 1),
    "bytes that are no text": b"<|start|>user<|message|>a\xff\xfeb\xe3\x81<|end|>\n",
    "NUL": b"<|start|>user<|message|>a\0b\0<|end|>\n",
    "hidden characters": "<|start|>user<|message|>pay\u200bpal in\u202evoice \U000e006f\x1b[0m\r<|end|>\n".encode(),
    "unseen characters": "<|start|>user<|message|>pay\u200bpal<|end|>\n".encode(),
    "calls of both kinds": USER + b'<|start|>assistant<|message|>{"tool_calls": [{}]}<|end|>\n'
    b"<|start|>assistant<|channel|>analysis<|message|>x<|call|>\n",
    "an emoji": "<|start|>user<|message|>❤️ 日本語 🐙<|end|>\n".encode(),
    "thoughts": b"<|start|>assistant<|channel|>final<|message|><Think>why</think>Hi<|return|>\n",
    "marks of thoughts": b"<|start|>assistant<|channel|>final<|message|>a<|start_reason|>b<|end_reason|><|return|>\n",
    "a preamble": b"<|start|>assistant intent=preamble<|channel|>commentary<|message|>Plan<|end|>\n",
    "a preamble on analysis": b"<|start|>assistant intent=preamble<|channel|>analysis<|message|>Plan<|end|>\n",
    "white space": b" \r\n\t\n  \n" + USER + b"\r\n" + USER + b" " * 100 + USER,
    "an oversize header": b"<|start|>user " + b"a" * 300 + b"<|message|>b<|end|>",
    "an unfinished body": b"<|start|>user<|message|>a",
    "an unfinished header": b"<|start|>assistant",
    "an unfinished mark": b"<|start|>user<|message|>a<|en",
}


def assert_same(text: bytes, format: str, steps: Iterable[int], slice_size: int = 1) -> None:
    """Read with the parser only, and with the scanner in blocks of these sizes."""
    expected = read(text, format)
    for step in steps:
        assert read_scanned(text, format, range(step, len(text), step), slice_size) == expected, (format, step)


@pytest.mark.share(test=2)
@pytest.mark.parametrize("format", TEXT)
def test_runs_of_plain_messages_skip_the_parser(format: str) -> None:
    text = HEADER + TURNS
    assert_same(text, format, [1, 7, 64, 150, 1000, len(text)])
    _, scanner = scan([text], text, format)
    least = {"openchatml-2.2": 90, "openchatml-2.0": 55, "openchatml-1.x": 18, "harmony": 55}
    assert scanner.taken >= least[format]


@pytest.mark.parametrize("format", TEXT)
@each("name", ODD, quick=180, test=20)
def test_irregular_messages_are_read_as_the_parser_reads_them(name: str, format: str) -> None:
    text = HEADER + DECLARED + turn(1) + turn(2) + turn(3) + ODD[name] + turn(4) + turn(5) + ODD[name] + turn(6) + USER
    assert_same(text, format, [len(text), 1000, 97])
    assert_same(ODD[name] + TURNS, format, [len(text)], 500)


@pytest.mark.parametrize("format", TEXT)
@each("name", ODD, quick=12)
def test_the_fast_scan_equals_the_careful_one(name: str, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = HEADER + DECLARED + turn(1) + ODD[name] + turn(2) + ODD[name] + USER
    quick = read(text, format)
    monkeypatch.setattr("viewer.checks.queue.CHECKS", unconditional(CHECKS))
    assert read(text, format) == quick


@pytest.mark.slow
def test_headers_with_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.scan.headers._SLOT_BITS", 1)
    assert_same(HEADER + TURNS + b"".join(ODD.values()), "openchatml-2.2", [1 << 30, 1000])


@each("name", ODD, quick=0, test=72)
def test_any_block_boundary_gives_the_same_result(name: str) -> None:
    text = HEADER + USER + THOUGHT + ODD[name] + THOUGHT + USER + USER
    expected = read(text, "openchatml-2.2")
    for cut in range(1, len(text)):
        assert read_scanned(text, "openchatml-2.2", [cut]) == expected, cut


@each("sample", samples(), ids=lambda sample: sample.name, quick=12, test=2)
def test_a_sample_scans_as_it_parses(sample: Sample) -> None:
    if sample.format in TEXT:
        assert_same(sample.text, sample.format, [1 << 30, 64, 500])


@each("shape", SHAPES, ids=lambda shape: shape.title, quick=6, test=3)
def test_a_hostile_shape_scans_as_it_parses(shape: Shape) -> None:
    if shape.format in TEXT:
        text = shape.text(6 * 1024)
        assert_same(text, shape.format, [1 << 30, 700])


def campaign(examples: int) -> Callable[[], None]:
    """A search through this number of random documents."""

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(text_documents(), st.lists(st.integers(0, 2000), max_size=4), st.sampled_from([0, 1, 300, 10_000]))
    def search(document: Document, cuts: list[int], slice_size: int) -> None:
        text, format = document
        places = sorted({cut % (len(text) + 1) for cut in cuts})
        assert read_scanned(text, format, places, slice_size) == read(text, format), (format, places)

    return search


def by_chance(numbers: range) -> None:
    """A document for each number, cut at a few places."""
    for number in numbers:
        chance = Random(f"{SEED} {number}")
        text, format = chance_document(chance)
        places = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(4)))
        scanned = read_scanned(text, format, places, chance.choice((0, 1, 300, 10_000)))
        assert scanned == read(text, format), (number, format, places)


@pytest.mark.slow
def test_a_random_document_scans_as_it_parses() -> None:
    campaign(120)()


@pytest.mark.share(test=80)
@pytest.mark.parametrize("part", range(4))
def test_many_random_documents_scan_as_they_parse(part: int) -> None:
    seed(part)(campaign(600))()


@pytest.mark.slow
def test_documents_of_random_bytes_scan_as_they_parse() -> None:
    by_chance(range(700))


@pytest.mark.lab
@pytest.mark.parametrize("share", range(SHARES))
def test_a_million_random_documents_scan_as_they_parse(share: int) -> None:
    by_chance(range(share, EXAMPLES, SHARES))
