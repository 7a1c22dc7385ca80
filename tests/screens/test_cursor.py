"""One cursor: every jump moves it, it is always on the screen, the title names it, and a copy uses it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import pytest
from textual.pilot import Pilot

from tests.support.running import ROOMY, SMALL, press, running, said, settled, type_in, view
from viewer.document.rows import RowKind
from viewer.tui.app import ViewOptions
from viewer.tui.terminal.clipboard import What, copy_of

JUMPS = [
    *"jkJKgGeEwWnNoO%{}",
    "space", "b", "ctrl+d", "ctrl+u", "m", "u", "U", "l", "h", "z", "enter", "p", "T",
]  # fmt: skip
DEBUG_JUMPS = [*JUMPS, *"acts", "i", "C", "r"]


def conversation(turns: int = 14) -> str:
    """Return turns with reasoning, open calls, malformed arguments, long answers and stray text."""
    parts = ["version: 2.2\n\n"]
    for turn in range(1, turns + 1):
        parts.append(f"<|start|>user<|message|>Question {turn} about tea?<|end|>\n")
        parts.append("<|start|>assistant<|channel|>analysis<|message|>Perhaps green tea.<|end|>\n")
        if turn % 3 == 0:
            parts.append(
                f"<|start|>assistant to=functions.brew call_id=b{turn}<|channel|>commentary<|constrain|>json<|message|>"
                "{oops<|call|>\n"
            )
        if turn % 4 == 0:
            parts.append(f"text that no message holds {turn}\n")
        if turn % 5 == 0:
            parts.append("<|start|>assistant<|channel|>analysis<|message|>" + "Steam rises.\n" * 50 + "<|end|>\n")
        long = "A leaf unfolds slowly in hot water.\n" * (40 if turn % 4 == 1 else 2)
        parts.append(f"<|start|>assistant<|channel|>final<|message|>{long}Tea {turn} is ready.<|return|>\n")
    return "".join(parts)


@pytest.fixture
def tea(tmp_path: Path) -> Path:
    path = tmp_path / "tea.ocml"
    path.write_text(conversation(), "utf-8")
    return path


def assert_one_cursor(pilot: Pilot[int], after: str) -> None:
    main = view(pilot)
    pane, number = main.widgets.transcript, main.navigator.focused_number
    assert pane.blocks.maker is not None
    rows = pane.blocks.maker.rows
    if not len(rows):  # a filter without matches
        return
    row = (
        pane.cursor_row if pane.cursor.is_set else main.navigator.cursor.row(rows)
    )  # untouched: the first visible message
    assert row is not None, after
    seen = {row for row, line, block in pane.visible_lines() if line >= block.first and block.lines[line].parts}
    assert row in seen, (after, number, row, seen)
    place = main.widgets.status.facts.place
    title = int(place.split()[0]) if place else None
    if pane.cursor.is_set and not pane.shows_cursor:  # another pane shows it, and this one shows the nearest row
        assert main.widgets.behind.shows_cursor, after
    elif rows.kind(row) is RowKind.MESSAGE:
        assert rows.value(row) == number, after
        assert title == main.session.rows.label(row), after
    else:
        assert number == 0, after
        assert title is None or title <= rows.last_number(row), after


async def assert_copy_takes_the_cursor(pilot: Pilot[int], after: str) -> None:
    main = view(pilot)
    number = main.navigator.focused_number
    pilot.app.copy_to_clipboard("before")
    await press(pilot, "y", "y")
    if not number:
        assert (said(pilot), pilot.app.clipboard) == ("Nothing to copy here.", "before"), after
        return
    expected = copy_of(What.TEXT, main.session.projection, number, number)
    assert pilot.app.clipboard == ("before" if isinstance(expected, str) else expected.text), after


@pytest.mark.share(test=9)
@pytest.mark.parametrize("size", [ROOMY, SMALL])
@pytest.mark.parametrize("debug", [False, True])
async def test_the_cursor_is_on_the_screen_after_every_jump(tea: Path, size: tuple[int, int], debug: bool) -> None:
    chance = Random(f"{size} {debug}")
    async with running(tea, size=size, keys=["d"] if debug else []) as pilot:
        await type_in(pilot, "/", "tea")
        done = ""
        for step in range(40):
            kind = chance.choice(["key"] * 12 + ["goto", "click", "wheel", "map"])
            if kind == "key":
                key = chance.choice(DEBUG_JUMPS if debug else JUMPS)
                await press(pilot, key)
            elif kind == "goto":
                key = chance.choice(["1", "20", "t3", "50%", "100%"])
                await type_in(pilot, ":", key)
            else:
                main = view(pilot)
                region = main.widgets.transcript.region
                column = region.right - 1 if kind == "map" else region.x + 4
                y = region.y + chance.randrange(region.height)
                key = f"{kind} {y}"
                if kind == "wheel":
                    await pilot._post_mouse_events(
                        [_wheel(chance)], widget=main.widgets.transcript, offset=(3, 3), times=1
                    )
                else:
                    await pilot.click(offset=(column, y))
                await press(pilot)
            done += f" {key}"
            assert_one_cursor(pilot, done)
            if step % 10 == 0:
                await assert_copy_takes_the_cursor(pilot, done)


WALK = [
    *JUMPS, *"d|dacts", "C", "i", "r", "f", "x", "escape", "F", "3", "2", "tab", "o", "left_square_bracket",
]  # fmt: skip
GOTO = ["1", "20", "t3", "50%", "100%", "s2", "999", "nonsense"]
FILTERS = ["green", "Tea", "nothing like this", "role:user", "role:tool", "["]


@pytest.mark.share(test=3)
@pytest.mark.parametrize("size", [ROOMY, SMALL])
@pytest.mark.parametrize("seed", range(1))
@pytest.mark.parametrize("follows", [False, True])
async def test_the_cursor_is_on_the_screen_after_any_actions(
    tmp_path: Path, size: tuple[int, int], seed: int, follows: bool
) -> None:
    chance = Random(f"{size} {seed} {follows}")
    path = tmp_path / "tea.ocml"
    both = conversation(6) + "\n" + conversation(5)
    path.write_text(both[: len(both) // 3] if follows else both, "utf-8")
    written = path.stat().st_size if follows else len(both)
    options = ViewOptions(follow=True) if follows else None
    async with running(path, size=size, options=options) as pilot:
        done = ""
        for step in range(40):
            kind = chance.choice(["key"] * 14 + ["goto", "filter", "search", "grow", "grow", *CLICKS])
            if kind == "key":
                action = chance.choice(WALK)
                await press(pilot, action)
            elif kind in PROMPTS:
                prefix, texts = PROMPTS[kind]
                action = chance.choice(texts)
                await type_in(pilot, prefix, action)
                action = f"{prefix}({action})"
            elif kind == "grow":
                action = "grow"
                more = both[written : written + chance.randrange(1, 400)]
                written += len(more)
                with path.open("a") as file:
                    file.write(more)
                await _until_read(pilot, path)
            else:
                action = await _click(pilot, kind, chance)
            done += f" {action}"
            if view(pilot).widgets.prompt.is_asking:
                await press(pilot, "escape")
                done += " escape"
            assert_one_cursor(pilot, done)
            if step % 4 == 0:
                await assert_copy_takes_the_cursor(pilot, done)


CLICKS = ["transcript", "map", "outline", "problems", "calls", "timeline", "wheel"]
PROMPTS = {
    "goto": ("colon", GOTO),
    "filter": ("ampersand", FILTERS),
    "search": ("slash", ["tea", "Steam", "oops", "nothing like this"]),
}


async def _until_read(pilot: Pilot[int], path: Path) -> None:
    """Wait until everything in a followed file is read and drawn."""
    for _ in range(300):  # while the view is frozen, nothing is read
        main = view(pilot)
        if not main.follow.is_live or main.session.document.size >= path.stat().st_size:
            break
        await asyncio.sleep(0.001)
    await settled(pilot)


async def _click(pilot: Pilot[int], kind: str, chance: Random) -> str:
    main = view(pilot)
    if kind == "wheel":
        await pilot._post_mouse_events([_wheel(chance)], widget=main.widgets.transcript, offset=(3, 3), times=1)
        await press(pilot)
        return kind
    found = [main.widgets.transcript] if kind == "map" else [*main.query(f"#{kind}")]
    if not found:  # a pane that has not been opened yet
        return f"no {kind}"
    widget = found[0]
    region = widget.region
    if not widget.display or not region.width or not region.height:
        return f"no {kind}"
    column = region.right - 1 if kind == "map" else region.x + chance.randrange(max(1, region.width - 1))
    y = region.y + chance.randrange(region.height)
    await pilot.click(offset=(column, y))
    await press(pilot)
    return f"{kind}({column},{y})"


def _wheel(chance: Random) -> type:
    from textual.events import MouseScrollDown, MouseScrollUp

    return chance.choice([MouseScrollDown, MouseScrollUp])


async def test_a_problem_of_a_hidden_message_takes_the_cursor_to_its_row(tea: Path) -> None:
    async with running(tea, size=SMALL, keys=["e"]) as pilot:
        first = view(pilot).navigator.cursor_row
        assert view(pilot).session.rows.kind(first or 0) is RowKind.HIDDEN
        await press(pilot, "g", "e")
        assert view(pilot).navigator.cursor_row == first
        await press(pilot, "J")
        rows = view(pilot).session.rows
        assert view(pilot).navigator.focused_number == rows.value((first or 0) + 1)


@pytest.mark.slow
async def test_the_cursor_returns_to_its_message_when_the_view_changes(tea: Path) -> None:
    async with running(tea, size=ROOMY) as pilot:
        await type_in(pilot, ":", "t4")
        number = view(pilot).navigator.focused_number
        await press(pilot, "d", "a", "t", "d")
        assert view(pilot).navigator.focused_number == number
        assert_one_cursor(pilot, "d a t d")


class TestCounts:
    @pytest.mark.slow
    async def test_lines_and_messages(self, tea: Path) -> None:
        async with running(tea, size=SMALL) as pilot:
            await press(pilot, "5", "j")
            many = view(pilot).widgets.transcript.scroller.row, view(pilot).widgets.transcript.scroller.line
            await press(pilot, "g", *"jjjjj")
            assert many == (view(pilot).widgets.transcript.scroller.row, view(pilot).widgets.transcript.scroller.line)
            await press(pilot, "g", "3", "J")
            by_count = view(pilot).navigator.focused_number
            await press(pilot, "g", *"JJJ")
            assert view(pilot).navigator.focused_number == by_count

    @pytest.mark.share(quick=8, test=3)
    @pytest.mark.parametrize("key", ["}", "e", "w", "n", "ctrl+d", "space"])
    async def test_every_jump_takes_a_count(self, tea: Path, key: str) -> None:
        async with running(tea, size=SMALL, keys=["d"]) as pilot:
            await type_in(pilot, "/", "ready")
            await press(pilot, "g", "2", key)
            by_count = view(pilot).navigator.cursor_row
            await press(pilot, "g", key, key)
            assert view(pilot).navigator.cursor_row == by_count

    @pytest.mark.slow
    async def test_a_count_applies_only_to_the_next_key(self, tea: Path) -> None:
        async with running(tea, size=SMALL) as pilot:
            await press(pilot, "5", "m", "j")
            assert view(pilot).widgets.transcript.scroller.line == 1

    @pytest.mark.slow
    async def test_a_huge_count_stops_at_the_end(self, tea: Path) -> None:
        async with running(tea, size=SMALL, keys=[*"99999999999", "J"]) as pilot:
            rows = view(pilot).session.rows
            assert view(pilot).navigator.focused_number == rows.value(len(rows) - 1)


class TestTheWayRound:
    @pytest.mark.share(quick=0, test=2)
    @pytest.mark.parametrize("key", ["e", "w", "n", "u"])
    async def test_is_said(self, tea: Path, key: str) -> None:
        async with running(tea, size=SMALL, keys=["d"]) as pilot:
            await type_in(pilot, "/", "ready")
            await press(pilot, "m", "J", "m", "g")
            before = -1
            for _ in range(60):
                await press(pilot, key)
                row = view(pilot).navigator.cursor_row or 0
                if row <= before:
                    break
                assert said(pilot) != "Continued from the top."
                before = row
            assert said(pilot) == "Continued from the top."
            await press(pilot, {"e": "E", "w": "W", "n": "N", "u": "U"}[key])
            assert said(pilot) == "Continued from the bottom."


@pytest.mark.slow
async def test_a_call_of_the_brief_view_takes_the_cursor_and_keeps_it_in_the_debug_view() -> None:
    async with running(size=SMALL, keys=["D", "e"]) as pilot:
        navigator = view(pilot).navigator
        assert (navigator.cursor.number, navigator.cursor.kind) == (12, RowKind.CALL)
        for key, number in (("J", 15), ("K", 13)):
            await press(pilot, key)
            assert (navigator.cursor.number, navigator.cursor.kind) == (number, RowKind.CALL)
        await press(pilot, "y")
        assert said(pilot) == "Nothing to copy here."
        await press(pilot, "enter")
        assert said(pilot) == "debug view only: press d"
        await press(pilot, "d")
        assert navigator.focused_number == 13
        await press(pilot, "D")
        assert (navigator.cursor.number, navigator.cursor.kind) == (13, RowKind.CALL)
        await press(pilot, "D")
        assert navigator.focused_number == 16
