"""A screen over the transcript opens and closes only once, however quickly it is clicked, and the transcript stays
open."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.leaks.acting import Act, perform
from tests.support.running import drawn, running, settled, view
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.main.screen import MainScreen

QUICKLY = [2, 3]
CHAT = "version: 2.2\n<|start|>user<|message|>Hi<|end|>\n"


async def click(pilot: Pilot[int], text: str, times: int) -> None:
    """Click this text."""
    y, line = next((y, line) for y, line in enumerate(drawn(pilot).splitlines()) if text in line)
    async for _ in perform(pilot, Act("click", (line.index(text), y, times))):
        await settled(pilot)


@pytest.mark.slow
@pytest.mark.parametrize("times", QUICKLY)
async def test_clicks_outside_the_palette_close_it_once(times: int) -> None:
    async with running(keys=["ctrl+p"]) as pilot:
        assert pilot.app.screen is not view(pilot)
        await click(pilot, "Help", times)
        assert pilot.app.screen is view(pilot)


@pytest.mark.slow
@pytest.mark.share(quick=6)
@pytest.mark.parametrize("times", QUICKLY)
async def test_clicks_on_a_theme_choose_it_once(times: int) -> None:
    async with running() as pilot:
        await view(pilot).run_action("do('theme')")
        await settled(pilot)
        await click(pilot, "ember", times)
        await settled(pilot)
        assert isinstance(pilot.app.screen_stack[1], MainScreen)


@pytest.mark.share(quick=4)
@pytest.mark.parametrize("times", QUICKLY)
async def test_clicks_on_a_file_open_it_once(times: int, tmp_path: Path) -> None:
    for name in ("a.ocml", "b.ocml"):
        (tmp_path / name).write_text(CHAT, "utf-8")
    async with running(tmp_path) as pilot:
        await click(pilot, "Hi", times)
        assert isinstance(pilot.app.screen, MainScreen)


async def test_clicks_in_the_footer_open_the_help_once() -> None:
    async with running(size=(120, 40)) as pilot:
        await click(pilot, "? Help", 4)
        await settled(pilot)
        assert [type(screen) for screen in pilot.app.screen_stack[1:]] == [MainScreen, HelpScreen]


async def test_stacked_dialogs_are_drawn_over_each_other_in_any_order() -> None:
    """Textual draws a dialog over any screen that has not been drawn yet, even over one above it."""
    async with running() as pilot:
        for _ in range(4):
            await view(pilot).run_action("do('help')")
        await settled(pilot)
        first = drawn(pilot)
        *_, lower, middle, _ = pilot.app.screen_stack
        for drawn_anew in ([lower], [middle], [lower, middle]):
            for screen in pilot.app.screen_stack:
                screen._dirty_regions.add(screen.size.region)
                screen._styles_cache.clear()
            for screen in drawn_anew:
                screen._layout_cache.clear()
            assert drawn(pilot) == first
