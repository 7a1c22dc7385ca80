"""Calls table: messages, tool, state, times, sizes, and arguments. Inferred links are dotted, and the table can be
sorted."""

from __future__ import annotations

from tests.support.panes import DEBUG, PAINTER, PLAIN, SAFE, STYLE, OnePane, look_of_text, screen, text_of, texts, tour
from tests.support.shown import call, problem
from tests.support.views import call_view, diagnostic_view, problems_of
from viewer.render.blocks.call_words import call_state
from viewer.render.style import StyleRole
from viewer.render.width import cells
from viewer.tui.bottom.call_lines import CallLines, SortKey
from viewer.tui.bottom.calls import Calls
from viewer.tui.panes.signs import state_sign


def test_the_tour() -> None:
    projection = tour().project(DEBUG)
    lines = CallLines(projection.calls(), STYLE, projection, problems=problems_of(projection))
    assert texts([*lines.head(118), *(lines.line(row, 118, is_cursor=row == 2) for row in range(4))]) == [
        "   call    tool                 state       time   limit    sent   reply  tokens  turn  id          arguments",
        "   #6→9    get_weather          ✓ ok           –       –    39 B   161 B       –     1  wx1         "
        "location=Tokyo fo…",
        "   #7→8    get_rain_chance      ✓ ok           –   3.0 s    56 B   149 B       –     1  rain1       "
        "location=Tokyo da…",
        " ▌ #12→13  get_weather          ✖ failed       –       –    38 B    74 B       –     2  wx2         "
        "location=Osaka fo…",
        "   #14→15  get_weather          ✖ bad JSON     –       –    39 B    53 B       –     2  wx3         "
        "location=Osaka fo…",
    ]
    assert texts([lines.line(7, 58)]) == ["   #29┄30  book_table           ✓ by order     –       –"]
    assert lines.counts == "8 calls · 2 failed"


def test_a_long_time_is_not_cut() -> None:
    """Its column is as wide as the longest time."""
    calls = [call(1, 2, latency_ms=6300, deadline_ms=3000), call(3, 4, latency_ms=240_000, deadline_ms=3_599_000)]
    shown = texts([lines.line(row, 80) for lines in [CallLines(call_view(calls), STYLE)] for row in range(2)])
    assert [line[-39:-16] for line in shown] == ["     6.3 s        3.0 s", " 4 min 0 s  59 min 59 s"]


def test_the_state_has_the_word_of_the_card() -> None:
    calls = [call(1, 2), call(3, 4), call(5, 6), call(7, 8), call(9, 10, state="failed")]
    found = [problem(2), problem(3, code="E-CALL-SCHEMA", reason=None)]
    found += [problem(6, code="W-TOKENS-STRIPPED", reason=None, severity="warning"), problem(10)]
    problems = diagnostic_view(found)
    words = ["✖ bad JSON", "✖ problem", "✓ ok", "✓ ok", "✖ failed"]
    assert [state_sign(each, STYLE, problems=problems, words=True).text for each in calls] == words
    notes = [[one for one in found if one.message in (each.call, each.reply)] for each in calls]
    assert [call_state(*each, STYLE.signs)[0] for each in zip(calls, notes, strict=True)] == words


def test_the_key_sorts_by_the_next_column() -> None:
    projection = tour().project(DEBUG)
    found = {}
    sort = SortKey.ORDER
    for _ in SortKey:
        lines = CallLines(projection.calls(), STYLE, projection, sort=sort)
        found[sort] = [lines.number(row) for row in range(len(lines))]
        assert lines.row_of(12) == found[sort].index(12)
        sort = sort.next
    assert sort is SortKey.ORDER
    assert found[SortKey.STATE][:2] == [12, 21]
    assert found[SortKey.TOOL][0] == 19
    assert found[SortKey.SENT][0] == 29
    assert "tool▾" in text_of(CallLines(projection.calls(), STYLE, projection, sort=SortKey.TOOL).head(118)[0])


def test_latency_deadline_and_missing_ends() -> None:
    late = call(1, 2, latency_ms=3100, deadline_ms=2000)
    open_call, orphan = call(3, None, state="pending"), call(None, 4, state="orphan", call_id=None)
    lines = CallLines(call_view([late, open_call, orphan]), STYLE)
    assert [lines.number(row) for row in range(3)] == [1, 3, 4]
    assert look_of_text(lines.line(0, 118), "3.1 s") is StyleRole.ERROR
    assert "2.0 s" in text_of(lines.line(0, 118))
    assert "◌ running" in text_of(lines.line(1, 118))
    assert lines.counts == "3 calls · 1 open · slowest 3.1 s"
    assert lines.counts is lines.counts, "counted once, not for every key"


def test_an_observed_latency_is_marked() -> None:
    lines = CallLines(call_view([call(1, 2, observed_ms=3100, deadline_ms=2000)]), STYLE)
    assert "~3.1 s" in text_of(lines.line(0, 118))


def test_hostile_names_are_sanitized_and_lines_fit() -> None:
    lines = CallLines(call_view([call(1, 2, call_id="\x1b[31m日本語日本語", tool="日本\u202e" * 40)]), STYLE)
    for width in (60, 80, 120):
        line = text_of(lines.line(0, width))
        assert cells(line) <= width
        assert "\x1b" not in line
        assert "\u202e" not in line


def test_without_unicode() -> None:
    lines = CallLines(tour().project(DEBUG).calls(), PLAIN)
    assert all(text_of(lines.line(row, 80)).isascii() for row in range(len(lines)))


def test_the_end_user_has_no_calls() -> None:
    assert len(CallLines(tour().project(SAFE).calls(), STYLE)) == 0


async def test_a_click_moves_the_cursor_to_the_call() -> None:
    pane = Calls(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(80, 8)) as pilot:
        pane.show(tour().project(DEBUG).calls(), 15)
        await pilot.pause()
        assert pane.list.cursor == 3
        head, row = screen(app).split("\n")[:2]
        assert head.index("state") == row.index("✓ ok")
        await pilot.click(pane.list, offset=(8, 0))
        assert [getattr(event, "number", None) for event in app.heard] == [6]
        pane.clear()
        await pilot.pause()
        assert screen(app).split() == []
