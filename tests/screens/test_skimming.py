"""A search over the bytes of an input finds the same matches, in the same order, as a search over each text."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.fragments import Document as Text
from tests.support.fragments import documents
from tests.support.hostile import SHAPES, Shape
from tests.support.native import BOTH_WAYS, using
from tests.support.samples import Sample, samples
from tests.support.transcripts import END_USER, EVERYTHING, STRICT
from viewer.document.document import Document
from viewer.document.rows import RowKind
from viewer.errors import HiddenError
from viewer.model.visibility import Audience, Reveal
from viewer.sources.files import open_source
from viewer.tui.search.engine import Query, Searcher

AUDIENCES = (END_USER, STRICT, EVERYTHING, Audience(frozenset({Reveal.ANALYSIS, Reveal.STRAY})))
NEVER = 1 << 62
HEAD = "version: 2.2\n\n"
USER = "<|start|>user<|message|>{}<|end|>\n"
THOUGHT = "<|start|>assistant<|channel|>analysis<|message|>{}<|end|>\n"
FINAL = "<|start|>assistant<|channel|>final<|message|>{}<|return|>\n"
QUERIES = (
    "the",
    "e",
    "aa",
    "that",
    "Ab",
    "<|",
    "|>",
    "k",
    "is",
    "straße",
    "é",
    "Привет",
    "日本",
    "😀",
    "\\n",
    "\n",
    " ",
    "{",
)
TEXTS = (
    "the answer is that thathat",
    "aaaaa",
    "a<<|end|>b the<<|message|>",
    "th<|literal|>e <|end|><|endliteral|> that",
    "<think>that the</think>the é",
    "th<|start_reason|>k<|end_reason|>e aa",
    "a<thinking>aa",
    "\u212a k K \u017f s S ı İ i I",
    "Straße STRASSE STRAẞE",
    "É é e\u0301",
    "привет ПРИВЕТ Ⱥⱥ",
    "日本語 😀 the 日本",
    "Ѐ ѠѐрР р",
    "\0\x10\x01 {[ |\\ ~^",
    "a\r\nb\nthe\n",
    "",
    " ",
    "ab aB Ab AB <|ab",
    '{"text": "the\\nthe \\u0074he"}',
)


class Places:
    """The matches of a search."""

    def __init__(self, document: Document, audience: Audience, query: Query, start: int = 0) -> None:
        projection = document.project(audience)
        rows = projection.rows()
        searcher = Searcher(projection, rows, query, start_row=start)
        give_up = time.monotonic() + 60
        while searcher.step(0.05):
            assert time.monotonic() < give_up
        searcher.close()
        assert searcher.progress == 1
        self.fault = searcher.fault
        self.hits = list(searcher.matches)
        self.messages = searcher.messages()
        shown = (row for row in range(len(rows)) if rows.kind(row) is not RowKind.HIDDEN)
        self.texts = ["".join(projection.body_blocks(rows, row)) for row in shown]


@pytest.fixture(
    params=[
        pytest.param((1, BOTH_WAYS[-1]), marks=pytest.mark.slow),
        *((60, way) for way in BOTH_WAYS),
        pytest.param((256 * 1024, BOTH_WAYS[-1]), marks=pytest.mark.slow),
    ],
    ids=str,
)
def skim(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Search even small inputs by blocks of these sizes, and both ways if the accelerator was built."""
    size, way = request.param
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    monkeypatch.setattr("viewer.document.search.block_search.BLOCK", size)
    monkeypatch.setattr("viewer.document.search.block_search.FEWEST", 3)
    monkeypatch.setattr("viewer.document.search.block_search.WIDEST_GAP", 40)
    with using(way):
        yield monkeypatch


def document_at(path: Path, text: bytes, format: str | None = None) -> Document:
    path.write_bytes(text)
    return Document(open_source(str(path)), format).load()


def scanned(path: Path, text: bytes, format: str | None, patch: pytest.MonkeyPatch) -> Document:
    """Read the text as a big input is read."""
    with patch.context() as big:
        big.setattr("viewer.document.one_reading.BIG", 0)
        big.setattr("viewer.document.one_reading.WORTH_SCANNING", 0)
        return document_at(path, text, format)


def assert_same(document: Document, typed: str, patch: pytest.MonkeyPatch, audience: Audience, start: int = 0) -> None:
    query = Query.parse(typed)
    quick = Places(document, audience, query, start)
    with patch.context() as careful:
        careful.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", NEVER)
        slow = Places(document, audience, query, start)
    assert quick.hits == slow.hits, (typed, audience)
    assert (quick.messages, quick.fault) == (slow.messages, slow.fault)


