"""Calls and diagnostics are found by their message, and counted, without iterating over all of them."""

from __future__ import annotations

from msgspec.structs import replace

from tests.support.views import call_view, diagnostic_view
from viewer.document.values import ShownCall, ShownDiagnostic

ANSWERED = ShownCall(1, "c1", "functions.f", 4, 6, "ok", False, None, None)
WAITING = replace(ANSWERED, call_id="c2", call=5, reply=None, state="pending")
ORPHAN = replace(ANSWERED, call_id="c3", call=None, reply=9, state="orphan")
ERROR = ShownDiagnostic("E-CALL-SCHEMA", None, "error", 4, False, (1, 2), 1, 2, None)
NOTE = replace(ERROR, code="W-CALL-ID-MISSING", severity="warning", message=6)
BETWEEN = replace(NOTE, code="W-TEXT-BETWEEN", message=None)


def test_both_ends_of_a_call_find_it() -> None:
    calls = call_view([ANSWERED, WAITING, ORPHAN])
    assert [calls.of(number) for number in (4, 5, 6, 7, 9)] == [[ANSWERED], [WAITING], [ANSWERED], [], [ORPHAN]]
    assert [calls.row_of(number) for number in (4, 5, 6, 7, 9)] == [0, 1, 0, -1, 2]
    assert (calls.open, calls.states["ok"], calls.states["failed"]) == (1, 1, 0)
    assert (len(calls), list(calls), calls[1:]) == (3, [ANSWERED, WAITING, ORPHAN], [WAITING, ORPHAN])


def test_a_message_that_answers_itself_is_found_once() -> None:
    assert call_view([replace(ANSWERED, reply=4)]).of(4) == [replace(ANSWERED, reply=4)]


def test_diagnostics_by_message_and_severity() -> None:
    found = diagnostic_view([ERROR, NOTE, BETWEEN])
    assert (found.of(4), found.of(6), found.of(5)) == ([ERROR], [NOTE], [])
    assert (found.severities["error"], found.severities["warning"], found.severities["info"]) == (1, 2, 0)
    assert [number in found.faulty for number in (None, 3, 4, 5, 6)] == [False, False, True, False, False]
    assert (len(found), found[2], list(found[:1])) == (3, BETWEEN, [ERROR])
    assert [found.place_of(one) for one in (ERROR, NOTE, BETWEEN, replace(ERROR, line=9))] == [0, 1, 2, -1]
    worst = {(1, 3): "", (1, 4): "error", (4, 6): "error", (5, 9): "warning", (7, 9): ""}
    assert {pair: found.worst(*pair) for pair in worst} == worst
