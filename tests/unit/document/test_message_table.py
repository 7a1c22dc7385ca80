"""Messages as columns: equal to the messages of the projection, one by one, for every audience."""

from __future__ import annotations

from typing import Any

from msgspec.structs import asdict

from tests.fuzz.targets import InMemory
from tests.support.cases import each
from tests.support.corpora import small_transcript
from tests.support.samples import Sample, samples
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import RowKind
from viewer.document.values import ShownMessage
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal
from viewer.sources.files import open_source

AUDIENCES = (END_USER, Audience(strict=True), Audience(frozenset({Reveal.TOOL, Reveal.COMMENTARY})), EVERYTHING)
PLACED = ("number", "transcript", "turn", "call_id", "line", "is_value", "span", "body_span")
"""The fields in which messages of one kind may differ. The others include no body, time, or usage."""
OF_INPUT = ("time", "usage", "is_superseded")


def one_by_one(projection: Projection) -> list[dict[str, Any]]:
    rows = projection.rows()
    found = []
    for row in range(len(rows)):
        if rows.kind(row) is RowKind.MESSAGE:
            message = projection.unread(rows, row)
            span, body = message.span, message.body_span
            facts = {name: value for name, value in asdict(message).items() if name not in (*PLACED, *OF_INPUT)}
            size = body[1] - body[0] if body else None
            places = (message.call_id, message.line, message.is_value, span[0] if span else None, size)
            found.append(
                {"place": (message.number, message.transcript, message.turn, rows.time_ms(row)), "kind": facts}
                | ({"hidden": places} if span else {})
            )
    return found


def as_columns(projection: Projection) -> list[dict[str, Any]]:
    table = projection.message_table(projection.rows())
    columns, places = table.columns, table.places
    kept = {kind: facts_of(example) for kind, example in columns.examples.items()}
    found = []
    numbers = zip(columns.numbers, columns.transcripts, columns.turns, columns.times, columns.kinds, strict=True)
    for at, (*place, kind) in enumerate(numbers):
        found.append({"place": tuple(place), "kind": kept[kind]})
        if places is not None:
            is_value = at in places.values
            found[-1]["hidden"] = (places.call_ids[at], places.lines[at], is_value, places.starts[at], places.sizes[at])
    return found


def facts_of(example: ShownMessage) -> dict[str, Any]:
    return {name: value for name, value in asdict(example).items() if name not in (*PLACED, *OF_INPUT)}


@each("sample", samples(), ids=lambda sample: sample.name, quick=0, test=9, batch=1000)
def test_columns_equal_the_messages_of_each_sample(sample: Sample) -> None:
    document = Document(open_source(str(sample.path)), sample.asked).load()
    for audience in AUDIENCES:
        projection = document.project(audience)
        assert as_columns(projection) == one_by_one(projection)


def test_columns_of_many_messages_and_transcripts_equal_the_messages() -> None:
    text = "".join(small_transcript(seed, 40) for seed in range(3))
    data = text.replace(" the ", " the\n").encode()  # lines end in the middle of messages, too
    for blocks in (1, 1 << 40):
        document = Document(InMemory(data))
        document.read_in_blocks(blocks)
        document.load()
        for audience in AUDIENCES:
            projection = document.project(audience)
            assert as_columns(projection) == one_by_one(projection)
            assert as_columns(projection)