def assert_same_words(document: Document, patch: pytest.MonkeyPatch, chance: random.Random, count: int) -> None:
    """Compare searches in shown and hidden text, for each audience."""
    texts = [text for text in Places(document, EVERYTHING, Query("x")).texts if text]
    for audience in AUDIENCES:
        for _ in range(count):
            text = chance.choice(texts) if texts else "x"
            at = chance.randrange(len(text))
            word = text[at : at + chance.choice((1, 1, 2, 3, 5, 20))]
            typed = chance.choice((word, word.lower(), word.upper().lower(), chance.choice(QUERIES)))
            if not typed.startswith(("/", "re:")):
                assert_same(document, typed, patch, audience, chance.randrange(4))


def mixed(chance: random.Random, count: int) -> str:
    kinds = (USER, FINAL, THOUGHT, FINAL)
    return HEAD + "".join(chance.choice(kinds).format(chance.choice(TEXTS)) for _ in range(count))


@pytest.mark.share(quick=24, test=8)
@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("read", [document_at, scanned])
def test_texts_of_each_kind(tmp_path: Path, skim: pytest.MonkeyPatch, audience: Audience, read: object) -> None:
    text = mixed(random.Random(5), 60).encode()
    path = tmp_path / "a.ocml"
    document = scanned(path, text, None, skim) if read is scanned else document_at(path, text)
    for typed in QUERIES:
        assert_same(document, typed, skim, audience, start=20)


PATTERNS = (
    "/th[ae]t",
    "/answer is|x",
    "/t.*that",
    "/(the)+",
    "/<think>",
    "/ans\\w+ i",
    "/^the an",
    "/é$",
    "/(the",
    "/the**",
    "/zzz(?=a",
)


@pytest.mark.share(quick=12, test=2)
@pytest.mark.parametrize("typed", PATTERNS)
def test_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    document = document_at(tmp_path / "a.ocml", mixed(random.Random(5), 40).encode())
    assert_same(document, typed, monkeypatch, END_USER, start=9)


