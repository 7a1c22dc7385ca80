"""The next-prompt screen: policies, messages, keys, and that none of it remains in memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.next_prompts import from_letters, prompt
from tests.support.running import ROOMY, SMALL, drawn, press, running, said, settled, view
from viewer.tui.insight.next_prompt import NextPromptScreen
from viewer.tui.keys import DEBUG_ONLY

TEXT = from_letters("UAFUAFU")


@pytest.fixture
def chat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("chat.harmony")
    path.write_text(TEXT, "utf-8")
    return path


async def test_the_safe_view_only_says_how_to_open_it(chat: Path) -> None:
    async with running(chat, keys=("S",)) as pilot:
        assert said(pilot) == DEBUG_ONLY
        assert not isinstance(pilot.app.screen, NextPromptScreen)


@pytest.mark.slow
async def test_a_wide_screen_lists_the_policies_and_what_happens_to_each_message(chat: Path) -> None:
    async with running(chat, size=ROOMY, keys=("d", "S")) as pilot:
        await settled(pilot)
        lines = drawn(pilot).splitlines()
        title = " ".join(lines[0].replace("╱", "").split())
        assert title == "Next prompt after #7 · 12 policies · 3 groups [DEBUG]"
        assert "│▌ harmony-0.0.8       6/7" in lines[5]
        assert "- #2   thought       dropped: before first final #3" in drawn(pilot)
        assert "! #5   thought       A5" in drawn(pilot)
        assert "last-final drops it" in drawn(pilot)
        assert "differs from last-final at #5" in drawn(pilot)
        assert " bytes reused" in drawn(pilot)
        await press(pilot, "right_square_bracket", "right_square_bracket", "equals_sign")
        assert drawn(pilot).count("<|start|>assistant") == 2
        assert drawn(pilot).count("- #5   thought       dropped:") == 2
        await press(pilot, "equals_sign", "left_square_bracket")
        assert drawn(pilot).count("<|start|>assistant") == 1


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_policy(chat: Path) -> None:
    async with running(chat, size=SMALL, keys=("d", "S", "right_square_bracket", "right_square_bracket")) as pilot:
        await settled(pilot)
        lines = drawn(pilot).splitlines()
        assert " ".join(lines[0].replace("╱", "").split()) == (
            "Next prompt after #7 · 5 of 7, 225 B policy 5/12 last-final [DEBUG]"
        )
        assert "- #2   thought       dropped: before last final #6" in drawn(pilot)
        await press(pilot, "equals_sign")
        assert "Side by side needs a terminal at least 100 columns wide." in drawn(pilot)
        await press(pilot, "j")
        assert "Two columns" not in drawn(pilot)


@pytest.mark.slow
async def test_the_prompt_of_an_earlier_message_is_shown(chat: Path) -> None:
    async with running(chat, keys=("d", "S", "less_than_sign")) as pilot:
        await settled(pilot)
        assert "Prompt before #6" in drawn(pilot)
        await press(pilot, *["less_than_sign"] * 4)
        await settled(pilot)
        assert "Prompt before #2" in drawn(pilot)
        assert "There is no earlier message from the model." in drawn(pilot)
        await press(pilot, *["greater_than_sign"] * 5)
        await settled(pilot)
        assert "Next prompt after #7" in drawn(pilot)
        assert "This is the next prompt." in drawn(pilot)


@pytest.mark.slow
async def test_the_prompt_is_copied_and_enter_goes_to_a_message(chat: Path) -> None:
    async with running(chat, keys=("d", "S", "y")) as pilot:
        assert pilot.app.clipboard == prompt(TEXT, "harmony-0.0.8")
        assert "Copied the prompt of harmony-0.0.8 (DEBUG, " in drawn(pilot)
        await press(pilot, "g", "j", "enter")
        await settled(pilot)
        assert view(pilot).navigator.focused_number == 2


@pytest.mark.slow
async def test_a_refusal_is_shown_at_its_message(chat: Path) -> None:
    chat.write_text(from_letters("UAPCT"), "utf-8")
    async with running(chat, keys=("d", "S", *["left_square_bracket"] * 5)) as pilot:
        await settled(pilot)
        assert "! #3   commentary    refused: a message with calls has both content and thinking" in drawn(pilot)
        await press(pilot, "y")
        assert "hf-template refuses #3: a message with calls has both content and thinking." in drawn(pilot)
        assert pilot.app.clipboard == ""


@pytest.mark.slow
async def test_closing_it_leaves_nothing_of_it(chat: Path) -> None:
    for key in ("escape", "q", "S"):
        async with running(chat, keys=("d", "S", key, "d")) as pilot:
            await settled(pilot)
            assert view(pilot).host.is_current
            assert not any(isinstance(screen, NextPromptScreen) for screen in pilot.app.screen_stack)
            assert "A2" not in drawn(pilot)
