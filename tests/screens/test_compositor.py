"""Our compositor draws the same cells as Textual's, and no widget that is behind others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from tests.support.running import ROOMY, SMALL, press, running
from viewer.tui.terminal.compositor import FrontCompositor

TEXT = """---
version: 2.2
---
<|start|>user<|message|>What is the weather in 東京?<|end|>
<|start|>assistant<|channel|>analysis<|message|>They ask for the weather.<|end|>
<|start|>assistant to=functions.get_weather call_id=a<|channel|>commentary<|constrain|>json<|message|>{"a":1}<|call|>
<|start|>tool name=functions.get_weather call_id=a to=assistant<|channel|>commentary<|message|>{"ok":false}<|end|>
<|start|>assistant<|channel|>final<|message|>It is *sunny* ☀️ and 20 °C.<|end|>
"""
KEYS = "dTipCH|"
REGIONS = (
    [Region(0, 0, 120, 1)],
    [Region(33, 4, 20, 3), Region(2, 5, 9, 9)],
    [Region(0, 39, 120, 1), Region(31, 1, 60, 30)],
    [Region(5, 3, 1, 1), Region(7, 3, 30, 1), Region(70, 3, 80, 50)],
)

Cells = dict[tuple[int, int], tuple[str, Any]]


def cells_of(strips: dict[int, Strip | None], y: int, first: int, end: int) -> Cells:
    """Return the drawn cells of one line; a wide character belongs to its first cell."""
    found: Cells = {}
    for start, strip in strips.items():
        x = start
        for segment in strip or ():
            for letter in segment.text:
                if first <= x < end:
                    found[y, x] = letter, segment.style
                x += cell_len(letter)
    return found


def drawn(update: ChopsUpdate | None) -> Cells:
    found: Cells = {}
    if update is not None:
        for y, first, end in update.spans:
            found |= cells_of(update.chops[y], y, first, end)  # type: ignore[arg-type]
    return found


def compare(pilot: Pilot[int]) -> None:
    ours = pilot.app.screen._compositor
    assert isinstance(ours, FrontCompositor)
    width, height = ours.size
    whole = ours.size.region
    mine, theirs = (kind._render_chops(ours, whole, lambda y: True) for kind in (FrontCompositor, Compositor))
    for y in range(height):
        assert cells_of({**mine[y]}, y, 0, width) == cells_of({**theirs[y]}, y, 0, width)
        assert [*mine[y]] == [*theirs[y]]
    for regions in REGIONS:
        updates = []
        for kind in (FrontCompositor, Compositor):
            ours._dirty_regions = {region.intersection(whole) for region in regions if region.overlaps(whole)}
            updates.append(kind.render_partial_update(ours))
        assert drawn(updates[0]) == drawn(updates[1])
        assert drawn(updates[0]) or not any(region.overlaps(whole) for region in regions)


@pytest.mark.parametrize("size", [pytest.param(ROOMY, marks=pytest.mark.slow), SMALL], ids=str)
async def test_it_draws_the_same_cells(tmp_path: Path, size: tuple[int, int]) -> None:
    path = tmp_path / "a.ocml"
    path.write_text(TEXT * 3, "utf-8")
    async with running(path, size=size) as pilot:
        compare(pilot)
        for key in KEYS:
            await press(pilot, key)
            compare(pilot)


async def test_it_draws_nothing_behind_other_widgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ocml"
    path.write_text(TEXT, "utf-8")
    async with running(path, size=ROOMY) as pilot:
        await press(pilot, "d")
        asked: list[tuple[str, Region]] = []
        kinds: set[Any] = {*map(type, pilot.app.screen._compositor.visible_widgets)}
        for kind in kinds:
            render = kind.render_lines

            def recorded(widget: Widget, crop: Region, render: Any = render) -> list[Strip]:
                asked.append((type(widget).__name__, crop))
                lines: list[Strip] = render(widget, crop)
                return lines

            monkeypatch.setattr(kind, "render_lines", recorded)
        compositor = pilot.app.screen._compositor
        compositor._dirty_regions = {Region(40, 5, 10, 2)}
        compositor.render_partial_update()
        assert {(name, crop.height) for name, crop in asked} == {("Transcript", 2)}