def test_bytes_that_are_not_text(tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
    bodies = [b"a\xffthe", b"\xe2\x84the", b"the\xc3", "é".encode() + b"\xa9 the", b"\xf0\x9f\x98 \xf0\x9f\x98\x80 the"]
    text = HEAD.encode() + b"".join(USER.encode().replace(b"{}", body) * 3 for body in bodies)
    for typed in ("the", "é", "😀", "\ufffd", " ", "a"):
        assert_same(document_at(tmp_path / "a.ocml", text), typed, skim, END_USER)


def test_blocks_without_a_match_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    text = HEAD + "".join(USER.format(f"the é {number}") for number in range(200))
    document = scanned(tmp_path / "a.ocml", text.encode(), None, monkeypatch)
    monkeypatch.delattr("viewer.tui.search.engine.windows")
    projection = document.project(END_USER)
    searcher = Searcher(projection, projection.rows(), Query("É", ignores_case=True))
    while searcher.step(1):
        pass
    assert [(hit.start, hit.end) for hit in searcher.matches] == [(4, 5)] * 200


@pytest.mark.slow
def test_json_with_and_without_escapes(tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
    bodies = [r"the é", r"t\u0068e", r"the\nthe", r"a\u00e9the", r"\ud800 the", "the"] * 5
    lines = "".join(f'{{"role": "user", "content": "{body}"}}\n' for body in bodies)
    for typed in ("the", "\n", "é", "\\u", "content"):
        assert_same(document_at(tmp_path / "a.jsonl", lines.encode()), typed, skim, END_USER)


def test_bodies_out_of_message_order_are_searched(tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
    call = '"tool_calls": [{"id": "c", "function": {"name": "the", "arguments": "the"}}]'
    lines = "".join(f'{{"role": "assistant", {call}, "content": "the {at}"}}\n' for at in range(9))
    document = document_at(tmp_path / "a.jsonl", lines.encode())
    assert_same(document, "the", skim, EVERYTHING)
    assert len(Places(document, EVERYTHING, Query("the")).hits) == 18


def test_rows_of_another_audience_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    document = document_at(tmp_path / "a.ocml", (HEAD + USER.format("a") + THOUGHT.format("the")).encode())
    rows = document.project(EVERYTHING).rows()
    skimmer = document.project(END_USER).block_searcher(rows, "the", True)
    assert skimmer
    with pytest.raises(HiddenError):
        skimmer.search(0, 2)


@each("sample", samples(), ids=lambda sample: sample.name, quick=480, test=36)
def test_each_sample(tmp_path: Path, sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    monkeypatch.setattr("viewer.document.search.block_search.BLOCK", 300)
    document = Document(open_source(str(sample.path)), sample.asked).load()
    assert_same_words(document, monkeypatch, random.Random(sample.name), 2)


@each("shape", SHAPES, ids=lambda shape: shape.title, quick=0, test=96)
def test_each_hostile_shape(tmp_path: Path, shape: Shape, skim: pytest.MonkeyPatch) -> None:
    document = document_at(tmp_path / "hostile", shape.text(3000), shape.format)
    assert_same_words(document, skim, random.Random(shape.title), 5)


@each("seed", range(40), quick=0, test=288)
def test_random_conversations(tmp_path: Path, skim: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    document = scanned(tmp_path / "a.ocml", mixed(chance, 60).encode(), None, skim)
    assert_same_words(document, skim, chance, 10)


@pytest.mark.slow
@settings(
    max_examples=int(os.environ.get("OCML_EXAMPLES", "15")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(documents(), st.integers(0, 1 << 32), st.sampled_from([1, 30, 10_000]))
@seed(7)
def test_random_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: Text, number: int, block: int) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    monkeypatch.setattr("viewer.document.search.block_search.BLOCK", block)
    document = document_at(tmp_path / "random", *text)
    assert_same_words(document, monkeypatch, random.Random(number), 2)


@pytest.mark.share(quick=0)
@pytest.mark.parametrize("typed", ["aa", "that", "the"])
def test_every_border_of_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str) -> None:
    monkeypatch.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", 0)
    text = HEAD + "".join(USER.format(body) + FINAL.format(body) for body in TEXTS[:3])
    document = scanned(tmp_path / "a.ocml", text.encode(), None, monkeypatch)
    for block in range(1, len(text), 7):
        monkeypatch.setattr("viewer.document.search.block_search.BLOCK", block)
        assert_same(document, typed, monkeypatch, END_USER)


class TestGrowing:
    def test_only_the_certain_part_of_an_open_message_is_searched(
        self, tmp_path: Path, skim: pytest.MonkeyPatch
    ) -> None:
        path = tmp_path / "live.ocml"
        path.write_text(HEAD + USER.format("a b") + FINAL.format("   ").partition("<|return|>")[0])
        document = Document(open_source(str(path)))
        document.read_some(1000)
        assert_same(document, " ", skim, END_USER)
        assert len(Places(document, END_USER, Query(" ")).hits) == 1

    def test_the_search_continues_with_new_bytes(self, tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
        path = tmp_path / "live.ocml"
        path.write_text(mixed(random.Random(3), 40))
        document = Document(open_source(str(path)))
        projection = document.project(END_USER)
        rows = projection.rows()
        document.read_some(500)
        rows.extend()
        searcher = Searcher(projection, rows, Query("the"), start_row=3)
        while not document.is_complete:
            searcher.step(1)
            shown = [projection.message(hit.number) for hit in searcher.matches]
            assert all(
                message and message.body[hit.start : hit.end].lower() == "the"
                for message, hit in zip(shown, searcher.matches, strict=True)
            )
            document.read_some(70)
            searcher.resume(rows.extend())
        while searcher.step(1):
            pass
        with skim.context() as careful:
            careful.setattr("viewer.document.projection.WORTH_SEARCHING_BLOCKS", NEVER)
            assert list(searcher.matches) == Places(document, END_USER, Query("the")).hits

    def test_a_file_that_became_shorter_is_not_an_error(self, tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
        path = tmp_path / "a.ocml"
        document = document_at(path, mixed(random.Random(3), 40).encode())
        document.rewrites.withhold(lambda: None)
        with path.open("r+b") as file:
            file.truncate(700)
        assert_same(document, "the", skim, END_USER)


class TestCounting:
    def test_dropped_matches_are_counted(self, tmp_path: Path, skim: pytest.MonkeyPatch) -> None:
        document = document_at(tmp_path / "a.ocml", mixed(random.Random(3), 100).encode())
        projection = document.project(EVERYTHING)
        all_hits = Places(document, EVERYTHING, Query("e"))
        for most in (0, 1, 50):
            searcher = Searcher(projection, projection.rows(), Query("e"), start_row=40, most_matches=most)
            while searcher.step(1):
                pass
            assert (len(searcher.matches), searcher.matches.total) == (most, len(all_hits.hits))
            assert searcher.messages() == all_hits.messages
            assert len(searcher.matches.spread(10)) <= 14
            marked = [hit for row in range(len(projection.rows())) for hit in searcher.matches.in_row(row)]
            assert marked == all_hits.hits
            searcher.resume(20)
            while searcher.step(1):
                pass
            assert searcher.matches.total == len(all_hits.hits)
            assert searcher.messages() == all_hits.messages
