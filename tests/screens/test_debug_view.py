"""Switching the debug view on and off keeps the position and reveals nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running import drawn, press, running, type_in, view
from viewer.tui.app import ViewOptions

HIDDEN = "<|start|>assistant<|channel|>analysis<|message|>Plums.<|end|>\n" * 3


@pytest.mark.slow
async def test_leaving_the_debug_view_of_a_fully_hidden_transcript_works(tmp_path: Path) -> None:
    path = tmp_path / "hidden.ocml"
    path.write_text(HIDDEN)
    async with running(path, keys=["d", "J", "J"]) as pilot:
        assert "2 of 3" in drawn(pilot)
        await press(pilot, "d")
        assert "[SAFE]" in drawn(pilot)
        assert "msg" not in drawn(pilot).splitlines()[0]
        await press(pilot, "d", "G")
        assert "3 of 3" in drawn(pilot)


async def test_a_strict_view_has_no_other_level(tmp_path: Path) -> None:
    path = tmp_path / "hidden.ocml"
    path.write_text(HIDDEN)
    async with running(path, options=ViewOptions(strict=True)) as pilot:
        for key in "dD":
            await press(pilot, key)
            assert "[SAFE]" in drawn(pilot)
            assert "Plums" not in drawn(pilot)
            assert "This view is strict: restart without --strict-safe." in drawn(pilot)


@pytest.mark.slow
async def test_a_toggled_channel_leaves_the_focused_message_where_it_is() -> None:
    async with running(keys=["d"]) as pilot:
        await type_in(pilot, ":", "16")
        line = view(pilot).widgets.transcript.line_of_cursor
        for key in ("t", "t", "a", "a", "s", "c"):
            await press(pilot, key)
            assert (view(pilot).navigator.focused_number, view(pilot).widgets.transcript.line_of_cursor) == (
                16,
                line,
            ), key
