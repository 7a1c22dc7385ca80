"""The scanner yields the same result as the parser for every sample, hostile shape, and random document.

This holds at any block border, with NumPy and, if it was built, with the native accelerator."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from random import Random

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.chance_documents import chance_document
from tests.support.fragments import Document, text_documents
from tests.support.hostile import SHAPES, Shape
from tests.support.native import BOTH_WAYS, WAYS, using
from tests.support.reading import read, read_scanned, scan
from tests.support.samples import Sample, samples
from tests.support.unconditional import unconditional
from viewer.checks import CHECKS
from viewer.checks.batches import check_run
from viewer.checks.check import Check, Contains, Scope
from viewer.checks.context import CheckContext
from viewer.checks.queue import CheckQueue, Messages
from viewer.model.diagnostic import Diagnostic
from viewer.rules.structure import W_ENCODING

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
    """Return a turn with a call."""
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
    "an empty call id after one of the same words": b"".join(
        b"<|start|>user call_id=%s<|message|>a<|end|>" % call_id for call_id in (b"c1", b"", b"c2", b"", b"")
    ),
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
    "foreign tokens": b"<|start|>assistant<|channel|>final<|message|>a <|endoftext|> f <| g<|<|im_end|><|<|end|>\n",
    "almost a token": b"<|start|>user<|message|><|messages|><|start |><|literals|><|constrained|><|End|><|end|>",
    "a foreign token in a header": b"<|start|>user<|x|><|message|>a<|end|>\n",
    "a foreign token between messages": b"<|endoftext|>" + USER + b"<|x|> <|y|>\n",
    "an escaped token in a header": b"<|start|>user <<|message|>a<|message|>b<|end|>\n",
    "an escaped channel in a header": b"<|start|>assistant<<|channel|>final<|message|>b<|end|>\n",
    "an escaped foreign token": b"<|start|>assistant<|message|><<|im_end|> <<|START_THINKING|><<|END_THINKING|><|end|>",
    "an escaped thought": b"<|start|>assistant<|message|>a <<|start_reason|>b<<|end_reason|> \x01<|end|>",
    "an escaped token that hides a sign": b'<|start|>tool<|message|>{"a<<|end|>": 1, "a<<|end|>": <think>}<|end|>',
    "escapes of literals": b"<|start|>user<|message|><<|literal|>a<<|endliteral|>b<|end|>" + USER,
    "escapes in a literal block": b"<|start|>user<|message|><|literal|><|x|><<|endliteral|>a<|end|>b<<|end|><|end|>"
    + USER,
    "a literal block without tokens": b"<|start|>assistant<|message|><|literal|><think>a</think><|endliteral|><|end|>",
    "a literal block over a stop": b"<|start|>assistant<|message|><|literal|>a<|end|>\n"
    + THOUGHT
    + b"<|endliteral|><|end|>",
    "an end of no literal block": b"<|start|>assistant<|message|>a<|endliteral|>b<|end|>\n",
    "a body that ends in <": b"<|start|>user<|message|>a <<|end|>\n" + USER,
    "three angle brackets": b"<|start|>user<|message|>a<<<|end|>b<|end|>\n",
    "marks of thoughts in any case": b"<|start|>assistant<|message|>a<|START_reason|>b<|start_reflect|>c<|x|><|end|>\n",
    "a constraint in a foreign body": b"<|start|>assistant<|message|><|x|><|constrain|>json{}<|y|><|end|>\n",
    "a nested message after a foreign token": b"<|start|>assistant<|channel|>analysis<|message|><|x|>a" + USER,
    "an unfinished body": b"<|start|>user<|message|>a",
    "an unfinished header": b"<|start|>assistant",
    "an unfinished mark": b"<|start|>user<|message|>a<|en",
}


@pytest.fixture(params=BOTH_WAYS)
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each of the two frame scanners."""
    with using(request.param):
        yield


both_ways = pytest.mark.usefixtures("way")


def assert_same(text: bytes, format: str, steps: Iterable[int], slice_size: int = 1) -> None:
    """Check that the parser alone and the scanner, with blocks of these sizes, read the same."""
    expected = read(text, format)
    for step in steps:
        assert read_scanned(text, format, range(step, len(text), step), slice_size) == expected, (format, step)


@both_ways
@pytest.mark.share(test=4)
@pytest.mark.parametrize("format", TEXT)
def test_runs_of_plain_messages_skip_the_parser(format: str) -> None:
    text = HEADER + TURNS
    assert_same(text, format, [1, 7, 64, 150, 1000, len(text)])
    _, scanner = scan([text], text, format)
    least = {"openchatml-2.2": 90, "openchatml-2.0": 55, "openchatml-1.x": 18, "harmony": 55}
    assert scanner.taken >= least[format]


@both_ways
@pytest.mark.parametrize("format", TEXT)
def test_foreign_tokens_skip_the_parser(format: str) -> None:
    foreign = b"<|start|>user<|message|>at <|endoftext|> or f <| g<|end|>\n<|start|>assistant<|message|><|x|><|end|>\n"
    _, scanner = scan([USER + foreign * 20 + USER], USER + foreign * 20 + USER, format)
    assert scanner.taken >= 40


