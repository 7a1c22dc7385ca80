"""What lies over the transcript closes once, however often and quickly it is told to: the transcript stays."""

from __future__ import annotations

import pytest

from tests.leaks.acting import Act, perform, type_ahead
from tests.tui.running import running, settled, view


@pytest.mark.parametrize("action", ["palette", "help", "theme"])
async def test_escape_three_times_at_once(action: str) -> None:
    async with running() as pilot:
        await view(pilot).run_action(action)
        await settled(pilot)
        assert pilot.app.screen is not view(pilot)
        await type_ahead(pilot, ["escape"] * 3)
        assert pilot.app.screen is view(pilot)


@pytest.mark.parametrize("clicks", [2, 3])
async def test_clicks_beside_the_palette(clicks: int) -> None:
    async with running(keys=["ctrl+p"]) as pilot:
        async for _ in perform(pilot, Act("click", (100, 39, clicks))):
            await settled(pilot)
        assert pilot.app.screen is view(pilot)
