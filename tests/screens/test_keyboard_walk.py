"""The keyboard is enough to reach every pane, tab, list, and dialog, and exactly one visible element has the focus."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path

import pytest
from textual.binding import Binding
from textual.pilot import Pilot
from textual.screen import Screen

from tests.support.running import TOUR, drawn, finished, press, running, view
from tests.support.walks import keys_of
from viewer.tui import dialogs, files, insight, main, merged
from viewer.tui.control.commands import COMMANDS
from viewer.tui.dialogs.file_end import FileEndScreen
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.marks import MarksScreen
from viewer.tui.dialogs.palette import PaletteScreen
from viewer.tui.dialogs.transcripts import TranscriptsScreen
from viewer.tui.dialogs.welcome import WelcomeScreen
from viewer.tui.files.keys import list_actions, merged_actions, transcript_actions
from viewer.tui.files.screen import FilesScreen
from viewer.tui.keys import ACTIONS
from viewer.tui.main.screen import MainScreen
from viewer.tui.merged.screen import MergedScreen
from viewer.tui.panes.panel import BottomTab, Panel

SIZES = [(80, 24), (100, 30), (120, 40), (160, 48)]
PACKAGES = (dialogs, files, insight, main, merged)


def screens() -> set[type[Screen]]:  # type: ignore[type-arg]
    """Return all screens of the app, from the modules of their packages."""
    modules = [
        importlib.import_module(f"{package.__name__}.{each.name}")
        for package in PACKAGES
        for each in pkgutil.iter_modules(package.__path__)
    ]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return {
        each for each in found if issubclass(each, Screen) and each.__module__.startswith("viewer.") and _is_own(each)
    }


def _is_own(screen: type[Screen]) -> bool:  # type: ignore[type-arg]
    """True for a screen that is used itself, not only as a base."""
    return not any(other.__base__ is screen or screen in other.__bases__ for other in screen.__subclasses__())


ELSEWHERE = {MainScreen, FilesScreen, TranscriptsScreen, MergedScreen, WelcomeScreen, FileEndScreen}
"""Screens that the app begins with, and the end of a big file, which has other tests."""
CALLS = 60


def check_focus(pilot: Pilot[int], after: str) -> Panel:
    """Check that exactly one visible pane has the focus and a heavy border, and that the level is in the title row."""
    main = view(pilot)
    assert drawn(pilot).splitlines()[0].rstrip().endswith(("[SAFE]", "[DEBUG]")), after
    frames = [panel for panel, frame in main.widgets.frames.items() if frame.display and frame.has_focus_mark]
    assert frames == [main.panes.focused], after
    frame = main.widgets.frames[frames[0]]
    assert frame.has_class("-bare") or frame.styles.border_top[0] == "heavy", after
    focused = pilot.app.focused
    assert focused is not None and frame in focused.ancestors_with_self, after
    others = [each for panel, each in main.widgets.frames.items() if panel is not frames[0] and each.display]
    assert all(each.styles.border_top[0] != "heavy" for each in others), after
    return frames[0]


async def walk(pilot: Pilot[int], *keys: str) -> Panel:
    """Press keys and check the focus after each."""
    panel = Panel.TRANSCRIPT
    for key in keys:
        await press(pilot, key)
        panel = check_focus(pilot, key)
    return panel


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_keyboard_reaches_every_pane_tab_list_and_dialog(size: tuple[int, int]) -> None:
    async with running(size=size) as pilot:
        main = view(pilot)
        await walk(pilot, "J", "m", "d", "}")
        for key, panel in (("T", Panel.OUTLINE), ("p", Panel.BOTTOM), ("i", Panel.INSPECTOR)):
            if main.panes.focused is not panel:
                assert await walk(pilot, key) is panel
            assert await walk(pilot, "g", "j", "k", "J", "K", "ctrl+d", "ctrl+u", "space", "b", "G") is panel
            shown = main.widgets.list_of(panel)
            assert shown is not None and shown.cursor == shown.count - 1 >= 0, key
            assert await walk(pilot, "escape") is Panel.TRANSCRIPT
        assert await walk(pilot, "2", "tab") is Panel.TRANSCRIPT
        reached = {await walk(pilot, "tab") for _ in main.panes.open_panes}
        assert reached == {*main.panes.open_panes} >= {Panel.TRANSCRIPT, Panel.BOTTOM, Panel.INSPECTOR, Panel.OUTLINE}
        assert {await walk(pilot, "shift+tab") for _ in main.panes.open_panes} == reached
        assert await walk(pilot, "4", "tab") is Panel.BOTTOM
        tabs = set()
        for _ in BottomTab:
            await walk(pilot, ">", "j", "k")
            tabs.add(main.panes.tab)
        assert tabs == {*BottomTab}
        assert await walk(pilot, "C", "G", "enter") is Panel.TRANSCRIPT
        if size[0] >= 100:
            assert await walk(pilot, "|") is Panel.SIDE
            assert await walk(pilot, "|") is Panel.TRANSCRIPT
        await walk(pilot, "escape", "d")
        overlays: dict[str, tuple[tuple[str, ...], type[Screen]]] = {  # type: ignore[type-arg]
            "?": (("G", "g", "/", "x"), HelpScreen),
            "ctrl+p": (("down", "up", "end", "home", "a"), PaletteScreen),
            "'": (("j", "k", "G"), MarksScreen),
        }
        for key, (inside, screen) in overlays.items():
            await press(pilot, key, *inside)
            assert type(pilot.app.screen) is screen
            assert drawn(pilot).splitlines()[0].rstrip().endswith("[SAFE]"), key
            await press(pilot, "escape", "escape")
            check_focus(pilot, f"{key} closed")
        visited: set[type[Screen]] = {each for _, each in overlays.values()}  # type: ignore[type-arg]
        await press(pilot, "d")
        for keys in (
            'ctrl+p "theme enter j',
            "S",
            "V",
            "L",
            "@",
            f': "diff~{TOUR} enter',
            ': "timing enter',
            ': "explain~E-TOOL-TIMEOUT enter',
        ):
            for key in keys_of(keys):
                await press(pilot, key)
            await finished(pilot)
            visited.add(type(pilot.app.screen))
            await press(pilot, "escape")
            check_focus(pilot, keys)
        assert visited == screens() - ELSEWHERE


@pytest.mark.slow
async def test_the_fortieth_of_sixty_calls_is_four_keys_away(tmp_path: Path) -> None:
    calls = "".join(
        f"<|start|>assistant to=functions.find call_id=c{number}<|channel|>commentary<|message|>"
        f"{json.dumps({'n': number})}<|call|>\n"
        f"<|start|>tool name=functions.find call_id=c{number} to=assistant<|channel|>commentary<|message|>{{}}<|end|>\n"
        for number in range(1, CALLS + 1)
    )
    file = tmp_path / "calls.ocml"
    file.write_text(f"version: 2.2\n<|start|>user<|message|>Find them<|end|>\n{calls}", "utf-8")
    async with running(file, size=(80, 24), keys=("d",)) as pilot:
        await press(pilot, "C", "4", "0", "G", "enter")
        assert check_focus(pilot, "enter") is Panel.TRANSCRIPT
        assert view(pilot).navigator.focused_number == 2 * 40
        assert "n=40" in drawn(pilot)


def test_no_key_has_two_actions_in_one_place() -> None:
    for name, actions in (
        ("main", ACTIONS),
        ("files", list_actions()),
        ("transcripts", transcript_actions()),
        ("merged", merged_actions()),
    ):
        keys = [key for action in actions for key in action.keys]
        assert sorted(keys) == sorted(set(keys)), name
        after = [key for action in actions for key in action.after_yank]
        assert sorted(after) == sorted(set(after)), name
    assert len(screens()) >= 13
    for screen in screens():
        bindings = [each for each in screen.__dict__.get("BINDINGS", ()) if isinstance(each, Binding)]
        keys = [key.strip() for each in bindings for key in each.key.split(",")]
        assert sorted(keys) == sorted(set(keys)), screen.__name__


async def test_every_action_and_every_command_is_in_the_palette_and_can_be_typed() -> None:
    async with running() as pilot:
        main = view(pilot)
        assert isinstance(main, MainScreen)
        entries = {entry.id for entry in main.commands.entries()}
        assert entries >= {action.id for action in ACTIONS}
        for command in COMMANDS:
            assert any(id == f":{command.name}" or id.startswith(f":{command.name} ") for id in entries) or (
                command.name in entries
            ), command.name
        for action in ACTIONS:
            typed = action.id.replace("_", "-")
            offered = [offer.text.strip() for offer in main.commands.offers(typed)]
            assert typed in offered or action.keys, action.id
