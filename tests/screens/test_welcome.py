"""The welcome card: the key that closes it also performs its action, except keys that only mean "continue"."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running import press, running, until, view
from viewer.tui.dialogs.welcome import WelcomeScreen
from viewer.tui.main.read_worker import DRAW_AGAIN_SECONDS, DRAW_SHARE, ReadWorker
from viewer.tui.settings.state_file import StateFile


@pytest.mark.share(quick=3)
@pytest.mark.parametrize(
    ("key", "level", "asks"), [("d", "debug", False), ("slash", "safe", True), ("q", "safe", False)]
)
async def test_the_first_key_acts(tmp_path: Path, key: str, level: str, asks: bool) -> None:
    async with running(state=StateFile(tmp_path / "state.json")) as pilot:
        await until(lambda: isinstance(pilot.app.screen, WelcomeScreen))
        await press(pilot, key)
        await until(lambda: pilot.app.screen is view(pilot))
        await until(lambda: view(pilot).widgets.prompt.is_asking is asks)
        assert view(pilot).session.display.level == level
        assert pilot.app.is_running


def test_a_slow_redraw_is_repeated_less_often() -> None:
    assert ReadWorker._next_redraw(1.0, 1.0) == 1.0 + DRAW_AGAIN_SECONDS
    assert ReadWorker._next_redraw(1.0, 1.5) == 1.0 + DRAW_SHARE * 0.5
