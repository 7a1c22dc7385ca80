"""The laboratory finds each fault of REPAIRS.md, section A, once the code that prevents it is removed.

A1, a file that is rewritten while it is open, is planted in the tests of rewriting: see `ELSEWHERE`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.laws.leaks.test_laboratory import escaped_from
from tests.laws.leaks.test_printed_leaks import assert_nothing_is_printed
from tests.support.leaks.planted import ANSWER, KINDS, Planted, made_of
from viewer.document import projection, vault
from viewer.formats.events import items as event_items
from viewer.formats.events import streams as event_streams
from viewer.formats.json import content_parts
from viewer.formats.json import fields as json_fields
from viewer.formats.json import items as json_items
from viewer.formats.json import parts as json_parts
from viewer.model import visibility
from viewer.model.messages import Channel
from viewer.reading import hidden_spans, thoughts

Plant = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True)
class Fault:
    """One row of REPAIRS.md, and the code in which the fault is planted."""

    id: str
    kind: str
    places: tuple[str, ...]
    """The hidden places in which the fault shows."""
    plant: Plant


def _instead(*changes: tuple[Any, str, Any]) -> Plant:
    def plant(patched: pytest.MonkeyPatch) -> None:
        for owner, name, value in changes:
            patched.setattr(owner, name, value)

    return plant


def _shows_unknown_parts(code: Callable[..., Any]) -> Callable[..., Any]:
    """Plant: a part that no rule lists is text, in every role except the assistant's."""

    def unknown(self: Any, part: Any, index: int) -> None:
        if self._role == "assistant":
            code(self, part, index)
        else:
            self._put(json_fields.piece_of(part), False)

    return unknown


def _said_whatever_it_says(code: Callable[..., Any]) -> Callable[..., Any]:
    """Plant: a commentary message without a recipient is a preamble, whatever its type."""

    def is_preamble(message: Any) -> bool:
        header = message.header
        return code(message) or (header.channel is Channel.COMMENTARY and header.recipient is None)

    return is_preamble


def _closes_at_once(blocks: Any, mark: Any) -> None:
    """Plant: blocks do not nest. Any closing mark closes everything, and one without a block means nothing."""
    closed = []
    while blocks._opened.marks:
        closed.append(blocks._opened._pop())
    if closed:
        blocks._blocks.append((closed[-1].start, mark.end))


def _without_marks(body: Any, role: str, **_: Any) -> list[Any]:
    return []


FAULTS = [
    Fault(
        "A2",
        "openchatml-2.2",
        ("call of Qwen", "reply of Qwen", "call of LFM"),
        _instead((hidden_spans, "hidden_blocks", _without_marks), (vault, "_cut_kinds", lambda *_: frozenset())),
    ),
    Fault(
        "A3",
        "json",
        ("unknown parts",),
        _instead((json_parts._Sorter, "_unknown", _shows_unknown_parts(json_parts._Sorter._unknown))),
    ),
    Fault(
        "A4",
        "openchatml-2.2",
        ("attributes of a question", "attributes of an answer"),
        _instead((projection, "safe_header", lambda header: header), (visibility.Audience, "sees_unlisted", True)),
    ),
    Fault(
        "A4",
        "json",
        ("fields of a question", "fields of an answer"),
        _instead((projection, "safe_header", lambda header: header), (visibility.Audience, "sees_unlisted", True)),
    ),
    Fault("A5", "openchatml-2.2", ("nested blocks",), _instead((thoughts._Blocks, "_close", _closes_at_once))),
    Fault(
        "A6",
        "openchatml-2.2",
        ("commentary",),
        _instead((visibility, "is_preamble", _said_whatever_it_says(visibility.is_preamble))),
    ),
    Fault(
        "A7",
        "events",
        ("channel between deltas",),
        _instead((event_streams.Streams, "declare", lambda *_: None), (event_items.Items, "note", lambda *_: None)),
    ),
    Fault(
        "A9",
        "json",
        ("embedded turn",),
        _instead(
            (content_parts, "split_content", lambda *_: []),
            (json_items, "split_content", lambda *_: []),
            (vault, "_cut_kinds", lambda *_: frozenset()),
        ),
    ),
    Fault(
        "A9",
        "json",
        ("stripped tokens",),
        _instead(
            (content_parts, "split_content", lambda *_: []),
            (json_items, "split_content", lambda *_: []),
            (vault, "_cut_kinds", lambda *_: frozenset()),
        ),
    ),
    Fault(
        "A10",
        "json",
        ("flagged parts",),
        _instead(
            (json_parts, "_is_thought", lambda *_: False), (json_parts, "_TEXTS", json_parts._TEXTS | {"summary_text"})
        ),
    ),
]


ELSEWHERE = {
    "A1": "tests/laws/leaks/test_rewrites.py",
    "A8": "test_text_that_is_shown_before_it_is_certain_is_found",
}
"""Faults that do not show in an unchanged file."""


def planted_at(fault: Fault) -> Planted:
    """Return a transcript in which only these places are hidden."""
    kind = KINDS[fault.kind]
    rows = [row for row in kind.hidden if row[0] in fault.places]
    assert {place for place, _ in rows} == set(fault.places)
    shown = ("shown", kind.shown[0])
    return made_of(fault.kind, [kind.first[0], shown, *rows, shown, ("nothing", "")], 5)


@pytest.mark.share(test=8)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.id}: {fault.places[0]}")
def test_a_planted_fault_is_found(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    planted = planted_at(fault)
    assert_nothing_is_printed(planted)
    with monkeypatch.context() as patched:
        fault.plant(patched)
        with pytest.raises(AssertionError):
            assert_nothing_is_printed(planted)


@pytest.mark.slow
async def test_text_that_is_shown_before_it_is_certain_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A8: a folded element is shown until its summary says that it is a thought."""
    kind = KINDS["openchatml-2.2"]
    begun = ("a summary that has begun", ANSWER + 'Shown.\n<details>\n<summary title="{c}')
    planted = made_of("openchatml-2.2", [("nothing", ""), ("shown", kind.shown[0]), begun], 5)
    escaped, _ = await escaped_from(planted, [], growing=True)
    assert escaped == []
    with monkeypatch.context() as patched:
        patched.setattr(hidden_spans, "begun", lambda data: 0)
        escaped, _ = await escaped_from(planted, [], growing=True)
    assert escaped


def test_every_fault_is_planted() -> None:
    assert {fault.id for fault in FAULTS} | set(ELSEWHERE) == {f"A{number}" for number in range(1, 11)}
