"""Outline: folding turns, one line per message, call brackets, marks; nothing hidden in the safe view."""

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
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.model.visibility import Audience
from viewer.render.style import Style, StyleRole
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.outline_lines import OutlineLines
from viewer.tui.panes.outline_table import OutlineKind

FILES = [path for path in sorted(SAMPLES.glob("*/*/*")) if path.suffix not in (".md", "")]


def outline(projection: Projection, style: Style = STYLE, live: bool = False) -> OutlineLines:
    return OutlineLines(projection, projection.rows(), style, live=live)


def all_lines(lines: OutlineLines, width: int = 30) -> list[str]:
    return texts(lines.line(row, width) for row in range(len(lines.table)))


def test_the_tour_in_the_debug_view() -> None:
    lines = all_lines(outline(tour().project(DEBUG)))
    assert lines[:17] == [
        " ▾ turn 1",
        "   1 S system             (h)",
        "   2 D developer          (h)",
        "   3 U What's the weather … *",
        "   4 A analysis         178 B",
        "   5 C plan (preamble)      *",
        " ┌ 6 C→get_weather        wx1",
        " ├ 7 C→get_rain_chance  rain1",
        " ├ 8 T get_rain_chance  rain1",
        " └ 9 T get_weather        wx1",
        "  10 F It's **20 °C and su… *",
        " ▾ turn 2",
        "  11 U And Osaka?           *",
        "✖┌12 C→get_weather        wx2",
        "⚠└13 T get_weather        wx2",
        " ┌14 C→get_weather        wx3",
        "✖└15 T get_weather        wx3",
    ]
    assert lines[32:35] == [
        "⚠┌29 C→book_table       no id",
        "⚠└30 T book_table    inferred",
        "  31 F Your table at **千…  *",
    ]


def test_the_tour_in_the_safe_view() -> None:
    lines = all_lines(outline(tour().project(SAFE)))
    assert lines[:10] == [
        " ▾ turn 1",
        "     ┄ 2",
        "   3 U What's the weather in…",
        "     ┄ 1",
        "   5 C plan (preamble)",
        "     ┄ 4",
        "  10 F It's **20 °C and sunn…",
        " ▾ turn 2",
        "  11 U And Osaka?",
        "✖    ┄ 4",
    ]


def test_a_strict_end_user_learns_of_nothing_hidden() -> None:
    lines = all_lines(outline(tour().project(STRICT)))
    assert lines[:6] == [
        " ▾ turn 1",
        "   1 U What's the weather in…",
        "   2 C plan (preamble)",
        "   3 F It's **20 °C and sunn…",
        " ▾ turn 2",
        "   4 U And Osaka?",
    ]
    assert lines[-1].startswith("✖ 11 F Take the")


@pytest.mark.parametrize("audience", [SAFE, STRICT])
def test_the_safe_outline_says_nothing_of_hidden_messages(audience: Audience, tmp_path: Path) -> None:
    lines = "\n".join(all_lines(outline(read(tmp_path, CALLS).project(audience)), 60))
    for hidden in ("SECRET", "analysis", "functions", "f ", "┌", "(h)"):
        assert hidden not in lines


@each("sample", FILES, ids=lambda path: path.name, quick=36, test=24)
def test_no_hidden_body_of_any_sample_begins_a_safe_line(sample: Path) -> None:
    document = open_document(str(sample))
    everything, safe = document.project(ALL), document.project(SAFE)
    lines = "\n".join(all_lines(outline(safe), 80))
    seen = " ".join(item.body for item in safe.items() if isinstance(item, ShownMessage))
    for number in range(1, document.message_count + 1):
        body = " ".join(everything.beginning(number, 12).split())
        if safe.message(number) is None and len(body) > 5 and body not in " ".join(seen.split()):
            assert body not in lines


def test_a_folded_turn_is_one_line_with_its_worst_mark() -> None:
    lines = outline(tour().project(DEBUG))
    lines.table.toggle(1)
    assert all_lines(lines)[10:13] == ["  10 F It's **20 °C and su… *", "✖▸ turn 2 · 6", " ▾ turn 3"]
    assert lines.table.at(lines.table.row_of(13)).kind is OutlineKind.TURN
    lines.table.fold_all(True)
    assert all_lines(lines) == [" ▸ turn 1 · 10", "✖▸ turn 2 · 6", "✖▸ turn 3 · 10", "⚠▸ turn 4 · 5", "✖▸ turn 5 · 2"]
    lines.table.fold_all(False)
    assert len(lines.table) == 38


def test_every_message_has_its_row() -> None:
    lines = outline(tour().project(ALL))
    for number in range(1, 34):
        row = lines.table.at(lines.table.row_of(number))
        assert (row.kind, row.number) == (OutlineKind.MESSAGE, number)


def test_without_unicode() -> None:
    lines = all_lines(outline(tour().project(DEBUG), PLAIN))
    assert lines[0] == " v turn 1"
    assert lines[6] == " + 6 C>get_weather        wx1"
    assert all(line.isascii() for line in lines)


def test_the_open_message_grows_while_it_is_followed() -> None:
    lines = outline(tour().project(DEBUG), live=True)
    assert all_lines(lines)[-3:] == [
        " ▾ turn 5                live",
        "  32 U Great! How do I get… *",
        "✖ 33 F Take the **Midosuji… ▌",
    ]


def test_the_partner_of_the_focus_stands_out() -> None:
    lines = outline(tour().project(DEBUG))
    lines.focus_on(15)
    line = lines.line(lines.table.row_of(14), 30)
    assert (line[2].text, line[2].look) == ("14", StyleRole.PARTNER)


def test_hostile_names_and_texts_are_sanitized(tmp_path: Path) -> None:
    text = "version: 2.2\n<|start|>user<|message|>\x1b]0;x\x07\n\u202e[@click=app.quit]x<|end|>\n"
    lines = all_lines(outline(read(tmp_path, text).project(DEBUG)), 60)
    assert lines[1].split() == ["⚠", "1", "U", "␛]0;x␇", "⇠[@click=app.quit]x", "*"]


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
async def test_a_click_chooses_a_message_and_folds_a_turn() -> None:
    projection = tour().project(DEBUG)
    pane = Outline(PAINTER, STYLE)
    app = OnePane(pane)
    async with app.run_test(size=(30, 20)) as pilot:
        pane.show(projection, projection.rows(), 3)
        await pilot.pause()
        assert " OUTLINE" in screen(app)
        await pilot.click(pane.list, offset=(8, 4))
        assert [getattr(event, "number", None) for event in app.heard] == [4]
        await pilot.click(pane.list, offset=(3, 0))
        await pilot.pause()
        assert " ▸ turn 1 · 10" in screen(app)
        assert "analysis         178 B" not in screen(app)
        pane.focus_on(33)
        await pilot.pause()
        assert "33 F Take the" in screen(app)
        pane.clear()
        await pilot.pause()
        assert "turn" not in screen(app)
        assert pane._lines is None
