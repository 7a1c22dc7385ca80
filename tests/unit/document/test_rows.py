"""Rows made in bulk equal rows made one by one, for any audience, pane, and filter, however many are read."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.targets import InMemory
from tests.laws.test_backends_agree import BACKENDS
from viewer.document import rows as rows_module
from viewer.document.document import Document
from viewer.document.rows import MessageSet, Rows
from viewer.model.visibility import Audience, Pane, Reveal, pane_of

AUDIENCES = [
    Audience(),
    Audience(strict=True),
    Audience(frozenset({Reveal.ANALYSIS})),
    Audience(frozenset({Reveal.ANALYSIS}), strict=True),
    Audience(frozenset({Reveal.TOOL, Reveal.STRAY})),
    Audience(frozenset({Reveal.ALL})),
]
PARTS = [
    "<|start|>user<|message|>Hi<|end|>\n",
    "<|start|>assistant<|channel|>analysis<|message|>Think<|end|>\n",
    "<|start|>assistant<|channel|>final<|message|>So.<|return|>\n",
    "<|start|>assistant to=functions.f call_id=c<|channel|>commentary<|message|>{}<|call|>\n",
    "<|start|>tool name=functions.f call_id=c to=assistant<|channel|>commentary<|message|>{}<|end|>\n",
    "<|start|>assistant<|channel|>final<|message|>So.<|start|>user<|message|>Hm<|end|>\n",
]
RARE = ["stray\n", "version: 2.2\n", "<|start|>assistant<|channel|>Final<|message|>x<|end|>\n", "more\n"]


def transcript(seed: int, parts: int) -> bytes:
    """Return messages in any order, with stray text and other transcripts between them."""
    chance = random.Random(seed)
    chosen = (chance.choice(RARE if chance.random() < 0.1 else PARTS) for _ in range(parts))
    return ("version: 2.2\n" + "".join(chosen)).encode()


def columns(rows: Rows) -> list[tuple[object, ...]]:
    """Return all data of the rows."""
    told = [
        (rows.kind(row), rows.value(row), rows.label(row), rows.last_number(row), rows.turn(row), rows.transcript(row))
        for row in range(len(rows))
    ]
    return [*told, (rows.shown_count, rows.hidden_count)]


def by_definition(
    document: Document, audience: Audience, pane: Pane | None, only: MessageSet | None
) -> list[tuple[str, int]]:
    """Return the kinds and values of all rows, computed message by message."""
    index, strays = document.index, document._analysis.strays if audience.sees_stray else []
    found: list[list[object]] = []
    at, hidden = 0, None
    for message in [*index, None]:
        while at < len(strays) and (message is None or strays[at].after < message.number):
            found.append(["STRAY", at])
            at, hidden = at + 1, None
        if message is None:
            break
        if (only is not None and message.number not in only) or (pane and pane_of(message) is not pane):
            hidden = None
            continue
        if audience.sees(message):
            found.append(["MESSAGE", message.number])
            hidden = None
        elif not audience.strict and hidden == message.transcript:
            found[-1][1] += 1  # type: ignore[operator]
        elif not audience.strict:
            found.append(["HIDDEN", 1])
            hidden = message.transcript
    return [(str(kind), int(str(value))) for kind, value in found]


@pytest.mark.share(test=9)
@pytest.mark.parametrize("pane", [None, Pane.CONVERSATION, Pane.ANALYSIS])
@pytest.mark.parametrize("audience", AUDIENCES, ids=map(str, range(len(AUDIENCES))))
def test_rows_are_equal_with_every_backend_and_step(
    audience: Audience, pane: Pane | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = transcript(7, 400)
    for only in (None, MessageSet(range(3, 300, 2)), MessageSet(range(20, 200))):
        found = []
        for backend, at_once in ((0, 1), (0, 1000), (1, 1), (1, 7), (1, 100), (1, 1000)):
            monkeypatch.setattr(rows_module, "AT_ONCE", at_once)
            document = Document(InMemory(data))
            document.index.use_columns(BACKENDS[backend])
            rows = Rows(document._analysis, audience, pane, only)
            while not document.is_complete:
                document.read_some(900)
                rows.extend()
            found.append(columns(rows))
            shown = [(rows.kind(row).name, rows.value(row)) for row in range(len(rows))]
            assert shown == by_definition(document, audience, pane, only)
        assert all(one == found[0] for one in found)


@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_rows_are_equal_if_they_are_made_some_at_a_time(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "AT_ONCE", at_once)
    document = Document(InMemory(transcript(9, 150)))
    made = [document.project(audience).rows() for audience in AUDIENCES if not audience.strict]
    while not document.is_complete:
        document.read_some(700)
        for rows in made:
            rows.extend_some()
    for rows in made:
        while rows.extend_some():
            if at_once == 1:
                break
        rows.extend()
        assert columns(rows) == columns(document.project(rows._audience).rows())
        other = made[0].seen_by(rows._audience)
        other.extend()
        assert columns(other) == columns(rows)


def test_earlier_rows_are_reused_only_for_the_same_audience_and_reading() -> None:
    document = Document(InMemory(transcript(3, 60)))
    document.read_some(400)
    safe, debug = document.project(Audience()), document.project(Audience(frozenset({Reveal.ALL})))
    kept = safe.rows()
    document.load()
    assert document.project(Audience()).rows(again=[kept]) is kept
    assert columns(kept) == columns(safe.rows())
    assert columns(debug.rows(again=[kept])) == columns(debug.rows())
    strict = document.project(Audience(strict=True))
    assert columns(strict.rows(again=[kept])) == columns(strict.rows())
    for other in (safe.rows(only=MessageSet([1])), safe.rows(Pane.CONVERSATION)):
        assert columns(safe.rows(again=[other])) == columns(kept)
    assert columns(safe.rows(only=MessageSet([1]), again=[kept])) == columns(safe.rows(only=MessageSet([1])))
    anew = Document(InMemory(transcript(4, 60))).load().project(Audience())
    assert columns(anew.rows(again=[kept])) == columns(anew.rows())


def test_an_open_message_of_a_partial_reading_is_not_shown() -> None:
    """Its end may reveal that everything before it was a thought."""
    text = (
        "version: 2.2\n"
        + PARTS[0]
        + "<|start|>assistant<|channel|>final<|message|>"
        + "hm " * 100
        + "</think>Yes.<|end|>"
    )
    document = Document(InMemory(text.encode()))
    safe, debug = document.project(Audience()), document.project(Audience(frozenset({Reveal.ALL})))
    while not document.is_read:
        document.read_some(50)
        shown = [str(item) for item in safe.items()]
        assert not any("hm" in item for item in shown), shown
        assert len(debug.rows()) == document.message_count
    assert [getattr(item, "body", None) for item in safe.items()] == ["Hi", "Yes."]
