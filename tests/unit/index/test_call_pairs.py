"""Pairs of calls and replies: which of them the call ledger accepts in bulk, and which it must link itself."""

from __future__ import annotations

from typing import cast

from viewer.index.call_pairs import CallPairs
from viewer.index.calls import CallLedger, bare_tool_name


class Ledger:
    """A ledger that knows one call ID and awaits a reply of one tool."""

    def knows(self, call_id: str) -> bool:
        return call_id == "old"

    def awaits_reply(self, bare_tool: str) -> bool:
        return bare_tool == "waiting"


def pairs_in(*, turn: bool) -> CallPairs:
    return CallPairs(cast(CallLedger, Ledger()), in_turn=turn)


def test_a_call_id_that_is_not_new_is_refused_even_after_its_reply() -> None:
    pairs = pairs_in(turn=True)
    assert not pairs.add_call(1, "functions.f", "f", "old")
    assert pairs.add_call(2, "functions.f", "f", "c1")
    assert not pairs.add_call(3, "functions.g", "g", "c1")
    assert pairs.add_reply(4, "f", "c1")
    assert not pairs.add_reply(5, "f", "c1")
    assert not pairs.add_call(6, "functions.f", "f", "c1")
    assert (pairs.calls, pairs.replies, pairs.ids, pairs.are_whole) == ([2], [4], ["c1"], True)


def test_a_call_without_an_id_needs_a_tool_that_awaits_nothing() -> None:
    pairs = pairs_in(turn=True)
    assert not pairs.add_call(1, "functions.waiting", "waiting", None)
    assert pairs.add_call(2, "functions.f", "f", None)
    assert not pairs.add_call(3, "functions.f", "f", None)
    assert not pairs.add_reply(4, "g", None)
    assert not pairs.add_reply(4, "", None)
    assert not pairs.are_whole
    assert pairs.add_reply(4, "f", None)
    assert pairs.add_call(5, "functions.f", "f", None)
    pairs.begin_turn()
    assert pairs.add_call(6, "functions.waiting", "waiting", None)
    assert pairs.order == [0]


def test_linking_compares_names_without_the_namespace_of_functions() -> None:
    assert [bare_tool_name(name) for name in ("functions.f", "f", "browser.open")] == ["f", "f", "browser.open"]
