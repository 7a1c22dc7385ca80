"""The order of several inputs: by the times of shown messages, by arrival without them, never by hidden ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import pytest

from tests.support.converting import InMemory
from viewer.document.document import Document
from viewer.document.rows import RowKind
from viewer.insight.merge import Arrivals, MergedRows
from viewer.model.visibility import BRIEF, END_USER, EVERYTHING, Audience

Turns = Sequence[tuple[str, int | None]]


def lines(turns: Turns) -> bytes:
    """Return a session of Claude Code: `u` a question, `a` an answer, `t` a thought, each with its second or without a
    time."""
    rows = []
    for number, (kind, second) in enumerate(turns):
        content: object = f"{kind}{number}"
        if kind != "u":
            content = [{"type": "thinking", "thinking": "hm"} if kind == "t" else {"type": "text", "text": content}]
        role = "user" if kind == "u" else "assistant"
        row: dict[str, object] = {"type": role, "uuid": f"x{number}"}
        row["message"] = {"id": f"m{number}", "role": role, "content": content, "model": "claude-x"}
        if second is not None:
            row["timestamp"] = f"2026-03-01T10:{second // 60:02}:{second % 60:02}Z"
        rows.append(json.dumps(row) + "\n")
    return "".join(rows).encode()


def order(*inputs: Turns, audience: Audience = END_USER) -> str:
    """Return the rows of a merged view, each as the letter of its input and of its kind."""
    rows = MergedRows(len(inputs))
    for place, turns in enumerate(inputs):
        document = Document(InMemory(lines(turns)), "claude-code").load()
        projection = document.project(audience)
        rows.show(place, projection, projection.rows(), Arrivals())
    rows.sort()
    return words(rows)


def words(rows: MergedRows) -> str:
    kinds = {RowKind.MESSAGE: "m", RowKind.HIDDEN: "h", RowKind.CALL: "c"}
    return " ".join(f"{'AB'[rows.place(row).source]}{kinds[rows.kind(row)]}" for row in range(len(rows)))


def test_messages_are_ordered_by_their_times_and_by_file_without_any() -> None:
    assert order([("u", 1), ("a", 9)], [("u", 4), ("a", 5)]) == "Am Bm Bm Am"
    assert order([("u", 1), ("a", None), ("a", 9)], [("u", 4)]) == "Am Am Bm Am"
    assert order([("u", None), ("a", 5)], [("u", 4)]) == "Bm Am Am"
    assert order([("u", 8), ("a", 3)], [("u", 4), ("a", 9)]) == "Bm Am Am Bm"  # the order within a file is kept
    assert order([("u", None), ("a", None)], [("u", None)]) == "Am Am Bm"


@pytest.mark.slow
@pytest.mark.share(quick=3)
@pytest.mark.parametrize("audience", [END_USER, BRIEF, Audience(strict=True)])
def test_the_order_depends_on_the_times_of_shown_messages_only(audience: Audience) -> None:
    chance = Random(3)
    for _ in range(12):
        shown = [
            [("t" if chance.random() < 0.5 else chance.choice("ua"), second) for second in range(30)] for _ in "AB"
        ]
        other = [[(kind, chance.randrange(600) if kind == "t" else second) for kind, second in each] for each in shown]
        assert order(*shown, audience=audience) == order(*other, audience=audience)
    late, early = [("u", 1), ("t", 2), ("a", 90)], [("u", 1), ("t", 80), ("a", 90)]
    between = [("u", 50)]
    assert order(late, between, audience=audience) == order(early, between, audience=audience)
    assert order(late, between, audience=EVERYTHING) != order(early, between, audience=EVERYTHING)


@pytest.mark.slow
def test_a_growing_order_equals_that_of_the_whole_inputs() -> None:
    """This holds whatever arrives first, and in pieces of any size. Rows before the returned one do not change."""
    chance = Random(5)
    for number in range(30):
        turns = [
            [(chance.choice("uat"), chance.randrange(300) if chance.random() < 0.8 else None) for _ in range(12)]
            for _ in "AB"
        ]
        documents = [Document(InMemory(lines(each)), "claude-code") for each in turns]
        rows, projections = MergedRows(2), [each.project(END_USER) for each in documents]
        own = [each.rows() for each in projections]
        for place in range(2):
            rows.show(place, projections[place], own[place], Arrivals())
        rows.sort()
        while not all(each.is_complete for each in documents):
            place = chance.randrange(2)
            before = [rows.place(row) for row in range(len(rows))]
            documents[place].read_some(chance.choice((100, 300, 900)))
            if not projections[place].is_of_same_reading(documents[place].project(END_USER)):
                projections[place] = documents[place].project(END_USER)
                own[place] = projections[place].rows()
                rows.show(place, projections[place], own[place], Arrivals())
            changed: list[int | None] = [None, None]
            changed[place] = own[place].extend()
            first = rows.extend(changed)
            assert [rows.place(row) for row in range(min(first, len(rows)))] == before[:first], number
            for row in range(len(rows)):
                assert rows.row_at(rows.place(row)) == row, number
        assert words(rows) == order(*turns), number


def test_messages_without_times_are_ordered_by_arrival() -> None:
    arrivals = Arrivals()
    for count, stamp in ((0, 10), (2, 10), (4, 20), (4, 30)):
        arrivals.note(count, stamp)
    assert [arrivals.of(number) for number in (1, 4, 5, 9)] == [10, 10, 30, 30]
