"""The app on examples of the record formats: it shows exactly what the user saw, and contains nothing else."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from tests.laws.test_format_examples import NAMES, expected, path_of
from tests.support.cases import each
from tests.support.running import SMALL, drawn, press, running, settled, view
from tests.support.walking import reachable_text
from viewer.document.rows import RowKind

WIDE = (300, 24)
"""A screen on which no line of an example is wrapped."""


@pytest.mark.slow
@each("name", NAMES, quick=1080, test=160)
async def test_the_app_shows_each_text_once_and_nothing_hidden(name: str) -> None:
    async with running(path_of(name), size=SMALL) as pilot:
        await _check(name, pilot)
        await press(pilot, "d", "G", "d")
        await settled(pilot)
        await _check(name, pilot)


async def _check(name: str, pilot: Pilot[int]) -> None:
    assert await _texts(pilot) == [text.strip() for text in expected(name)["seen"]]
    transcript = view(pilot).widgets.transcript
    await press(pilot, "g")
    for _ in range(100):
        page = drawn(pilot)
        assert "[SAFE]" in page
        assert not [hidden for hidden in ("SECRET_", *expected(name)["hidden"]) if hidden in page]
        if transcript.scroller.at_end(transcript.view_height):
            break
        await press(pilot, "space")
    assert "SECRET_" not in reachable_text(pilot.app)


async def _texts(pilot: Pilot[int]) -> list[str]:
    """Return the texts of the messages as they were written: on a wide screen, and without rendered Markdown."""
    await pilot.resize_terminal(*WIDE)
    await press(pilot, "M")
    await settled(pilot)
    view(pilot).view.unfold_branches()
    transcript, rows = view(pilot).widgets.transcript, view(pilot).session.rows
    texts = [transcript.block(row).text.strip() for row in range(len(rows)) if rows.kind(row) is RowKind.MESSAGE]
    await press(pilot, "M")
    await pilot.resize_terminal(*SMALL)
    await settled(pilot)
    return texts