@pytest.mark.parametrize("body", [b"a <<|end|> b", b"<<|im_start|>", b"<<|literal|>", b"x <<|start_reason|>y"])
def test_escaped_tokens_skip_the_parser_where_there_are_escapes(body: bytes) -> None:
    text = USER + (b"<|start|>user<|message|>" + body + b"<|end|>\n") * 20 + USER
    for format in TEXT:
        analysis, scanner = scan([HEADER + text], HEADER + text, format)
        if format == "openchatml-2.2":
            assert scanner.taken >= 20
            assert 1 not in analysis.index.verbatim(2, 21)


@pytest.mark.parametrize("format", TEXT)
@each("name", ODD, quick=0, test=40)
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


CALL_HEADERS = (
    b"assistant to=functions.f call_id=%s<|channel|>commentary<|constrain|>json",
    b"assistant to=functions.g call_id=%s<|channel|>commentary",
    b"assistant to=browser.open call_id=%s<|channel|>commentary<|constrain|>json",
    b"assistant to=functions.f<|channel|>commentary<|constrain|>json",
    b"assistant to=functions.f call_id=%s<|channel|>analysis json",
)
REPLY_HEADERS = (
    b"tool name=functions.f call_id=%s to=assistant<|channel|>commentary",
    b"tool name=functions.g call_id=%s to=assistant<|channel|>commentary",
    b"tool call_id=%s<|channel|>commentary",
    b"tool name=functions.f<|channel|>commentary",
    b"tool name=functions.f call_id=%s<|channel|>commentary<|constrain|>json",
)
ARGUMENTS = (
    *(b'{"a": 1}', b'{"a": "x"}', b' {"a": 2, "d": 1} ', b'{"a": 1, "a": 2}', b"[1]", b"{", b"", b"text"),
    *(b'{"a": 1, "deadline_ms": 5}', b'{"a": 1e999}', b'{"a": 1, "b": "\\ud800"}', b'{"tool_calls": 1, "a": 1}'),
)
RESULTS = (
    *(b'{"ok": true}', b'{"ok": true, "content": "x"}', b'{"ok": false}', b'{"a": 1}', b'{"error": "E-TOOL-TIMEOUT"}'),
    *(b'{"ok": true, "error": {"code": "E-TOOL-CANCELLED"}}', b'{"ok": true, "ok": true}', b"[1]", b"text", b"{x"),
    *(b'{"ok": null, "n": 1e999}', b'{"ok": 0}', b"", b'{"\\ud800": 1}'),
)
CANCEL = b'{"type":"tool.cancel","call_id":"%s","reason":"h"}\n'
MIXED = b'<|start|>assistant<|channel|>final<|message|>{"tool_calls": [{}]}<|end|>\n'


def calls_by_chance(chance: Random) -> bytes:
    """Return calls and replies, some of which repeat an ID, have none, arrive late, or are cancelled."""
    parts = [HEADER, *([DECLARED] if chance.random() < 0.5 else []), USER]
    usual = chance.random()
    for _ in range(chance.randrange(40)):
        call_id = b"c%d" % chance.randrange(1 + 6 * (1 + chance.randrange(3)))
        match chance.randrange(20):
            case 0 | 1:
                parts.append(USER)
            case 2:
                parts.append(CANCEL % call_id)
            case 3:
                parts.append(MIXED)
            case 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11:
                head = chance.choice(CALL_HEADERS)
                body = ARGUMENTS[0] if chance.random() < usual else chance.choice(ARGUMENTS)
                stop = b"<|call|>" if chance.random() < 0.9 else b"<|end|>"
                parts.append(b"<|start|>" + head.replace(b"%s", call_id) + b"<|message|>" + body + stop + b"\n")
            case _:
                head = chance.choice(REPLY_HEADERS)
                body = RESULTS[0] if chance.random() < usual else chance.choice(RESULTS)
                parts.append(b"<|start|>" + head.replace(b"%s", call_id) + b"<|message|>" + body + b"<|end|>\n")
    return b"".join(parts)


@pytest.mark.share(test=4)
@pytest.mark.parametrize("part", range(8))
def test_random_calls_link_as_the_parser_links_them(part: int) -> None:
    for number in range(part, 240, 8):
        text = calls_by_chance(Random(f"calls {number}"))
        for format in ("openchatml-2.2", "harmony") if number % 5 == 0 else ("openchatml-2.2",):
            assert read_scanned(text, format, [], number % 3) == read(text, format), (number, format)


