"""Lines drawn without Textual's style cache equal those drawn with it."""

from __future__ import annotations

import gc
from collections.abc import Iterable

import pytest
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tests.support.running import press, running, view
from viewer.render.style import Part, trusted
from viewer.tui.panes.plain_lines import EvenLines, PlainLines, Whole


def cells(strips: Iterable[Strip]) -> list[list[tuple[str, object]]]:
    """Return each character with its style, without mouse metadata. For a space, return only the background."""
    return [[(sign, style and _look(sign, style)) for text, style, _ in strip for sign in text] for strip in strips]


def _look(sign: str, style: Style) -> object:
    return style.clear_meta_and_links() if sign != " " or style.reverse or style.underline else style.bgcolor


@pytest.mark.share(test=3)
@pytest.mark.parametrize("size", [(120, 40), (40, 12)])
@pytest.mark.parametrize("keys", [(), ("d",), ("d", "o", "C"), ("d", "s", "v", "J", "m"), ("/", "w", "enter")])
async def test_plain_lines_equal_those_of_textual(size: tuple[int, int], keys: tuple[str, ...]) -> None:
    async with running(size=size, keys=keys) as pilot:
        seen = 0
        for selected in (False, True):
            if selected:
                pilot.app.screen.text_select_all()
                await press(pilot, "J")
            screen = view(pilot)
            for widget in (each for each in (screen, *screen.query("*")) if isinstance(each, PlainLines | EvenLines)):
                whole = Region(0, 0, *widget.region.size)
                inside = whole.shrink((1, 2, 1, 3)) if whole.height > 3 and whole.width > 9 else whole
                for crop in (whole, inside, whole.grow((0, 0, 3, 0))):
                    if crop:
                        assert cells(widget.render_lines(crop)) == cells(Widget.render_lines(widget, crop))
                        seen += crop.height
        assert seen


@pytest.mark.slow
async def test_a_border_is_drawn_anyway() -> None:
    async with running() as pilot:
        pane = view(pilot).widgets.transcript
        pane.styles.border = ("solid", "red")
        await press(pilot, "J")
        strips = pane.render_lines(Region(0, 0, *pane.region.size))
        assert strips[0].text.startswith("┌")
        assert strips[1].text.startswith("│")


@pytest.mark.share(test=2)
@pytest.mark.parametrize("keys", [(), ("d",)])
async def test_lines_off_the_screen_are_freed_without_the_collector(keys: tuple[str, ...]) -> None:
    async with running(keys=keys) as pilot:
        collected = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            counts = []
            for _ in range(3):
                await press(pilot, *["J", "K"] * 4)
                counts.append(sum(isinstance(each, Whole) for each in gc.get_objects()))
        finally:
            if collected:
                gc.enable()
    assert counts[2] < counts[0] + 20


@pytest.mark.slow
async def test_a_long_list_draws_its_scrollbar_wherever_the_thumb_moves() -> None:
    async with running(keys=("d",)) as pilot:
        rows = view(pilot).widgets.outline.list
        rows.show(1000, lambda row, width: (Part(trusted(f"{row}")),), 0)
        await press(pilot, "J")
        bar = rows.vertical_scrollbar
        assert bar.display
        drawn, pictures = 0, set()
        for top in range(0, 960, 2):
            rows.scroll_to(y=top, animate=False)
            drawn += bool(bar._dirty_regions)
            kept = [strip.text for strip in bar.render_lines(bar.size.region)]
            bar.refresh()
            assert kept == [strip.text for strip in bar.render_lines(bar.size.region)]
            pictures.add(tuple(kept))
        assert len(pictures) > 100
        assert drawn < 300
