"""Calls table: id, tool, both messages, state, latency, deadline; dotted if a link is inferred."""

from __future__ import annotations

from tests.support.panes import DEBUG, PAINTER, PLAIN, SAFE, STYLE, OnePane, screen, text_of, texts, tour
from tests.support.shown import call
from tests.support.views import call_view
from viewer.render.style import StyleRole
from viewer.render.width import cells
from viewer.tui.panes.call_lines import CallLines
from viewer.tui.panes.calls import Calls


def test_the_tour() -> None:
    lines = CallLines(tour().project(DEBUG).calls(), STYLE)
    assert texts([*lines.head(80), *(lines.line(row, 80) for row in range(len(lines)))]) == [
        " CALLS  8 calls · 0 open · 2 went wrong",
        " id     tool                     call    reply  state         latency  deadline",
        " wx1    functions.get_weather    #6 ───► #9     ok",
        " rain1  get_rain_chance          #7 ───► #8     ok                     3.0 s",
        " wx2    functions.get_weather    #12 ──► #13    ✖ failed",
        " wx3    functions.get_weather    #14 ──► #15    ok",
        " web1   browser.search           #19 ──► #20    ok",
        " t1     functions.find_tables    #21 ──► #22    ✖ timeout              2.0 s",
        " t2     functions.find_tables    #24 ──► #25    ok",
        " —      functions.book_table     #29 ┄┄► #30    ok                     inferred",
    ]


def test_latency_deadline_and_missing_ends() -> None:
    late = call(1, 2, latency_ms=3100, deadline_ms=2000)
    open_call, orphan = call(3, None, state="pending"), call(None, 4, state="orphan", call_id=None)
    lines = CallLines(call_view([late, open_call, orphan]), STYLE)
    assert (
        texts(lines.line(row, 80) for row in range(3))
        == [
            " c1  functions.f                 #1 ──► #2     ok               3.1 s  2.0 s, 1.1 s late",
            " c1  functions.f                 #3 ──► -      … pending",
            " —   functions.f                 - ───► #4     ⚠ orphan",
        ]
        or cells(text_of(lines.line(0, 80))) <= 80
    )
    assert [lines.number(row) for row in range(3)] == [1, 3, 4]
    assert lines.line(0, 120)[-1].look is StyleRole.ERROR
    assert "3.1 s" in text_of(lines.line(0, 80))


def test_an_observed_latency_is_marked() -> None:
    lines = CallLines(call_view([call(1, 2, observed_ms=3100, deadline_ms=2000)]), STYLE)
    assert "~3.1 s  2.0 s, 1.1 s late" in text_of(lines.line(0, 120))


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


async def test_a_click_chooses_the_call() -> None:
    pane = Calls(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(80, 8)) as pilot:
        pane.show(tour().project(DEBUG).calls(), 15)
        await pilot.pause()
        assert pane.list.cursor == 3
        head, row = screen(app).split("\n")[1:3]
        assert head.index("state") == row.index("ok")
        await pilot.click(pane.list, offset=(8, 0))
        assert [getattr(event, "number", None) for event in app.heard] == [6]
        pane.clear()
        await pilot.pause()
        assert screen(app).split() == []
