"""Tokens and cost with `$`, and message times with `;`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.running import TOUR, drawn, press, running, said, type_in, view
from tests.unit.document.test_usage_view import PRICES, session
from viewer.tui.app import ViewOptions
from viewer.tui.keys import DEBUG_ONLY
from viewer.tui.settings.settings import Settings


@pytest.mark.slow
async def test_tokens_and_cost(tmp_path: Path) -> None:
    """Both appear in the rules between turns, the outline, the calls and the inspector, but only in the debug view."""
    path = session(tmp_path, ("big", 10_000, 4000, 3000), ("small", 7, 0, 2))
    options = ViewOptions(settings=Settings(prices=PRICES))
    async with running(path, size=(160, 48), options=options, keys=("$",)) as pilot:
        assert said(pilot) == DEBUG_ONLY
        await press(pilot, "g")
        safe = drawn(pilot)
        await press(pilot, "d", "g", "C", "$")
        text = drawn(pilot)
        assert said(pilot) == "Tokens and cost: shown."
        assert "turn 1 · 03:04:00 · 13,000 tokens, $0.0440" in text
        assert "turn 2 · 03:04:03 · 9 tokens, <$0.0001" in text
        assert re.search(r"▾ 1 Question 0\? +13,000 ", text)
        assert re.search(r"call +tool +state +time +tokens +cost +limit", text)
        assert re.search(r"#2 +Read .*13,000 +\$0.0440", text)
        await press(pilot, "escape", "g", "J", "i")
        assert re.search(r"tokens +10,000 in \(4,000", drawn(pilot))
        assert re.search(r"cost +\$0.0440", drawn(pilot))
        await press(pilot, "d")
        assert not view(pilot).session.display.usage
        assert all(word not in drawn(pilot) for word in ("token", "13,000", "$0"))
        await press(pilot, "g")
        assert drawn(pilot).splitlines()[1:-3] == safe.splitlines()[1:-3]
        await press(pilot, "d")
        assert "13,000 tokens," not in drawn(pilot)
        await type_in(pilot, ":", "set usage")
        assert "13,000 tokens," in drawn(pilot)
        await type_in(pilot, ":", "set nousage")
        assert "13,000 tokens," not in drawn(pilot)
        await type_in(pilot, "&", "turn:1")
        await press(pilot, "$")
        assert "13,000 tokens," in drawn(pilot) and "Question 1?" not in drawn(pilot)


@pytest.mark.slow
async def test_a_wide_outline_has_every_number(tmp_path: Path) -> None:
    path = session(tmp_path, ("big", 10_000, 4000, 3000), ("none", 7, 0, 2))
    options = ViewOptions(settings=Settings(prices=PRICES))
    async with running(path, size=(98, 24), options=options, keys=("d", "$", "T")) as pilot:
        turns = [line for line in drawn(pilot).splitlines() if "Question" in line]
        assert re.search(r"10,000 in +3,000 out +4,000 cached +\$0.0440", turns[0])
        assert re.search(r"7 in +2 out +│?", turns[1]) and "$" not in turns[1]
    async with running(TOUR, keys=("d", "$")) as pilot:
        assert said(pilot) == "This transcript contains no token usage."


@pytest.mark.slow
async def test_times(tmp_path: Path) -> None:
    """Times are off, relative to the first shown message, or times of day. All of this works at every level."""
    path = session(tmp_path, ("big", 10, 4, 3))
    async with running(path, size=(80, 24)) as pilot:
        await press(pilot, "g")
        off = drawn(pilot)
        await press(pilot, ";")
        assert said(pilot) == "Times: since the first message."
        assert "turn 1 · +0.0 s" in drawn(pilot)
        assert re.search(r"User +\+0.0 s", drawn(pilot)) and re.search(r"Assistant +\+2.0 s", drawn(pilot))
        await press(pilot, "d")
        assert re.search(r"ƒ Read .* \+1.0 s ", drawn(pilot))
        await press(pilot, "d", ";")
        assert re.search(r"Assistant +03:04:02", drawn(pilot))
        await type_in(pilot, ":", "set times=off")
        await press(pilot, "g")
        assert drawn(pilot).splitlines()[1:-3] == off.splitlines()[1:-3]