def test_messages_of_the_parser_are_checked_with_the_batches_around_them(monkeypatch: pytest.MonkeyPatch) -> None:
    firsts: list[int] = []

    def counted(checker: CheckQueue, work: Messages, size: int) -> int:
        firsts.append(work.first)
        return check_run(checker, work, size)

    monkeypatch.setattr("viewer.checks.batches.check_run", counted)
    literal = b"<|start|>user<|message|>a <|literal|><|end|><|endliteral|>\x01<|end|>\n"
    text = HEADER + USER + (USER * 4 + literal + turn(1) + USER) * 20
    assert read_scanned(text, "openchatml-2.2", [], 1 << 20) == read(text, "openchatml-2.2")
    assert len(firsts) == 1


def test_a_check_of_decoded_text_is_not_left_to_the_prefilter(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(case: CheckContext) -> Iterator[Diagnostic]:
        if b"a<|end|>" in case.body.data:
            yield case.diagnose_body(W_ENCODING, "nul", 0, 1)

    check = Check((W_ENCODING,), Scope.MESSAGE, Contains(b"a<|end|>"), run)
    monkeypatch.setattr("viewer.checks.queue.CHECKS", (check, *CHECKS))
    text = HEADER + USER * 4 + b"<|start|>user<|message|>a<<|end|><|end|>\n" + USER
    expected = read(text, "openchatml-2.2")
    assert len(expected.findings) == 1
    assert read_scanned(text, "openchatml-2.2") == expected


CALL_IDS = [
    *(b"c1", b"", b"c2", b"", b"c=1", b"=", b"c1=", b"=c", b"c1==", b"c<x", b"c\x7f", "cä".encode()),
    *(b"c" * 63 + b"=", b"c" * 64, b"c" * 64 + b"=", b"c" * 65, b" ", b"call_id=c"),
]


@pytest.mark.share(quick=4)
@both_ways
@pytest.mark.parametrize("format", TEXT)
def test_a_header_is_read_for_each_call_id_even_after_one_of_the_same_words(format: str) -> None:
    """The scanner parses such words once for all call IDs. An empty or malformed value is not a call ID."""
    for head in (b"user call_id=%s", b"assistant call_id=%s to=f<|channel|>final", b"tool call_id=%s name=f"):
        frames = [b"<|start|>" + head % each + b"<|message|>a<|end|>\n" for each in CALL_IDS]
        text = HEADER + b"".join([*frames, *reversed(frames)])
        assert_same(text, format, [len(text)])


@pytest.mark.slow
def test_headers_with_equal_hashes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.scan.headers._SLOT_BITS", 1)
    assert_same(HEADER + TURNS + b"".join(ODD.values()), "openchatml-2.2", [1 << 30, 1000])


@both_ways
@each("name", ODD, quick=0, test=144)
def test_any_block_boundary_gives_the_same_result(name: str) -> None:
    text = HEADER + USER + THOUGHT + ODD[name] + THOUGHT + USER + USER
    expected = read(text, "openchatml-2.2")
    for cut in range(1, len(text)):
        assert read_scanned(text, "openchatml-2.2", [cut], cut % 2) == expected, cut


@both_ways
@each("sample", samples(), ids=lambda sample: sample.name, quick=12, test=4, batch=64)
def test_a_sample_scans_as_it_parses(sample: Sample) -> None:
    if sample.format in TEXT:
        assert_same(sample.text, sample.format, [1 << 30, 64, 500])


@both_ways
@each("shape", SHAPES, ids=lambda shape: shape.title, quick=12, test=3)
def test_a_hostile_shape_scans_as_it_parses(shape: Shape) -> None:
    if shape.format in TEXT:
        text = shape.text(6 * 1024)
        assert_same(text, shape.format, [1 << 30, 700])


def campaign(examples: int) -> Callable[[], None]:
    """Return a test that tries this number of random documents."""

    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(text_documents(), st.lists(st.integers(0, 2000), max_size=4), st.sampled_from([0, 1, 300, 10_000]))
    def search(document: Document, cuts: list[int], slice_size: int) -> None:
        text, format = document
        places = sorted({cut % (len(text) + 1) for cut in cuts})
        assert read_scanned(text, format, places, slice_size) == read(text, format), (format, places)

    return search


def by_chance(numbers: range) -> None:
    """Scan and parse a random document for each number, cut at a few places."""
    for number in numbers:
        chance = Random(f"{SEED} {number}")
        text, format = chance_document(chance)
        places = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(4)))
        scanned = read_scanned(text, format, places, chance.choice((0, 1, 300, 10_000)))
        assert scanned == read(text, format), (number, format, places)


@pytest.mark.slow
def test_a_random_document_scans_as_it_parses() -> None:
    campaign(120)()


@pytest.mark.share(test=0)
@pytest.mark.parametrize("part", range(4))
def test_many_random_documents_scan_as_they_parse(part: int) -> None:
    seed(part)(campaign(600))()


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_documents_of_random_bytes_scan_as_they_parse(way: str) -> None:
    with using(way):
        by_chance(range(100) if way in BOTH_WAYS else range(250, 290))


@both_ways
@pytest.mark.lab
@pytest.mark.parametrize("share", range(SHARES))
def test_a_million_random_documents_scan_as_they_parse(share: int) -> None:
    by_chance(range(share, EXAMPLES, SHARES))
