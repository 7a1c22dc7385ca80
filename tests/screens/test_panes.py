"""Panes and focus: the keyboard reaches every pane, tab, and row, and exactly one pane has the focus."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.message_pump import MessagePump
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from tests.support.running import TOUR, drawn, press, running, said, settled, type_in, until, view
from viewer.render.blocks.sides import Maker
from viewer.tui.keys import ACTIONS
from viewer.tui.main import screen_host
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.transcript.transcript import Transcript

SIZES = [(80, 24), (100, 30), (120, 40), (160, 48)]
MANY_CALLS = "version: 2.2\n<|start|>user<|message|>Go<|end|>\n" + "".join(
    f"<|start|>assistant to=functions.f call_id=c{number}<|channel|>commentary<|message|>{{}}<|call|>\n"
    f"<|start|>tool name=functions.f call_id=c{number} to=assistant<|channel|>commentary<|message|>"
    '{"ok":true}<|end|>\n'
    for number in range(1, 61)
)


def assert_one_focus(pilot: Pilot[int], after: str) -> None:
    main = view(pilot)
    marked = [panel for panel, frame in main.widgets.frames.items() if frame.display and frame.has_focus_mark]
    assert marked == [main.panes.focused], after
    assert main.focused is main.widgets.target_of(main.panes.focused), after
    frame = main.widgets.frames[main.panes.focused]
    if not frame.has_class("-bare"):
        assert f"▸{frame.panel.value} " in drawn(pilot), after
        assert "┏━" in drawn(pilot), after


@pytest.mark.lab
@pytest.mark.parametrize("size", SIZES)
async def test_the_keyboard_reaches_every_pane_tab_and_row(size: tuple[int, int]) -> None:
    async with running(size=size, keys=["d"]) as pilot:
        main = view(pilot)
        await type_in(pilot, ":", "12")
        for key, panel in (("T", Panel.OUTLINE), ("i", Panel.INSPECTOR), ("p", Panel.BOTTOM), ("C", Panel.BOTTOM),
                           ("H", Panel.BOTTOM)):  # fmt: skip
            await press(pilot, "escape", key)
            if main.panes.focused is not panel:
                await press(pilot, key)
            assert main.panes.focused is panel, key
            assert_one_focus(pilot, key)
            shown = main.widgets.list_of(panel)
            assert shown is not None and shown.count, key
            for step in ("g", "j", "k", "J", "K", "ctrl+d", "ctrl+u", "space", "b", "G"):
                await press(pilot, step)
                assert_one_focus(pilot, f"{key} {step}")
                assert main.panes.focused is panel, f"{key} {step}"
            assert shown.cursor == shown.count - 1, key
        for tab in (BottomTab.PROBLEMS, BottomTab.CALLS, BottomTab.TIMELINE):
            await press(pilot, ">")
            assert main.panes.tab is tab
            assert_one_focus(pilot, tab.value)


@pytest.mark.slow
async def test_tab_cycles_and_a_count_selects_a_pane() -> None:
    async with running(size=(160, 48), keys=["d", "p"]) as pilot:
        main = view(pilot)
        seen = []
        for _ in range(4):
            await press(pilot, "tab")
            seen.append(main.panes.focused)
        assert seen == [Panel.OUTLINE, Panel.TRANSCRIPT, Panel.INSPECTOR, Panel.BOTTOM]
        for keys in (("shift+tab",), ("1", "tab")):
            await press(pilot, *keys)
            seen.append(main.panes.focused)
        assert seen[-2:] == [Panel.INSPECTOR, Panel.OUTLINE]
        await press(pilot, "5", "tab")
        assert (said(pilot), main.panes.focused) == ("Pane 5 is not open.", Panel.OUTLINE)


@pytest.mark.slow
async def test_a_key_mounts_focuses_and_closes_its_pane(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_host, "IDLE_SECONDS", 1000)
    async with running() as pilot:
        main = view(pilot)
        assert [panel for panel, frame in main.widgets.frames.items() if frame.is_attached] == [Panel.TRANSCRIPT]
        assert not main.query(Input)
        await press(pilot, "p")
        assert main.panes.focused is Panel.BOTTOM
        await press(pilot, "escape")
        assert (main.panes.focused, main.widgets.bottom.display) == (Panel.TRANSCRIPT, True)
        await press(pilot, "H")
        assert (main.panes.focused, main.panes.tab) == (Panel.BOTTOM, BottomTab.TIMELINE)
        await press(pilot, "p")
        assert (main.panes.focused, main.panes.tab) == (Panel.BOTTOM, BottomTab.PROBLEMS)
        await press(pilot, "p")
        assert (main.panes.focused, main.widgets.bottom.display) == (Panel.TRANSCRIPT, False)
        monkeypatch.setattr(screen_host, "IDLE_SECONDS", 0.01)
        main.host.report_read()
        await until(lambda: main.query(Input))
        assert all(frame.is_attached for frame in main.widgets.frames.values())
        assert [each.id for each in main.widgets.columns.children] == ["outline", "conversation", "side", "inspector"]


@pytest.mark.slow
async def test_a_folded_turn_of_the_outline_stays_folded_when_another_pane_opens() -> None:
    async with running(size=(160, 48), keys=["d", "T", "g", "h"]) as pilot:
        outline = view(pilot).widgets.outline.list
        folded = outline.count
        for keys in (("escape", "p"), (">",), ("escape", "i", "i")):
            await press(pilot, *keys)
            assert outline.count == folded, keys
        await press(pilot, "T", "g", "l")
        assert outline.count > folded


@pytest.mark.slow
async def test_the_transcript_follows_the_list_and_enter_goes_there() -> None:
    async with running(keys=["d", "p", "j", "j"]) as pilot:
        main = view(pilot)
        assert (main.navigator.focused_number, main.panes.focused) == (15, Panel.BOTTOM)
        assert "~~~~~" in drawn(pilot) and "enter Go  ? Explain" in drawn(pilot)
        await press(pilot, "enter")
        assert (main.navigator.focused_number, main.panes.focused) == (15, Panel.TRANSCRIPT)
        await press(pilot, "T", "g", "enter")
        assert (main.navigator.focused_number, main.panes.focused) == (3, Panel.TRANSCRIPT)


@pytest.mark.slow
async def test_a_list_is_searched_and_its_problem_explained() -> None:
    async with running(keys=["d", "p"]) as pilot:
        await type_in(pilot, "/", "timeout")
        assert view(pilot).navigator.focused_number == 22
        await press(pilot, "n")
        assert said(pilot) == "Continued from the top."
        await press(pilot, "?")
        assert view(pilot).panes.focused is Panel.INSPECTOR
        assert "E-TOOL-TIMEOUT" in drawn(pilot)
        await press(pilot, "p")
        await type_in(pilot, "/", "nothing like it")
        assert said(pilot) == 'No matches for "nothing like it" in this list.'


@pytest.mark.slow
async def test_call_40_of_60_takes_four_keys(tmp_path: Path) -> None:
    path = tmp_path / "calls.ocml"
    path.write_text(MANY_CALLS)
    async with running(path, keys=["d", "C", "4", "0", "G", "enter"]) as pilot:
        assert view(pilot).navigator.focused_number == 2 * 40
        assert view(pilot).panes.focused is Panel.TRANSCRIPT


@pytest.mark.slow
async def test_the_rows_around_the_panes_are_few() -> None:
    for size, keys, most in (((80, 24), "", 3), ((120, 40), "", 3), ((80, 24), "d", 4), ((120, 40), "d", 6)):
        async with running(size=size, keys=[*keys]) as pilot:
            assert size[1] - view(pilot).widgets.transcript.size.height <= most, (size, keys)


@pytest.mark.slow
async def test_the_transcript_keeps_sixty_columns() -> None:
    async with running(keys=["d", "i"]) as pilot:
        for width in (100, 110, 130, 139, 140, 200):
            await pilot.resize_terminal(width, 30)
            await settled(pilot)
            assert view(pilot).widgets.conversation.outer_size.width >= 60, width
            assert_one_focus(pilot, str(width))
        assert view(pilot).widgets.outline.display


@pytest.mark.slow
async def test_the_safe_view_has_no_calls_and_leaving_debug_closes_what_needs_it() -> None:
    async with running(size=(160, 48), keys=["d", "C", "d"]) as pilot:
        main = view(pilot)
        assert main.panes.open_panes == [Panel.TRANSCRIPT]
        assert main.widgets.bottom.calls.total == 0
        assert main.widgets.inspector.tabs == []
        await press(pilot, "p", ">")
        assert main.panes.tab is BottomTab.TIMELINE
        assert "get_weather" not in drawn(pilot)


@pytest.mark.slow
async def test_what_was_typed_in_debug_is_forgotten_with_it() -> None:
    async with running(size=(160, 48), keys=["d", "T"]) as pilot:
        await type_in(pilot, "/", "osaka")
        await press(pilot, "escape")
        await type_in(pilot, ":", "filter osaka")
        await press(pilot, "escape", "d", "T", "n")
        assert said(pilot) == "No search yet. Press / to start one."
        for keys in (("slash",), ("escape", "colon")):
            await press(pilot, *keys, "up")
            assert "osaka" not in drawn(pilot)


def test_no_key_has_two_actions() -> None:
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(keys) == len(set(keys))


@pytest.mark.slow
async def test_text_fits_a_pane_that_gets_its_size_late() -> None:
    async with running(size=(120, 40)) as pilot:
        await press(pilot, "d")
        outline, before = view(pilot).widgets.outline, view(pilot).widgets.transcript.size.width
        outline.styles.width = 50  # after the callback of the last layout
        await until(lambda: view(pilot).widgets.transcript.size.width < before)
        await until(lambda: any(line.endswith("turn 1 ──  ┃") for line in drawn(pilot).splitlines()))


@pytest.mark.slow
async def test_the_calls_open_at_the_call_before_the_message_under_the_cursor() -> None:
    async with running(size=(120, 40), keys=["d", "G", "C"]) as pilot:
        calls = view(pilot).widgets.bottom.calls
        assert (view(pilot).navigator.focused_number, calls.list.cursor, calls.total) == (33, 7, 8)
        await press(pilot, "k")
        assert calls.list.cursor == 6


@pytest.mark.slow
@pytest.mark.parametrize("size", [(80, 24), (160, 48)], ids=str)
async def test_the_size_of_the_transcript_is_known_before_the_layout(size: tuple[int, int]) -> None:
    async with running(TOUR, size=size) as pilot:
        screen = view(pilot)
        for key in ("d", "i", "p", "T", "T", "p", "p", "d"):
            await press(pilot, key)
            transcript, expected = screen.widgets.transcript, screen.panes.transcript_size
            assert expected in (None, tuple(transcript.size)), key
            assert not transcript.area.is_changing, key


async def test_a_switch_of_the_level_builds_the_blocks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running(TOUR, size=(160, 48)) as pilot:
        await press(pilot, "J")
        shown: list[Maker] = []
        show = Transcript.show

        def counted(pane: Transcript, maker: Maker | None) -> None:
            shown.extend([maker] if maker else [])
            show(pane, maker)

        monkeypatch.setattr(Transcript, "show", counted)
        await press(pilot, "d")
        assert len(shown) == 1
        call_soon(monkeypatch, count=4)
        await press(pilot, "d")
        assert len(shown) == 2


def call_soon(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Make the screen run the next callbacks before the layout, as on a busy machine."""
    later = Screen._invoke_later
    early: list[object] = []

    def invoke_later(screen: Screen[None], callback: Callable[[], None], sender: MessagePump) -> None:
        later(screen, callback, sender)
        early.append(callback)
        if len(early) <= count:
            screen.call_next(screen._invoke_and_clear_callbacks)

    monkeypatch.setattr(Screen, "_invoke_later", invoke_later)


