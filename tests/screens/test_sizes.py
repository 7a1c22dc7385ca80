"""Every terminal size, and every change between sizes, in both views and with all panes open."""

from __future__ import annotations

from itertools import permutations

import pytest
from textual.pilot import Pilot

from tests.support.running import drawn, press, running, settled, type_in, view
from viewer.render.sanitize import SafeText
from viewer.render.width import cells

SIZES = [(20, 5), (30, 8), (40, 12), (79, 24), (80, 24), (99, 30), (100, 30), (120, 40), (200, 60), (500, 200)]
TINY = [(1, 1), (2, 2), (5, 3), (10, 1), (1, 30)]
PANES = {
    "safe": ["T", "p"],
    "brief": ["D", "T", "p"],
    "debug": ["d", "s", "p", "C", "i", "r"],
    "side panes": ["d", "vertical_line", "i", "p"],
}
QUICK = [(120, 40), (20, 5), (200, 60), (99, 30), (100, 30), (30, 8), (79, 24), (250, 80), (1, 1), (80, 24)]


async def resized(pilot: Pilot[int], size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await settled(pilot)


@pytest.mark.share(test=4)
@pytest.mark.parametrize("panes", PANES)
@pytest.mark.parametrize("size", [(20, 5), (99, 30), (1, 1)])
async def test_the_app_opens_and_works_in_any_size(size: tuple[int, int], panes: str) -> None:
    async with running(size=size) as pilot:
        await press(
            pilot, *PANES[panes], "J", "G", "space", "k", "T", "T", "m", "e", "y", "y", "question_mark", "escape"
        )
        await type_in(pilot, "/", "osaka")
        await press(pilot, "n", "escape")
        assert_it_fits(pilot, size)


@pytest.mark.share(test=18)
@pytest.mark.parametrize("panes", PANES)
@pytest.mark.parametrize("size", [*SIZES, *TINY])
async def test_the_app_opens_in_every_size(size: tuple[int, int], panes: str) -> None:
    async with running(size=size) as pilot:
        await press(pilot, *PANES[panes], "J", "G", "g", "ctrl+p", "escape", "question_mark", "G", "escape")
        assert_it_fits(pilot, size)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("panes", PANES)
async def test_a_resize_leaves_the_focus_on_its_message(panes: str) -> None:
    async with running(keys=PANES[panes]) as pilot:
        await type_in(pilot, ":", "16")
        for size in QUICK:
            await resized(pilot, size)
            assert view(pilot).navigator.focused_number == 16, size
            assert_it_fits(pilot, size)
        assert view(pilot).widgets.transcript.line_of_cursor is not None


@pytest.mark.lab
@pytest.mark.parametrize("panes", PANES)
async def test_every_resize_to_every_size(panes: str) -> None:
    async with running(keys=PANES[panes]) as pilot:
        await type_in(pilot, ":", "16")
        for before, after in list(permutations([*SIZES, (1, 1)], 2))[::3]:
            for size in (before, after):
                await resized(pilot, size)
            assert view(pilot).navigator.focused_number == 16, (before, after)
            assert_it_fits(pilot, after)
            if after[0] >= 30 and after[1] >= 24:
                assert view(pilot).widgets.transcript.line_of_cursor is not None, (before, after)


@pytest.mark.lab
async def test_views_and_panes_can_change_during_a_resize() -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "16")
        for size, keys in zip(QUICK, ["d", "T", "|", "i", "|", "d", "T", "d", "p", "d"], strict=True):
            await pilot.resize_terminal(*size)
            await press(pilot, keys)
            assert view(pilot).navigator.focused_number == 16, (size, keys)


def assert_it_fits(pilot: Pilot[int], size: tuple[int, int]) -> None:
    lines = drawn(pilot).splitlines()
    assert len(lines) == size[1]
    assert max(cells(SafeText(line)) for line in lines) <= size[0]
