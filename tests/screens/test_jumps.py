"""Jump list: back and forward through the positions before each jump. Nothing from the debug view is kept."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from tests.support.running import SMALL, TOUR, drawn, finished, press, running, said, type_in, view
from viewer.document.rows import RowKind
from viewer.tui.cursor import Cursor
from viewer.tui.jump_list import MOST, JumpList, JumpPlace
from viewer.tui.keys import ACTIONS
from viewer.tui.main.navigator import Standing

SAMPLES = Path(TOUR).parent / "valid"
JUMPED = (TOUR, SAMPLES / "claude-code" / "sub-agent.jsonl")
"""The files of the random jumps."""


def place(number: int, level: str = "safe") -> JumpPlace:
    return JumpPlace(Cursor(number), Cursor(number), 0, level)


def test_back_and_forward() -> None:
    jumps = JumpList()
    assert jumps.back(place(9)) is None
    jumps.leave(place(1))
    jumps.leave(place(2))
    assert jumps.back(place(3)) == place(2)
    assert jumps.back(place(2)) == place(1)
    assert jumps.back(place(1)) is None
    assert jumps.forward(place(1)) == place(2)
    assert jumps.forward(place(2)) == place(3)
    assert jumps.forward(place(3)) is None
    jumps.back(place(3))
    jumps.leave(place(2))
    assert jumps.forward(place(7)) is None, "a new jump forgets the places ahead"


def test_the_list_is_bounded_and_forgets_a_level() -> None:
    jumps = JumpList()
    for number in range(3 * MOST):
        jumps.leave(place(number, "debug" if number % 2 else "safe"))
    found = []
    while (back := jumps.back(place(0))) is not None:
        found.append(back)
    assert len(found) == MOST
    jumps.forget("debug")
    jumps.leave(place(5))
    assert jumps.back(place(6)) == place(5)
    assert {each.level for each in [jumps.back(place(5))] if each} <= {"safe"}


@pytest.mark.slow
async def test_each_jump_is_undone_exactly() -> None:
    async with running(keys=["d"]) as pilot:
        navigator = view(pilot).navigator
        before: list[Standing] = []
        for keys in (("e",), ("}",), ("G",), ("w",), ("g",), ("percent_sign",), ("2", "e")):
            standing = navigator.standing
            await press(pilot, *keys)
            if navigator.standing != standing and (not before or before[-1] != standing):
                before.append(standing)
        for standing in reversed(before):
            await press(pilot, "ctrl+o")
            assert navigator.standing == standing


@pytest.mark.slow
async def test_the_places_of_the_debug_view_are_forgotten_with_it() -> None:
    async with running(keys=["d"]) as pilot:
        await type_in(pilot, ":", "12")
        await press(pilot, "e", "d", "ctrl+o")
        assert said(pilot) == "No earlier position."


@pytest.mark.slow
async def test_every_place_and_action_works_where_a_filter_matches_nothing() -> None:
    leaving = {"leave", "suspend", "copy_or_quit", "edit", "debug", "brief", "filter", "clear"}
    async with running(size=SMALL) as pilot:
        main = view(pilot)
        for level in ("", "d"):
            await press(pilot, *level)
            await type_in(pilot, "&", "is:marked")
            assert len(view(pilot).session.rows) == 0
            for place in ("3", "t2", "x1", "50%", "L5", "B9", "2>1"):
                await type_in(pilot, ":", place)
            assert len(view(pilot).session.rows) == 0
        for action in ACTIONS:
            if action.id not in leaving and action.keys:
                await press(pilot, "2", action.keys[0])
                if pilot.app.screen is not main:
                    await finished(pilot)
                if pilot.app.screen is not main or main.widgets.prompt.is_asking:
                    await press(pilot, "escape")
                if not view(pilot).filter.is_active:
                    await type_in(pilot, "&", "is:marked")
                assert len(view(pilot).session.rows) == 0, action.id


@pytest.mark.lab
@pytest.mark.parametrize("level", ["safe", "debug"])
@pytest.mark.parametrize("seed", range(5))
async def test_the_cursor_is_on_the_screen_after_every_jump_and_each_jump_is_undone(seed: int, level: str) -> None:
    """1,000 random jumps per case; a tenth of the messages is copied, and a third of the jumps undone."""
    chance = Random(f"{seed} {level}")
    keys = [
        *"eEwWnNuU}{",
        "right_parenthesis",
        "left_parenthesis",
        "g",
        "G",
        "percent_sign",
        "o",
        "O",
        "count",
        "place",
    ]
    file = JUMPED[seed % len(JUMPED)]
    async with running(file, size=chance.choice((SMALL, (120, 40))), keys=["d"] * (level == "debug")) as pilot:
        main, navigator, state = view(pilot), view(pilot).navigator, None
        await press(pilot, "J", "m", "G", "m")
        if searches := seed in (0, 3):  # the status row then counts matches instead of messages
            await type_in(pilot, "/", "the")
        for step in range(1000):
            before, key = navigator.standing, chance.choice(keys)
            last = main.session.rows.value(max(0, len(main.session.rows) - 1)) or 1
            if key == "count":
                await press(pilot, *str(chance.randint(1, last)), "G")
            elif key == "place":
                await type_in(pilot, ":", chance.choice((str(chance.randint(1, last)), f"{chance.randint(0, 100)}%")))
            else:
                await press(pilot, key)
            state = (seed, level, step, key)
            number = navigator.focused_number
            assert main.widgets.transcript.line_of_cursor is not None, state
            shown = re.search(r" ([\d,]+) of [\d,]+\s*$", drawn(pilot).splitlines()[-2])
            assert searches or not (shown and number) or int(shown[1].replace(",", "")) == number, state
            if step % 10 == 0 and main.session.rows.kind(navigator.cursor_row or 0) is RowKind.MESSAGE:
                await press(pilot, *("y" * (1 + (level == "debug"))))
                assert f"#{number} " in said(pilot) or "Nothing to copy" in said(pilot), (state, said(pilot))
            if navigator.standing != before and chance.random() < 0.3:
                after = navigator.standing
                await press(pilot, "ctrl+o")
                assert navigator.standing == before, state
                await press(pilot, "ctrl+n")
                assert navigator.standing == after, state


async def test_a_typed_number_of_a_hidden_message_goes_to_its_hidden_line() -> None:
    async with running(size=SMALL) as pilot:
        for key in ("", "D"):
            await press(pilot, *key)
            await type_in(pilot, ":", "4")
            assert view(pilot).navigator.cursor == Cursor(4, RowKind.HIDDEN)
            assert " 4 of 33" in drawn(pilot)