async def test_a_pane_gets_the_focus_when_it_is_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen_host, "IDLE_SECONDS", 3600)
    async with running(keys=["d"]) as pilot:
        main = view(pilot)
        main.panes.toggle_problems()
        assert main.focused and main.focused.id == "transcript"
        await press(pilot)
        assert main.focused is main.widgets.bottom.list


async def test_empty_lists_say_so(tmp_path: Path) -> None:
    path = tmp_path / "fine.json"
    path.write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]', "utf-8")
    async with running(path, keys=["d"]) as pilot:
        main = view(pilot)
        main.panes.toggle_problems()
        await press(pilot)
        assert "No problems to show." in drawn(pilot)
        main.panes.select_bottom_tab(BottomTab.CALLS)
        await press(pilot)
        assert "No calls to show." in drawn(pilot)
        main.panes.toggle_inspector()
        await press(pilot)
        assert re.search(r"ending +complete", drawn(pilot))


async def test_no_pane_is_mounted_while_the_screen_closes() -> None:
    async with running() as pilot:
        widgets = view(pilot).widgets
        await widgets.conversation.remove()
        assert not widgets.frames[Panel.OUTLINE].is_attached
        assert not widgets.prepare_next()
        widgets.prepare(Panel.OUTLINE)
        assert not widgets.frames[Panel.OUTLINE].is_attached
