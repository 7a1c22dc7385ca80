"""Every terminal size, and every change between sizes, in both views and with all panes open."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from pathlib import Path
from random import Random

import pytest
from textual.pilot import Pilot

from tests.support.running import TOUR, drawn, finished, press, running, settled, strips, type_in, until, view
from tests.support.walks import WALKS, held, keys_of, write_files, write_sessions
from viewer.render.sanitize import SafeText
from viewer.render.width import cells

ROOT = Path(__file__).parents[2]
SIZES = [(20, 5), (30, 8), (40, 12), (79, 24), (80, 24), (99, 30), (100, 30), (120, 40), (200, 60), (500, 200)]
TINY = [(1, 1), (2, 2), (5, 3), (10, 1), (1, 30)]
PANES = {
    "safe": ["T", "p"],
    "brief": ["D", "T", "p"],
    "debug": ["d", "s", "p", "C", "i", "r"],
    "side panes": ["d", "vertical_line", "i", "p"],
}
QUICK = [(120, 40), (20, 5), (200, 60), (99, 30), (100, 30), (30, 8), (79, 24), (250, 80), (1, 1), (80, 24)]


async def resized(pilot: Pilot[int], size: tuple[int, int]) -> None:
    await pilot.resize_terminal(*size)
    await until(lambda: len(drawn(pilot).splitlines()) == size[1])
    await settled(pilot)


@pytest.mark.share(test=8)
@pytest.mark.parametrize("panes", PANES)
@pytest.mark.parametrize("size", [(20, 5), (99, 30), (1, 1)])
async def test_the_app_opens_and_works_in_any_size(size: tuple[int, int], panes: str) -> None:
    async with running(size=size) as pilot:
        await press(
            pilot, *PANES[panes], "J", "G", "space", "k", "T", "T", "m", "e", "y", "y", "question_mark", "escape"
        )
        await type_in(pilot, "/", "osaka")
        await press(pilot, "n", "escape")
        assert_it_fits(pilot, size)


@pytest.mark.share(test=36)
@pytest.mark.parametrize("panes", PANES)
@pytest.mark.parametrize("size", [*SIZES, *TINY])
async def test_the_app_opens_in_every_size(size: tuple[int, int], panes: str) -> None:
    async with running(size=size) as pilot:
        await press(pilot, *PANES[panes], "J", "G", "g", "ctrl+p", "escape", "question_mark", "G", "escape")
        assert_it_fits(pilot, size)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("panes", PANES)
async def test_a_resize_leaves_the_focus_on_its_message(panes: str) -> None:
    async with running(keys=PANES[panes]) as pilot:
        await type_in(pilot, ":", "16")
        for size in QUICK:
            await resized(pilot, size)
            assert view(pilot).navigator.focused_number == 16, size
            assert_it_fits(pilot, size)
        assert view(pilot).widgets.transcript.line_of_cursor is not None


@pytest.mark.lab
@pytest.mark.parametrize("panes", PANES)
async def test_every_resize_to_every_size(panes: str) -> None:
    async with running(keys=PANES[panes]) as pilot:
        await type_in(pilot, ":", "16")
        for before, after in list(permutations([*SIZES, (1, 1)], 2))[::3]:
            for size in (before, after):
                await resized(pilot, size)
            assert view(pilot).navigator.focused_number == 16, (before, after)
            assert_it_fits(pilot, after)
            if after[0] >= 30 and after[1] >= 24:
                assert view(pilot).widgets.transcript.line_of_cursor is not None, (before, after)


@pytest.mark.lab
async def test_views_and_panes_can_change_during_a_resize() -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "16")
        for size, keys in zip(QUICK, ["d", "T", "|", "i", "|", "d", "T", "d", "p", "d"], strict=True):
            await pilot.resize_terminal(*size)
            await press(pilot, keys)
            assert view(pilot).navigator.focused_number == 16, (size, keys)


@pytest.mark.lab
@pytest.mark.parametrize("name", WALKS)
async def test_each_state_survives_every_width(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From 40x10 to 200x50 in steps of one column: nothing is cut off, and the level and focus do not change."""
    walk = WALKS[name]
    monkeypatch.chdir(ROOT if walk.file.startswith("samples") else tmp_path)
    write_files(tmp_path)
    if walk.sessions:
        write_sessions(tmp_path, monkeypatch)
    files = [] if walk.sessions else [walk.file, *walk.more]
    with held(walk):
        async with running(*files, size=(120, 40), options=walk.options, tour=not walk.sessions) as pilot:
            for step in walk.steps.values():
                for key in keys_of(step):
                    await press(pilot, key)
                    await finished(pilot)
                screen, focused = pilot.app.screen, pilot.app.focused
                for width in range(40, 201):
                    size = (width, 10 + (width - 40) // 4)
                    await pilot.resize_terminal(*size)
                    await until(partial(_has_size, pilot, size))
                    await settled(pilot)
                    lines = [strip.text for strip in strips(pilot)]
                    assert [cells(SafeText(line)) for line in lines] == [width] * size[1], (step, size)
                    assert lines[0].rstrip().endswith(("[SAFE]", "[BRIEF]", "[DEBUG]")), (step, size, lines[0])
                    assert (pilot.app.screen, pilot.app.focused) == (screen, focused), (step, size)
                await pilot.resize_terminal(120, 40)


SECRET = "SECRET_"
HIDDEN = "version: 2.2\n<|start|>system<|message|>SECRET_SYSTEM<|end|>\n" + "".join(
    f"<|start|>user<|message|>Question {turn}: {'why ' * (turn % 5 * 30)}?<|end|>\n"
    f"<|start|>assistant<|channel|>analysis<|message|>SECRET_THOUGHT {'so ' * 40}<|end|>\n"
    f"<|start|>assistant to=functions.find call_id=c{turn}<|channel|>commentary<|constrain|>json<|message|>"
    f'{{"q":"SECRET_{turn}"}}<|call|>\n'
    f"<|start|>tool name=functions.find call_id=c{turn} to=assistant<|channel|>commentary<|message|>"
    f'{{"ok":{"true" if turn % 3 else "false"},"found":["SECRET_FOUND"]}}<|end|>\n'
    f"<|start|>assistant<|channel|>final<|message|># Answer {turn}\n\n{'A line of it.' * (turn % 4 * 60)}\n\n"
    "| a | b |\n|---|---|\n| 1 | 2 |\n<|end|>\n"
    for turn in range(9)
)
PRESSED = (
    *("J", "J", "J", "K", "}", "{", "space", "b", "G", "g", "j", "k", "ctrl+d", "ctrl+u", "ctrl+o", "ctrl+n"),
    *("d", "D", "D", "a", "c", "t", "s", "enter", "h", "l", "z", "*", "e", "w", "o", "u", "m", "M", "minus", ";", "$"),
    *("T", "i", "p", "C", "H", "|", "r", "less_than_sign", "greater_than_sign", "tab", "escape", "escape"),
    *("?", "escape", "ctrl+p", "escape", "apostrophe", "escape"),
)


async def walk_through_sizes(file: Path, seed: int, steps: int) -> None:
    """Press random keys between random resizes. Nothing is cut off or revealed, the cursor keeps its message and row,
    and the screen equals one that is drawn from scratch."""
    chance = Random(seed)
    done: list[object] = [(120, 40)]
    async with running(file) as pilot:
        for _ in range(steps):
            key = chance.choice(PRESSED)
            done.append(key)
            await press(pilot, key)
            pane = view(pilot).widgets.transcript
            size, before = (chance.randrange(20, 201), chance.randrange(5, 61)), pane.cursor
            done.append(size)
            await resized(pilot, size)
            await until(partial(_has_size, pilot, size))
            lines = [strip.text for strip in strips(pilot)]
            assert [cells(SafeText(line)) for line in lines] == [size[0]] * size[1], done
            assert SECRET not in "".join(lines) or view(pilot).session.display.debug, done
            assert pane.cursor == before, done
            if before.is_set and pane.display and pane.view_height > 2 and pilot.app.screen is view(pilot):
                assert pane.cursor_row in pane.rows_on_screen, done
                pane.redraw()
                assert [strip.text for strip in strips(pilot)] == lines, done


@pytest.mark.slow
async def test_a_random_walk_survives_random_sizes(tmp_path: Path) -> None:
    (tmp_path / "hidden.ocml").write_text(HIDDEN, "utf-8")
    await walk_through_sizes(tmp_path / "hidden.ocml", 1, 3)


@pytest.mark.lab
@pytest.mark.parametrize("seed", range(60))
async def test_random_walks_survive_random_sizes(seed: int, tmp_path: Path) -> None:
    (tmp_path / "hidden.ocml").write_text(HIDDEN, "utf-8")
    await walk_through_sizes(tmp_path / "hidden.ocml" if seed % 2 else Path(TOUR), seed, 40)


def _has_size(pilot: Pilot[int], size: tuple[int, int]) -> bool:
    return pilot.app.screen.size == size


def assert_it_fits(pilot: Pilot[int], size: tuple[int, int]) -> None:
    lines = drawn(pilot).splitlines()
    assert len(lines) == size[1]
    assert max(cells(SafeText(line)) for line in lines) <= size[0]
