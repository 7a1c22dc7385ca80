"""Links between calls and replies, compared with a simple model of the rules, whole and in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.reading import examine
from tests.unit.checks.test_calls import FINAL, HEAD, USER, call, links, read, reply
from tests.unit.document.test_live import Log
from viewer.model.visibility import EVERYTHING

Link = tuple[int | None, int | None, bool]
TOOLS = st.sampled_from(["f", "f", "g"])
IDS = st.sampled_from([None, None, "a", "b", "c"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("call"), TOOLS, IDS),
        st.tuples(st.just("reply"), TOOLS, IDS),
        st.tuples(st.just("turn"), TOOLS, IDS),
    ),
    max_size=14,
)


@dataclass
class Row:
    """A call of the model, with its reply."""

    tool: str
    call_id: str | None
    turn: int
    call: int
    reply: int | None = None
    inferred_at: int = 0
    """The time at which the reply was inferred; 0 for a reply that contains the id."""


def modeled(steps: list[tuple[str, str, str | None]]) -> tuple[set[Link], int]:
    """Return every link as (call, reply, inferred), including orphans and duplicates, and the number of duplicate
    replies."""
    rows: list[Row] = []
    unlinked: list[Link] = []
    duplicates = 0
    tools: dict[int, tuple[str, int]] = {}
    number, turn, clock = 1, 1, 0

    def infer(reply_number: int, *, with_ids: bool) -> None:
        nonlocal clock
        tool, its_turn = tools[reply_number]
        fitting = [
            row
            for row in rows
            if row.reply is None and row.tool == tool and row.turn == its_turn == turn and row.call < reply_number
        ]
        fitting = [row for row in fitting if row.call_id is None] or (fitting if with_ids else [])
        if not fitting:
            unlinked.append((None, reply_number, False))
            return
        clock += 1
        fitting[0].reply, fitting[0].inferred_at = reply_number, clock

    for kind, tool, call_id in steps:
        number += 1
        if kind == "turn":
            number += 1
            turn += 1
        elif kind == "call":
            rows.append(Row(tool, call_id, turn, number))
        else:
            tools[number] = tool, turn
            same = [row for row in rows if call_id is not None and row.call_id == call_id]
            still_open = [row for row in same if row.reply is None]
            inferred = sorted((row for row in same if row.inferred_at), key=lambda row: row.inferred_at)
            if still_open:
                still_open[0].reply = number
            elif inferred:
                displaced = inferred[0].reply
                inferred[0].reply, inferred[0].inferred_at = number, 0
                assert displaced is not None
                infer(displaced, with_ids=True)
            elif same:
                duplicates += 1
                unlinked.append((same[-1].call, number, False))
            else:
                infer(number, with_ids=call_id is None)
    return {*((row.call, row.reply, row.inferred_at > 0) for row in rows), *unlinked}, duplicates


def text_of(steps: list[tuple[str, str, str | None]]) -> str:
    parts = [USER]
    for kind, tool, call_id in steps:
        parts.append({"call": call, "reply": reply}[kind](tool, call_id) if kind != "turn" else FINAL + USER)
    return HEAD + "".join(parts)


@pytest.mark.slow
@given(STEPS)
def test_links_equal_those_of_the_reference_model(steps: list[tuple[str, str, str | None]]) -> None:
    expected, duplicates = modeled(steps)
    text = text_of(steps).encode()
    for size in (len(text), 1):
        analysis = examine([text[at : at + size] for at in range(0, len(text), size)], text, "openchatml-2.2")
        assert {link[:2] + link[3:] for link in links(analysis)} == expected
        found = [(one.code, one.reason) for one in analysis.findings]
        assert found.count(("W-CALL-ID-DUPLICATE", "reply")) == duplicates
        orphans = sum(1 for first, _, _ in expected if first is None)
        assert found.count(("W-CALL-ID-UNKNOWN", None)) == orphans


def test_a_stated_id_takes_over_an_inferred_link() -> None:
    analysis, found = read(USER, call("f", "k1"), call("f", "k2"), reply("f", None), reply("f", "k1"), FINAL)
    assert links(analysis) == [(2, 5, "ok", False), (3, 4, "ok", True)]
    assert found == ["W-CALL-ID-MISSING/reply"]


def test_a_displaced_reply_without_an_open_call_is_an_orphan() -> None:
    analysis, found = read(USER, call("f", "k1"), reply("f", None), reply("f", "k1"), FINAL)
    assert links(analysis) == [(2, 4, "ok", False), (None, 3, "orphan", False)]
    assert found == ["W-CALL-ID-MISSING/reply", "W-CALL-ID-UNKNOWN"]


def test_a_state_moves_with_its_reply() -> None:
    failed = '{"ok":false}'
    analysis, _ = read(USER, call("f", "a"), call("f", "b"), reply("f", None, failed), reply("f", "a"), FINAL)
    assert links(analysis) == [(2, 5, "ok", False), (3, 4, "failed", True)]
    analysis, _ = read(USER, call("f", "a"), call("f", "b"), reply("f", None), reply("f", "a", failed), FINAL)
    assert links(analysis) == [(2, 5, "failed", False), (3, 4, "ok", True)]


def test_a_call_without_an_id_is_inferred_first() -> None:
    analysis, _ = read(USER, call("f", "a"), call("f", None), reply("f", None), FINAL)
    assert links(analysis) == [(2, None, "unanswered", False), (3, 4, "ok", True)]


def test_a_follower_gets_a_changed_link_once(tmp_path: Path) -> None:
    log = Log(tmp_path / "calls.ocml", "openchatml-2.2")
    log.write(HEAD + USER)
    watch = log.document.project(EVERYTHING).call_watch()

    def changed(text: str) -> list[tuple[int | None, int | None, bool]]:
        log.write(text)
        return [(shown.call, shown.reply, shown.relinked) for shown in watch.changed()]

    assert changed(call("f", "k1") + call("f", "k2") + reply("f", None)) == [(2, 4, False)]
    assert changed(reply("f", "k1")) == [(3, 4, False), (2, 5, True)]
    assert changed(reply("f", "k2")) == [(3, 6, True), (None, 4, False)]
    assert changed("") == []
