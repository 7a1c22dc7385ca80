"""Exact text: a copy is the text of the message, and rendered Markdown contains every word of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

import pytest

from tests.support.cases import SLOW, targets_of
from tests.support.chance_documents import chance_document
from tests.support.converting import InMemory
from tests.support.samples import Sample, samples
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.model.visibility import BRIEF, END_USER, EVERYTHING, Audience, Reveal
from viewer.render.blocks.block import Block, BlockFacts
from viewer.render.page import BlockMaker
from viewer.render.sanitize import sanitize_copy
from viewer.tui.terminal.clipboard import Copied, What, copy_of

WIDTH = 64
WORD = re.compile(r"\w*[^\W_]\w*")
"""A word. Underscores alone are marks of emphasis."""
STRIPPED = (
    b"<|start|>user<|message|>Hi<|end|>"
    b"<|start|>assistant<|channel|>final<|message|>analysisGreet them.assistantfinalHello<|return|>"
)
"""A turn whose control tokens were dropped, as the text of an answer."""
AUDIENCES = (END_USER, BRIEF, Audience(frozenset({Reveal.ANALYSIS})), EVERYTHING)
HEADER = ("role", "name", "recipient", "channel", "channel_given", "intent", "content_type", "constrained", "extra")


@pytest.fixture(
    scope="module", params=[pytest.param(3, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.lab)]
)
def documents(request: pytest.FixtureRequest) -> list[tuple[Sample, Document]]:
    """The valid samples, or one in three, read once for all tests."""
    known = {sample.name: sample for sample in samples("valid") if not sample.is_compressed}
    targets = targets_of(list(known), 0, request.param)
    plain = (known[name] for name, target in targets.items() if target == SLOW)
    return [(sample, Document(InMemory(sample.path.read_bytes()), sample.asked).load()) for sample in plain]


def shown_messages(projection: Projection) -> Iterator[tuple[Rows, int]]:
    rows = projection.rows()
    return ((rows, row) for row in range(len(rows)) if rows.kind(row) is RowKind.MESSAGE)


def drawn_words(block: Block) -> str:
    """Return the letters and digits of the rows of a body, without the line ends that wrapping adds."""
    text = "".join(part.text for line in block.lines[block.first :] for part in line.parts)
    return "".join(WORD.findall(text))


def test_a_copy_of_each_message_of_each_sample_is_its_text(documents: list[tuple[Sample, Document]]) -> None:
    count = 0
    for sample, document in documents:
        projection = document.project(EVERYTHING)
        for rows, row in shown_messages(projection):
            body = projection.item(rows, row).body  # type: ignore[union-attr]
            copied = copy_of(What.TEXT, projection, rows.value(row), rows.label(row))
            assert copied.text == sanitize_copy(body) if isinstance(copied, Copied) else not body, sample.name
            count += 1
    assert count > 300


def test_what_is_rendered_contains_every_word_of_each_answer_and_question(
    documents: list[tuple[Sample, Document]],
) -> None:
    count = 0
    for sample, document in documents:
        projection = document.project(END_USER)
        rows = projection.rows()
        facts = BlockFacts(folds={rows.value(row): True for _, row in shown_messages(projection)})
        maker = BlockMaker(projection, rows, WIDTH, facts)
        for _, row in shown_messages(projection):
            body = projection.item(rows, row).body  # type: ignore[union-attr]
            drawn = drawn_words(maker.make(row))
            missing = [word for word in WORD.findall(body) if "".join(WORD.findall(word)) not in drawn]
            assert not missing, (sample.name, row, missing, body)
            count += 1
    assert count > 150


def compare_texts(document: Document) -> int:
    """Compare the text of messages that are read together with the text of single messages, and return their number."""
    count = 0
    for audience in AUDIENCES:
        projection = document.project(audience, withholds=False)
        shown = [(row, projection.item(rows, row)) for rows, row in shown_messages(projection)]
        texts = list(projection.texts(projection.rows()))
        assert [(text.row, text.number, text.transcript, text.turn, text.call_id, text.body) for text in texts] == [
            (row, item.number, item.transcript, item.turn, item.call_id, item.body)  # type: ignore[union-attr]
            for row, item in shown
        ]
        headers: dict[int, list[object]] = {}
        for text, (_, item) in zip(texts, shown, strict=True):
            header = [getattr(item, name) for name in HEADER]
            assert headers.setdefault(text.kind, header) == header
        count += len(texts)
    return count


@pytest.mark.slow
def test_texts_that_are_read_together_are_those_of_each_message() -> None:
    chance = Random(20)
    made = (chance_document(chance) for _ in range(300))
    broken = ((sample.path.read_bytes(), sample.asked) for sample in samples("broken") if not sample.is_compressed)
    assert sum(compare_texts(Document(InMemory(text), format).load()) for text, format in [*made, *broken]) > 2000
    assert compare_texts(Document(InMemory(STRIPPED)).load()) == 2 * len(AUDIENCES)


def test_texts_of_samples_are_those_of_each_message(documents: list[tuple[Sample, Document]]) -> None:
    for _, document in documents:
        compare_texts(document)
