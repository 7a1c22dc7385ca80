"""A search belongs to its view: it restarts for another audience, and the earlier matches are dropped."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.screens.test_reading import press_at_once
from tests.support.running import ROOMY, SMALL, drawn, press, running, said, type_in, until, view
from viewer.tui.control import typed_count
from viewer.tui.search.engine import Searcher

TEXT = (
    "version: 2.2\n\n"
    "<|start|>system<|message|>Plums are the secret fruit. Plums!<|end|>\n"
    "<|start|>user<|message|>Which fruit?<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Plums, plums, plums.<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Apples, not plums.<|return|>\n"
)


@pytest.fixture
def fruit(tmp_path: Path) -> Path:
    path = tmp_path / "fruit.ocml"
    path.write_text(TEXT, "utf-8")
    return path


def total(pilot: object) -> int | None:
    searcher = view(pilot).search.searcher  # type: ignore[arg-type]
    return searcher.matches.total if searcher else None


@pytest.mark.slow
async def test_a_search_runs_again_in_the_debug_view_and_says_so(fruit: Path) -> None:
    async with running(fruit, size=ROOMY) as pilot:
        await type_in(pilot, "/", "plums")
        assert total(pilot) == 1
        await press(pilot, "d")
        assert total(pilot) == 4
        assert said(pilot) == "Search repeated in the debug view: 4 matches (1 in the safe view)."
        assert view(pilot).search.searcher is not None
        assert view(pilot).search.searcher._rows is view(pilot).session.rows  # type: ignore[union-attr]


@pytest.mark.slow
async def test_a_channel_that_is_switched_changes_what_is_found(fruit: Path) -> None:
    async with running(fruit, size=ROOMY, keys=["d"]) as pilot:
        await type_in(pilot, "/", "plums")
        assert total(pilot) == 4
        await press(pilot, "a")
        assert total(pilot) == 1
        assert said(pilot) == "Search repeated: 1 match."
        await press(pilot, "s")
        assert total(pilot) == 3
        await press(pilot, "a")
        assert total(pilot) == 6


@pytest.mark.slow
async def test_leaving_the_debug_view_drops_the_search(fruit: Path) -> None:
    async with running(fruit, size=ROOMY, keys=["d"]) as pilot:
        await type_in(pilot, "/", "secret fruit")
        await press(pilot, "d")
        assert total(pilot) is None
        assert "secret" not in drawn(pilot)
        await press(pilot, "n")
        assert said(pilot) == "No search yet. Press / to start one."
        await press(pilot, "slash", "up")
        assert "secret" not in drawn(pilot)


@pytest.mark.slow
async def test_a_filter_lasts_as_long_as_the_level_may_use_it(fruit: Path) -> None:
    """After a change of level, the filter finds the messages of the new audience."""
    async with running(fruit, size=ROOMY) as pilot:
        await type_in(pilot, "&", "plums")
        assert len(view(pilot).session.rows) == 1
        await press(pilot, "d")
        assert view(pilot).filter.is_active
        assert total(pilot) == 4 and "  User" not in drawn(pilot)
        assert view(pilot).search.searcher._rows is view(pilot).session.rows  # type: ignore[union-attr]
        await press(pilot, "a")
        assert total(pilot) == 1 and "  User" not in drawn(pilot)
        await press(pilot, "escape")
        assert "Which fruit?" in drawn(pilot)
        await type_in(pilot, "&", "role:assistant")
        for key in "srar":
            await press(pilot, key)
            assert view(pilot).filter.is_active, key
            assert "Apples" in drawn(pilot) and "  User" not in drawn(pilot), key
        await press(pilot, "d")
        assert not view(pilot).filter.is_wanted
        assert "Which fruit?" in drawn(pilot)


@pytest.mark.slow
async def test_the_next_match_belongs_to_the_current_view(fruit: Path) -> None:
    async with running(fruit, size=ROOMY) as pilot:
        await type_in(pilot, "/", "plums")
        await press(pilot, "d", "n")
        assert view(pilot).search.current_match in list(view(pilot).search.searcher.matches)  # type: ignore[union-attr]
        await press(pilot, "a", "n", "n")
        assert view(pilot).navigator.focused_number == 4


@pytest.mark.slow
async def test_the_prompt_counts_while_a_text_is_typed_and_only_what_the_view_shows(fruit: Path) -> None:
    async with running(fruit, size=SMALL) as pilot:

        def prompt() -> str:
            return drawn(pilot).splitlines()[-2]

        await press(pilot, "/", *"plu")
        assert prompt().endswith(" 1 of 1 · text, or //regex · enter find · esc cancel")
        await press(pilot, "x")
        assert " no matches · text" in prompt()
        await press(pilot, "backspace", "backspace", "backspace", "backspace")
        assert prompt().endswith(" text, or //regex · enter find · ↑ history · esc cancel")
        await press(pilot, "/", "(")
        assert prompt().endswith("column 2: missing )")
        await press(pilot, *"a|p)l")
        assert " 1 of 2 · text" in prompt()
        assert total(pilot) is None
        await press(pilot, "escape", "d", "/", *"plums, plums, plums. And a long text")
        assert prompt().endswith(" no matches · enter find · esc cancel")
        await press(pilot, "ctrl+u", *"plums")
        assert " 1 of 4 · text" in prompt()
        await press(pilot, "escape", "&", *"channel:analysis")
        assert " 1 of 4 messages · tab complete · enter apply · esc cancel" in prompt()
        await press(pilot, "escape", "d", "&", *"channel:analysis")
        assert "messages" not in prompt()


@pytest.mark.slow
async def test_counting_ends_with_the_prompt(fruit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[float] = []

    class Endless(Searcher):
        def step(self, seconds: float) -> bool:
            steps.append(seconds)
            return True

    monkeypatch.setattr(typed_count, "Searcher", Endless)
    async with running(fruit, size=SMALL) as pilot:
        await press_at_once(pilot, "slash", "p")
        await until(lambda: len(steps) > 3)
        await press_at_once(pilot, "escape")
        await until(lambda: not view(pilot).widgets.prompt.is_asking)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        before = len(steps)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(steps) == before


@pytest.mark.slow
async def test_a_filter_keeps_the_turns_and_the_cursor_and_can_be_edited() -> None:
    async with running(size=(120, 20), keys=["d", "T"]) as pilot:
        await press(pilot, "tab", "J")
        before = drawn(pilot).splitlines()[0]
        await type_in(pilot, "&", "tool:get_weather")
        lines = drawn(pilot).splitlines()
        assert "turn 1/5" in before and "turn 1/5" in lines[0]
        assert any("▌ ƒ get_weather" in line.partition("┃")[2] for line in lines)
        assert "Filter tool:get_weather · 6 of 33 messages" in lines[-2]
        await press(pilot, "ampersand")
        assert drawn(pilot).splitlines()[-2].startswith(" &tool:get_weather")
        await press(pilot, "ctrl+u", *"role:user", "enter")
        assert "Filter role:user · 5 of 33 messages" in drawn(pilot)
        assert "⚠" not in drawn(pilot).partition("\n")[2].partition("┃")[0]


@pytest.mark.slow
async def test_a_filter_for_the_name_of_a_shown_tool_says_how_to_find_its_calls() -> None:
    hint = "tool:Get_Weather finds the calls to this tool."
    async with running(size=SMALL) as pilot:
        await type_in(pilot, "&", "Get_Weather")
        assert "No message matches & Get_Weather." in drawn(pilot) and hint not in drawn(pilot)
        await press(pilot, "escape", "d")
        await type_in(pilot, "&", "Get_Weather")
        assert hint in drawn(pilot)
        await type_in(pilot, "&", "x")
        assert "No message matches & Get_Weatherx." in drawn(pilot) and "of this tool" not in drawn(pilot)
