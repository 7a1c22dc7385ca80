"""Outline: turns that fold, one line per message or call, and problems. In the safe view, nothing hidden."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.panes import (
    ALL,
    CALLS,
    DEBUG,
    PAINTER,
    PLAIN,
    SAFE,
    SAMPLES,
    STRICT,
    STYLE,
    OnePane,
    read,
    screen,
    texts,
    tour,
)
from tests.support.running import ROOMY, TOUR, drawn, press, running, settled, until, view
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.rows import MessageSet
from viewer.document.values import ShownMessage
from viewer.model.visibility import Audience
from viewer.render.style import Style
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.outline_lines import OutlineLines
from viewer.tui.panes.outline_table import OutlineKind, OutlineTable

FILES = [path for path in sorted(SAMPLES.glob("*/*/*")) if path.suffix not in (".md", "")]


def outline(projection: Projection, style: Style = STYLE, live: bool = False) -> OutlineLines:
    return OutlineLines(projection, projection.rows(), style, live=live)


def all_lines(lines: OutlineLines, width: int = 30) -> list[str]:
    return texts(lines.line(row, width) for row in range(len(lines.table)))


def test_the_tour_in_the_debug_view() -> None:
    lines = all_lines(outline(tour().project(DEBUG)))
    assert lines[:10] == [
        " ▾ 1 What's the weather in T…",
        "     ∴ thought          178 B",
        "     ¶ plan              seen",
        "     ƒ get_weather          ✓",
        "     ƒ get_rain_chance      ✓",
        "     ● It's 20 °C and s… seen",
        " ▾ 2 And Osaka?           ✖ 2",
        "     ƒ get_weather          ✖",
        "     ƒ get_weather          ✖",
        "     ● Osaka is 23 °C w… seen",
    ]


def test_the_cursor_has_a_bar() -> None:
    lines = outline(tour().project(DEBUG))
    assert texts([lines.line(0, 30, is_cursor=True), lines.line(7, 30, is_cursor=True)]) == [
        "▌▾ 1 What's the weather in T…",
        "   ▌ ƒ get_weather          ✖",
    ]


def test_the_tour_in_the_safe_view() -> None:
    assert all_lines(outline(tour().project(SAFE)))[:8] == [
        " ▾ 1 What's the weather in T…",
        "     ┄ 2 hidden messages",
        "     ┄ 1 hidden message",
        "     ¶ plan",
        "     ┄ 4 hidden messages",
        "     ● It's 20 °C and sunny …",
        " ▾ 2 And Osaka?           ✖ 2",
        "     ┄ 4 hidden messages    ✖",
    ]


def test_a_strict_end_user_learns_of_nothing_hidden() -> None:
    lines = all_lines(outline(tour().project(STRICT)))
    assert lines[:4] == [
        " ▾ 1 What's the weather in T…",
        "     ¶ plan",
        "     ● It's 20 °C and sunny …",
        " ▾ 2 And Osaka?",
    ]
    assert lines[-2] == " ▾ 5 Great! How do I get… ✖ 1"


@pytest.mark.parametrize("audience", [SAFE, STRICT])
def test_the_safe_outline_says_nothing_of_hidden_messages(audience: Audience, tmp_path: Path) -> None:
    lines = "\n".join(all_lines(outline(read(tmp_path, CALLS).project(audience)), 60))
    for hidden in ("SECRET", "thought", "functions", "ƒ"):
        assert hidden not in lines


@each("sample", FILES, ids=lambda path: path.name, quick=96, test=24)
def test_no_hidden_body_of_any_sample_begins_a_safe_line(sample: Path) -> None:
    document = open_document(str(sample))
    everything, safe = document.project(ALL), document.project(SAFE)
    lines = "\n".join(all_lines(outline(safe), 80)).replace("hidden message", "")
    seen = " ".join(item.body for item in safe.items() if isinstance(item, ShownMessage))
    for number in range(1, document.message_count + 1):
        body = " ".join(everything.beginning(number, 12).split())
        if safe.message(number) is None and len(body) > 5 and body not in " ".join(seen.split()):
            assert body not in lines


def test_a_folded_turn_is_one_line() -> None:
    lines = outline(tour().project(DEBUG))
    lines.table.toggle(1)
    assert [line.split()[0] for line in all_lines(lines)[5:9]] == ["●", "▸", "▾", "∴"]
    assert lines.table.at(lines.table.row_of(13)).kind is OutlineKind.TURN
    lines.table.fold_all(True)
    assert [line[:4] for line in all_lines(lines)] == [f" ▸ {turn}" for turn in range(1, 6)]
    lines.table.fold_all(False)
    assert len(lines.table) == 23


def test_a_turn_keeps_its_title_under_a_filter_that_excludes_it() -> None:
    for audience in (DEBUG, SAFE):
        projection = tour().project(audience)
        answers = [item for item in projection.items() if isinstance(item, ShownMessage) and item.role == "assistant"]
        filtered = projection.rows(only=MessageSet(item.number for item in answers))
        lines = all_lines(OutlineLines(projection, filtered, STYLE, all_rows=projection.rows()))
        turns = [line for line in lines if line.startswith(" ▾")]
        assert turns[0].startswith(" ▾ 1 What's the weather")
        assert {title_of(line) for line in turns} < {title_of(line) for line in all_lines(outline(projection))}
        assert not any("What's" in line for line in all_lines(OutlineLines(projection, filtered, STYLE)))


def title_of(line: str) -> str:
    return line[:20].partition("…")[0].rstrip()


def test_cached_lines_equal_new_ones() -> None:
    projection = tour().project(DEBUG)
    rows, settled = projection.rows(), [False]
    kept = OutlineLines(projection, rows, STYLE, is_settled=lambda: settled[0])
    for is_settled in (False, True):
        settled[0] = is_settled
        for folded in ([], [1], [0, 1], []):
            lines = outline(projection)
            for group in range(lines.table.groups):
                if (group in kept.table.folds) != (group in folded):
                    kept.toggle(group)
                if group in folded:
                    lines.table.toggle(group)
            for width in (30, 44, 30):
                for row in range(len(lines.table)):
                    for is_cursor in (False, True):
                        given = row, width
                        assert kept.line(*given, is_cursor=is_cursor) == lines.line(*given, is_cursor=is_cursor)
    assert kept.line(0, 30) is kept.line(0, 30)
    kept.forget()
    while kept.prepare(range(2, 5), 30):
        pass
    assert [key[0] for key in kept._made] == [2, 3, 4]
    assert not kept.prepare(range(len(kept.table), 1000), 30), "a filter has left fewer rows"
    settled[0] = False
    assert not kept.prepare(range(9), 30)
    assert kept.line(0, 30) is not kept.line(0, 30)


def test_the_table_of_the_same_rows_is_used_again() -> None:
    projection = tour().project(DEBUG)
    rows = projection.rows()
    table = outline(projection).table
    first = OutlineLines(projection, rows, STYLE, tables=[table], is_settled=lambda: True)
    assert first.table is not table, "the table belongs to other rows"
    again = OutlineLines(projection, rows, STYLE, tables=[table, first.table], is_settled=lambda: True)
    assert again.table is first.table
    assert OutlineLines(projection, rows, STYLE, tables=[first.table]).table is not first.table, "rows may still grow"


@pytest.mark.parametrize("audience", [DEBUG, ALL, SAFE], ids=["debug", "all", "safe"])
def test_a_table_computed_in_steps_equals_one_computed_at_once(audience: Audience) -> None:
    projection = tour().project(audience)
    rows = projection.rows()
    lines = OutlineLines(projection, rows, STYLE, is_settled=lambda: True, in_steps=True)
    while lines.table.is_partial:
        assert (len(lines.table), lines.table.row_of(1), all_lines(lines)) == (0, -1, [])
        lines.table.go_on()
    assert all_lines(lines) == all_lines(OutlineLines(projection, rows, STYLE))


async def test_the_outline_of_many_rows_is_drawn_after_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(TOUR, size=ROOMY) as pilot:
        await settled(pilot)
        await press(pilot, "d")
        at_once = drawn(pilot)
        await press(pilot, "d")
        monkeypatch.setattr("viewer.tui.panes.outline.LARGEST_AT_ONCE", 0)
        pane = view(pilot).query_one(Outline)
        pane.forget_reading()
        monkeypatch.setattr(OutlineTable, "go_on", lambda table: None)
        await press(pilot, "d")
        assert pane.list.count == 0
        assert drawn(pilot) != at_once
        monkeypatch.undo()
        await until(lambda: pane.list.count > 0)
        await press(pilot)
        assert drawn(pilot) == at_once


def test_every_message_leads_to_a_row_of_its_turn() -> None:
    projection = tour().project(ALL)
    lines = outline(projection)
    for number in range(3, 34):
        row = lines.table.at(lines.table.row_of(number))
        assert lines.table.turn(row.group) == projection.headline(number).turn
    assert lines.table.row_of(9) == lines.table.row_of(8) or lines.table.at(lines.table.row_of(9)).number <= 9
    assert lines.table.at(lines.table.row_of(12)).number == 12
    assert lines.table.at(lines.table.row_of(13)).number == 12, "a reply is on the row of its call"


def test_without_unicode() -> None:
    lines = all_lines(outline(tour().project(DEBUG), PLAIN))
    assert lines[3] == "     f get_weather         ok"
    assert all(line.isascii() for line in lines)


def test_the_open_message_grows_while_it_is_followed() -> None:
    assert all_lines(outline(tour().project(DEBUG), live=True))[-1] == "     ● Take the Midosuj… live"


def test_hostile_names_and_texts_are_sanitized(tmp_path: Path) -> None:
    text = "version: 2.2\n<|start|>user<|message|>\x1b]0;x\x07\n\u202e[@click=app.quit]x<|end|>\n"
    lines = all_lines(outline(read(tmp_path, text).project(DEBUG)), 60)
    assert lines[0].split() == ["▾", "1", "␛]0;x␇", "⇠[@click=app.quit]x", "⚠", "3"]


def test_the_outline_grows_with_the_document() -> None:
    whole = tour()
    document = Document(whole._source)
    while not document.message_count:
        document.read_some(200)
    projection = document.project(DEBUG)
    rows = projection.rows()
    lines = OutlineLines(projection, rows, STYLE)
    while not document.is_complete:
        document.read_some(200)
        lines.grow(rows.extend())
    assert all_lines(lines) == all_lines(outline(whole.project(DEBUG)))


def test_a_hundred_thousand_messages_are_fast(tmp_path: Path) -> None:
    turn = "<|start|>user<|message|>q<|end|>\n" + "<|start|>assistant<|channel|>final<|message|>a<|return|>\n" * 9
    projection = read(tmp_path, "version: 2.2\n" + turn * 10_000).project(DEBUG)
    rows = projection.rows()
    begun = time.process_time()
    lines = OutlineLines(projection, rows, STYLE)
    shown = [lines.line(row, 30) for row in range(60_000, 60_100)]
    lines.table.toggle(500)
    lines.table.fold_all(True)
    taken = time.process_time() - begun
    assert len(shown) == 100
    assert len(lines.table) == 10_000
    assert taken < 3


@pytest.mark.slow
async def test_a_click_moves_the_cursor_and_a_double_click_chooses() -> None:
    projection = tour().project(DEBUG)
    pane = Outline(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(30, 20)) as pilot:
        rows = projection.rows()
        pane.show(projection, rows, 3, is_settled=lambda: True)
        await pilot.pause()
        assert "╭─ 1 Outline ─" in screen(app)
        await pilot.click(pane.list, offset=(8, 1))
        await pilot.pause()
        assert [getattr(event, "number", None) for event in app.heard] == [4]
        await pilot.click(pane.list, offset=(8, 1), times=2)
        await pilot.pause()
        assert isinstance(app.heard[-1], Outline.Chosen)
        pane.list.fold(True)
        await pilot.pause()
        assert "▌▸ 1 What's" in screen(app)
        assert "178 B" not in screen(app)
        pane.focus_on(33)
        await pilot.pause()
        assert "● Take the" in screen(app)
        pane.clear()
        await pilot.pause()
        assert "What's" not in screen(app)
        assert pane._lines is None
        pane.show(projection, rows, 3, is_settled=lambda: True)
        await pilot.pause()
        assert "▾ 1 What's" in screen(app), "the table is used again, but without folds"
