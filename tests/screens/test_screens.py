"""Golden screens: every state of the screens at four sizes. OCML_UPDATE=1 updates them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zlib import crc32

import pytest
from textual.pilot import Pilot

from tests.support.app_following import Live
from tests.support.running import drawn, finished, press, running, strips, until, view
from tests.support.walks import SIZES, WALKS, Step, Walk, held, keys_of, write_files, write_sessions
from viewer.render.sanitize import SafeText
from viewer.render.width import cells
from viewer.tui.settings.state_file import StateFile

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
HEAD = "━━━━ "
"""The beginning of the line above each screen of a file."""
DIALOGS = ("Commands", "Help", "Marks", "Themes", "Welcome to ocmlview")
THUMB = "▁▂▃▄▅▆▇█"
LEVELS = ("[SAFE]", "[BRIEF]", "[DEBUG]")


def _marks(name: str, size: tuple[int, int]) -> list[pytest.MarkDecorator]:
    """Return the marks of a case. `make test` draws every state at one size, and one in twelve at another one."""
    if name == "safe" and size == SIZES[0]:
        return []
    is_rare = size in SIZES[2:] or (size == SIZES[1] and (WALKS[name].is_costly or crc32(name.encode()) % 12))
    return [pytest.mark.lab if is_rare else pytest.mark.slow]


CASES = {f"{name}-{width}x{height}": (name, (width, height)) for name in WALKS for width, height in WALKS[name].sizes}


@pytest.mark.parametrize("case", [pytest.param(case, marks=_marks(*CASES[case])) for case in CASES])
async def test_each_state_equals_its_approved_screen(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, size = CASES[case]
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.chdir(ROOT if WALKS[name].file.startswith("samples") else tmp_path)
    write_files(tmp_path)
    if WALKS[name].sessions:
        write_sessions(tmp_path, monkeypatch)
    text = await walked(WALKS[name], size, tmp_path)
    golden = GOLDEN / f"{case}.txt"
    if os.environ.get("OCML_UPDATE"):
        GOLDEN.mkdir(exist_ok=True)
        golden.write_text(text, "utf-8")
    assert text == golden.read_text("utf-8")


async def walked(walk: Walk, size: tuple[int, int], folder: Path) -> str:
    """Return the screens of a walk, one after another."""
    state = StateFile(folder / "state.json") if walk.welcomes else None
    files = [] if walk.sessions else [walk.file, *walk.more]
    screens: list[str] = []
    before: list[str] = []
    with held(walk):
        async with running(*files, size=size, options=walk.options, state=state, tour=not walk.sessions) as pilot:
            if walk.held is not None:
                says = walk.held.value
                await until(lambda: says in drawn(pilot))
                await until(lambda: not view(pilot)._dirty_widgets and not view(pilot)._layout_required)
            if walk.welcomes:  # the file below the card is read after the first frame
                await until(lambda: not view(pilot).follow.is_busy and "checking" not in drawn(pilot))
                await until(lambda: not view(pilot)._dirty_widgets)
                await press(pilot)
            for name, step in walk.steps.items():
                await _take(pilot, step, folder / walk.file)
                keys = step if isinstance(step, str) else step.keys
                shown = full_lines(pilot)
                if not walk.has_bar:
                    shown = [line.rstrip(THUMB) if cells(SafeText(line)) == size[0] else line for line in shown]
                    shown = [line.rstrip() for line in shown]
                screens += [f"{HEAD}{name}: {keys}".rstrip(), *elided(shown, before)]
                before = shown
    return "\n".join(screens) + "\n"


async def _take(pilot: Pilot[int], step: str | Step, file: Path) -> None:
    """Press the keys of a step, then change the file."""
    for key in keys_of(step):
        await press(pilot, key)
        await finished(pilot)
    if isinstance(step, Step) and step.then:
        await Live(pilot, file).write(step.then)
    if isinstance(step, Step) and step.removes:
        file.unlink()
        await until(lambda: "source lost" in drawn(pilot))


def full_lines(pilot: Pilot[int]) -> list[str]:
    """Return the lines of the screen without trailing spaces, after checking that each has the width of the terminal:
    nothing is cut off, and nothing shows through."""
    lines = [strip.text for strip in strips(pilot)]
    for line in lines:
        assert cells(SafeText(line)) == pilot.app.size.width, line
    return [line.rstrip() for line in lines]


def elided(screen: list[str], before: list[str]) -> Iterator[str]:
    """Yield the lines. A run of more than two lines that equal those of the previous screen, or that repeat one line,
    is shortened to a count."""
    at = 0
    while at < len(screen):
        same = _count(screen[at:], before[at:])
        again = _count(screen[at:], screen[at : at + 1] * len(screen))
        if same > 2:
            yield f"⋮ {same} as before"
        elif again > 2:
            yield from [screen[at], f"⋮ {again - 1} more"]
        else:
            yield screen[at]
        at += same if same > 2 else again if again > 2 else 1


def _count(lines: list[str], others: list[str]) -> int:
    """Return how many lines at the beginning are equal."""
    pairs = enumerate(zip(lines, others, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(lines), len(others)))


@cache
def screens_of(case: str) -> dict[str, list[str]]:
    """Return the lines of each screen in an approved file, without elisions."""
    screens: dict[str, list[str]] = {}
    lines: list[str] = []
    before: list[str] = []
    for line in (GOLDEN / f"{case}.txt").read_text("utf-8").splitlines():
        if line.startswith(HEAD):
            lines, before = screens.setdefault(line.removeprefix(HEAD).partition(":")[0], []), lines
        elif line.startswith("⋮ "):
            _, count, which = line.split(maxsplit=2)
            lines += [lines[-1]] * int(count) if which == "more" else before[len(lines) : len(lines) + int(count)]
        else:
            lines.append(line)
    return screens


def test_approved_screens_have_the_size_in_their_name_and_none_is_unused() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(CASES)
    for case, (name, (width, height)) in CASES.items():
        assert list(screens_of(case)) == list(WALKS[name].steps)
        for state, lines in screens_of(case).items():
            assert len(lines) == height, (case, state)
            assert max(cells(SafeText(line)) for line in lines) <= width, (case, state)


def test_the_level_is_in_the_last_cells_of_every_screen() -> None:
    for case, (_, (width, _)) in CASES.items():
        for state, (title, *_) in screens_of(case).items():
            assert title.endswith(LEVELS), (case, state)
            assert cells(SafeText(title)) == width - 1, (case, state)


def test_only_one_pane_has_the_focus_and_a_dialog_above_it() -> None:
    for case in CASES:
        for state, lines in screens_of(case).items():
            text = "\n".join(lines)
            assert text.count("┏") <= 1 + any(f"▸{dialog} " in text for dialog in DIALOGS), (case, state)


def test_safe_screens_hold_no_thought_and_no_tool() -> None:
    for case in CASES:
        for state, (title, *lines) in screens_of(case).items():
            if not title.endswith("[DEBUG]"):
                tools = [] if title.endswith("[BRIEF]") else ["get_weather", "find_tables"]
                text = "\n".join(lines)
                for hidden in ("All of this is a thought", "Two questions in one", "wx1", "86:134", *tools):
                    assert hidden not in text, (case, state)
