"""Rows with folds: the same for every split, with the same turns as without folds, and up to date as input arrives."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.screens.test_folded import REWOUND, with_agents
from tests.unit.document.test_live import Log
from viewer.document import rows as rows_module
from viewer.document.document import open_document
from viewer.document.projection import Projection
from viewer.document.rows import Folding, RowKind, Rows
from viewer.document.values import FoldedAgent, FoldedBranch
from viewer.index.messages import MessageIndex
from viewer.model.visibility import END_USER, EVERYTHING


def state(rows: Rows) -> list[tuple[RowKind, int, int, int]]:
    return [(rows.kind(row), rows.value(row), rows.last_number(row), rows.turn(row)) for row in range(len(rows))]


def folded(projection: Projection, folding: Folding | None = None) -> Rows:
    return projection.rows(folding=folding or Folding())


def test_a_turn_has_one_number_with_and_without_folds() -> None:
    projection = open_document(str(REWOUND)).project(END_USER)
    without = {value: turn for kind, value, _, turn in state(projection.rows()) if kind is RowKind.MESSAGE}
    rows = state(folded(projection))
    assert {value: turn for kind, value, _, turn in rows if kind is RowKind.MESSAGE}.items() <= without.items()
    assert [kind for kind, *_ in rows].count(RowKind.BRANCH) == 1


def test_an_unfolded_branch_has_the_rows_of_its_messages() -> None:
    for audience in (END_USER, EVERYTHING):
        projection = open_document(str(REWOUND)).project(audience)
        assert state(folded(projection, Folding(frozenset({4})))) == state(projection.rows())


def test_a_folded_row_states_only_what_its_audience_sees(tmp_path: Path) -> None:
    projection = open_document(str(REWOUND)).project(END_USER)
    rows = folded(projection)
    row = rows.row_of(3)
    assert projection.folded(rows, row) == FoldedBranch(1, 2)
    assert [*projection.body_blocks(rows, row)] == []
    agents = open_document(str(with_agents(tmp_path / "a.jsonl")))
    assert not projection.thread_of(3)
    safe = agents.project(END_USER)
    assert {kind for kind, *_ in state(folded(safe))} == {RowKind.MESSAGE, RowKind.HIDDEN}
    assert not len(safe.agent_messages(4))
    assert not safe.thread_of(4)
    everything = agents.project(EVERYTHING)
    rows = folded(everything)
    found = everything.folded(rows, rows.row_of(4))
    assert isinstance(found, FoldedAgent)
    assert (found.thread, found.messages, [*everything.agent_messages(4)]) == (1, 2, [4, 5, 8, 9])


def test_rows_are_the_same_when_they_are_made_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [open_document(str(with_agents(tmp_path / "a.jsonl", 4))), open_document(str(REWOUND))]
    for document in documents:
        for audience in (END_USER, EVERYTHING):
            expected = state(folded(document.project(audience)))
            for at_once in (1, 2, 3):
                with monkeypatch.context() as patched:
                    patched.setattr(rows_module, "AT_ONCE", at_once)
                    assert state(folded(document.project(audience))) == expected


def test_a_branch_is_folded_when_its_end_arrives(tmp_path: Path) -> None:
    log = Log(tmp_path / "session.jsonl", "codex")
    lines = REWOUND.read_bytes().splitlines(keepends=True)
    log.write(b"".join(lines[:9]))
    rows = folded(log.document.project(END_USER))
    assert RowKind.BRANCH not in {kind for kind, *_ in state(rows)}
    log.write(b"".join(lines[9:]))
    assert rows.extend() == 0
    assert state(rows) == state(folded(log.document.project(END_USER)))
    assert RowKind.BRANCH in {kind for kind, *_ in state(rows)}


def test_branches_that_overlap_are_one() -> None:
    index = MessageIndex()
    for first, last in ((5, 6), (9, 9), (3, 7)):
        index.supersede(first, last)
    assert index.branches == [(3, 7), (9, 9)]
    assert [index.is_superseded(number) for number in (2, 3, 7, 8, 9, 10)] == [False, True, True, False, True, False]
