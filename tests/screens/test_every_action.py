"""Every action of the key table does what its help says, in the complete app."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.screens import test_usage_and_times
from tests.screens.test_folded import ONE_AGENT
from tests.support.running import TOUR, drawn, press, running, said, settled, type_in, until, view
from viewer.model.visibility import Reveal
from viewer.tui.app import ViewOptions
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.marks import MarksScreen
from viewer.tui.dialogs.palette import PaletteScreen
from viewer.tui.insight.leaks import LeaksScreen
from viewer.tui.insight.replay import ReplayScreen
from viewer.tui.keys import ACTIONS, DEBUG_ONLY, by_id
from viewer.tui.panes.inspector_lines import Tab
from viewer.tui.panes.panel import Panel

Proof = Callable[..., Awaitable[None]]
PROOFS: dict[str, Proof] = {}
SMALL_CHAT = (
    "version: 2.2\n<|start|>user<|message|>Hi there<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Yes<|return|>\n"
)
LEAKY_CHAT = (
    "version: 2.2\n<|start|>developer<|message|>The voucher is ZX-4471.<|end|>\n"
    "<|start|>user<|message|>Hi there<|end|>\n<|start|>assistant<|channel|>final<|message|>Take ZX-4471<|return|>\n"
)
DEBUG_IDS = [action.id for action in ACTIONS if action.debug_only and action.keys]


def proves(*ids: str) -> Callable[[Proof], Proof]:
    """Mark a test as the proof of these actions."""

    def keep(test: Proof) -> Proof:
        for id in ids:
            assert id not in PROOFS, id
            PROOFS[id] = test
        return test

    return keep


proves("usage")(test_usage_and_times.test_tokens_and_cost)
proves("times")(test_usage_and_times.test_times)


def test_every_action_has_a_proof() -> None:
    assert {action.id for action in ACTIONS} - set(PROOFS) == set()
    assert set(PROOFS) - {action.id for action in ACTIONS} == set()


def first_line(app_text: str) -> str:
    """Return the first line of the conversation."""
    return app_text.splitlines()[2]


@pytest.mark.slow
@proves("line_down", "line_up", "half_page_down", "half_page_up", "page_down", "page_up", "top", "bottom")
async def test_lines_and_pages() -> None:
    async with running() as pilot:
        scroller = view(pilot).widgets.transcript.scroller
        at: list[tuple[int, int]] = []
        for key in ("j", "down", "ctrl+d", "space", "pagedown", "end"):
            await press(pilot, key)
            at.append((scroller.row, scroller.line))
        assert at == sorted(at)
        assert at[0] == (1, 0) if view(pilot).widgets.transcript.block(0).height == 1 else at[0] == (0, 1)
        assert scroller.at_end(view(pilot).widgets.transcript.view_height)
        assert view(pilot).navigator.focused_number == 33
        up = [at[-1]]
        for key in ("k", "up", "ctrl+u", "b", "pageup", "home"):
            await press(pilot, key)
            up.append((scroller.row, scroller.line))
        assert up == sorted(up, reverse=True)
        assert len(set(up)) >= 5
        assert up[-1] == (0, 0)
        await press(pilot, "G")
        assert (scroller.row, scroller.line) == at[-1]
        await press(pilot, "g")
        assert (scroller.row, scroller.line) == (0, 0)


@pytest.mark.slow
@proves("next_message", "previous_message", "next_turn", "previous_turn")
async def test_messages_and_turns() -> None:
    async with running() as pilot:
        focus = []
        for key in ("J", "J", "K", "}", "}", "{"):
            await press(pilot, key)
            focus.append(view(pilot).navigator.focused_number)
        assert focus == [3, 5, 3, 11, 17, 11] or focus == [5, 10, 5, 11, 17, 11]
        assert f"{focus[-1]} of 33" in drawn(pilot)


@pytest.mark.slow
@proves("theme")
async def test_theme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with running() as pilot:
        await view(pilot).run_action("do('theme')")
        await settled(pilot)
        await press(pilot, "down", "enter")
        assert pilot.app.theme == "viewer-ember"


@pytest.mark.slow
@proves("transcripts")
async def test_the_list_of_transcripts() -> None:
    async with running() as pilot:
        await press(pilot, "X")
        assert said(pilot) == "This file has one transcript."


@pytest.mark.slow
@proves("next_prompt")
async def test_the_next_prompt() -> None:
    async with running(keys=("d", "S")) as pilot:
        assert "Next prompt after #33" in drawn(pilot)


@pytest.mark.slow
@proves("lens")
async def test_the_comparison_of_formats() -> None:
    async with running(keys=("d", "V")) as pilot:
        assert "2.2 (chosen)" in drawn(pilot)


@pytest.mark.slow
@proves("parent")
async def test_the_transcript_of_a_sub_agent() -> None:
    async with running(ONE_AGENT, keys=("d",)) as pilot:
        await press(pilot, "backspace")
        assert said(pilot) == "This is the main transcript."
        await type_in(pilot, ":", "5")
        await press(pilot, "enter")
        assert view(pilot).session.agent == 3
        await press(pilot, "backspace")
        assert not view(pilot).session.agent


@pytest.mark.slow
@proves("command")
async def test_places(tmp_path: Path) -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "26")
        assert view(pilot).navigator.focused_number == 26
        await press(pilot, "1", "1", "G")
        assert view(pilot).navigator.focused_number == 11
        await type_in(pilot, ":", "t3")
        assert view(pilot).navigator.focused_number == 17
        for asked in ("L89", "B4096"):
            await type_in(pilot, ":", asked)
            assert said(pilot) == DEBUG_ONLY
            assert view(pilot).navigator.focused_number == 17
        await press(pilot, "d")
        await type_in(pilot, ":", "L89")
        assert view(pilot).navigator.focused_number == 15
        await type_in(pilot, ":", "B1800")
        assert view(pilot).navigator.focused_number == 3
        await type_in(pilot, ":", "99")
        assert said(pilot) == "No message 99: the last one is 33."
        await press(pilot, "colon", "4", "escape")
        assert not view(pilot).widgets.prompt.is_asking
        assert view(pilot).navigator.focused_number == 3


@pytest.mark.slow
@proves("search", "next_match", "previous_match", "clear")
async def test_search() -> None:
    async with running() as pilot:
        await press(pilot, "n")
        assert said(pilot) == "No search yet. Press / to start one."
        await type_in(pilot, "/", "osaka")
        assert " /osaka " in drawn(pilot) and "1 of 2" in drawn(pilot)
        assert view(pilot).navigator.focused_number == 11
        places = []
        for key in ("n", "n", "N"):
            await press(pilot, key)
            places.append(view(pilot).navigator.focused_number)
        assert places == [16, 11, 16]
        await type_in(pilot, "/", "/book [0-9]")
        assert "1 of 4" in drawn(pilot)
        assert view(pilot).navigator.focused_number == 26
        await press(pilot, "escape")
        assert "book [0-9]" not in drawn(pilot)
        await type_in(pilot, "/", "no such words")
        assert "no matches" in drawn(pilot)


@pytest.mark.slow
@proves("filter")
async def test_filter() -> None:
    async with running() as pilot:
        await type_in(pilot, "&", "osaka")
        text = drawn(pilot)
        assert "And Osaka?" in text
        assert "umbrella" not in text
        assert view(pilot).filter.is_active
        await press(pilot, "escape", "g")
        assert "umbrella" in drawn(pilot)
        await type_in(pilot, "&", "no such words")
        assert "No message matches & no such words." in drawn(pilot)
        await press(pilot, "escape")
        assert "umbrella" in drawn(pilot)
        assert not view(pilot).filter.is_active


@pytest.mark.slow
@proves("next_error", "previous_error", "next_warning", "previous_warning", "problems")
async def test_problems() -> None:
    async with running(keys=["d"]) as pilot:
        seen: dict[str, list[int]] = {"e": [], "E": [], "w": [], "W": []}
        for key, times in (("e", 4), ("E", 3), ("w", 3), ("W", 2)):
            for _ in range(times):
                await press(pilot, key)
                seen[key].append(view(pilot).navigator.focused_number)
        assert seen["e"] == [12, 15, 22, 33]
        assert seen["E"] == [22, 15, 12]
        assert seen["w"] == [13, 29, 30]
        assert seen["W"] == [29, 13]
        bottom = view(pilot).widgets.bottom
        await press(pilot, "p")
        assert bottom.display and "86:134" in drawn(pilot)
        await press(pilot, "p")
        assert not bottom.display
        await press(pilot, "d", "p")
        text = drawn(pilot)
        assert "▸4 Problems 7 │ Timeline" in text
        assert "86:134" not in text


@pytest.mark.slow
@proves("next_in_call", "previous_in_call", "partner", "calls")
async def test_calls() -> None:
    async with running(keys=["d"]) as pilot:
        await type_in(pilot, ":", "6")
        focus = []
        for key in ("percent_sign", "percent_sign", "o", "O"):
            await press(pilot, key)
            focus.append(view(pilot).navigator.focused_number)
        assert focus == [9, 6, 9, 6]
        assert view(pilot).widgets.transcript.lines.partners == {9}
        await press(pilot, "O")
        assert said(pilot) == "This call has no other message."
        await press(pilot, "C")
        assert view(pilot).widgets.bottom.calls.display
        assert "rain1" in drawn(pilot)
        await press(pilot, "escape")
        assert view(pilot).widgets.bottom.display
        await press(pilot, "C", "C")
        assert not view(pilot).widgets.bottom.display


@pytest.mark.slow
@proves("debug", "analysis", "commentary", "tools", "system")
async def test_debug_view_and_channels() -> None:
    async with running() as pilot:
        assert "[SAFE]" in drawn(pilot)
        await press(pilot, "d")
        assert "[DEBUG]" in drawn(pilot)
        assert view(pilot).session.display.channels == {Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL}
        shown = []
        for key, channel in (
            ("a", Reveal.ANALYSIS), ("c", Reveal.COMMENTARY), ("t", Reveal.TOOL), ("s", Reveal.SYSTEM),
        ):  # fmt: skip
            before = view(pilot).session.rows.shown_count
            await press(pilot, key)
            assert (channel in view(pilot).session.display.channels) == (key == "s")
            shown.append(view(pilot).session.rows.shown_count - before)
        assert all(change < 0 for change in shown[:3])
        assert shown[3] > 0
        await press(pilot, "d", "d")
        assert view(pilot).session.display.channels == {Reveal.ANALYSIS, Reveal.COMMENTARY, Reveal.TOOL}


@pytest.mark.slow
@proves("brief")
async def test_brief_view() -> None:
    """There is one line per call. The same key returns to the safe view, and every level leads to every other one."""
    async with running(size=(80, 24)) as pilot:
        await press(pilot, "g")
        safe = drawn(pilot)
        await type_in(pilot, "/", "osaka")
        await press(pilot, "D")
        assert drawn(pilot).splitlines()[0].endswith("[BRIEF]")
        assert "D Safe" in drawn(pilot)
        assert [line.split()[:4] for line in drawn(pilot).splitlines() if "get_weather" in line] == [
            ["ƒ", "get_weather", "✖", "failed"], ["ƒ", "get_weather", "✓", "ok"],
        ]  # fmt: skip
        assert view(pilot).search.searcher is not None
        await press(pilot, "D")
        assert "get_weather" not in drawn(pilot)
        assert view(pilot).search.searcher is None
        await press(pilot, "g")
        assert drawn(pilot) == safe
        levels = []
        for key in ("D", "d", "D", "d", "d"):
            await press(pilot, key)
            levels.append(view(pilot).session.display.level)
        assert levels == ["brief", "debug", "brief", "debug", "safe"]
        await press(pilot, "g")
        assert drawn(pilot) == safe
        await press(pilot, "D", "y", "r", "i", "C", "t")
        assert view(pilot).session.display.level == "brief"
        assert said(pilot) == DEBUG_ONLY


async def test_a_strict_view_has_no_other_level() -> None:
    async with running(options=ViewOptions(strict=True)) as pilot:
        safe = drawn(pilot).splitlines()[:-2]
        for key in ("d", "D"):
            await press(pilot, key)
            assert said(pilot) == "This view is strict: restart without --strict-safe."
            assert drawn(pilot).splitlines()[:-2] == safe


@pytest.mark.slow
@proves("outline", "inspector", "next_tab", "previous_tab", "raw", "side_panes", "next_pane", "previous_pane")
async def test_panes() -> None:
    async with running(size=(160, 48), keys=["d"]) as pilot:
        main = view(pilot)
        assert main.widgets.outline.display and main.widgets.inspector.display
        await press(pilot, "T", "T", "i", "i")
        assert not main.widgets.outline.display
        assert not main.widgets.inspector.display
        await type_in(pilot, ":", "12")
        await press(pilot, "i")
        tabs = []
        for _ in Tab:
            await press(pilot, ">")
            tabs.append(main.widgets.inspector.active_tab)
        assert set(tabs) == set(Tab)
        await press(pilot, "<")
        assert main.widgets.inspector.active_tab is tabs[-2]
        await press(pilot, "tab")
        assert main.panes.focused is Panel.TRANSCRIPT
        await press(pilot, "shift+tab", "escape", "r")
        assert "<|start|>assistant to=functions.get_weather" in drawn(pilot)
        await press(pilot, "r", "vertical_line")
        assert main.widgets.side.display and main.panes.focused is Panel.SIDE
        await press(pilot, "vertical_line")
        assert not main.widgets.side.display


@pytest.mark.slow
@proves("timeline", "zoom_in")
async def test_the_timeline() -> None:
    async with running(keys=["d", "H"]) as pilot:
        assert "by order · zoom 1×" in drawn(pilot)
        await press(pilot, "+", "+")
        assert "zoom 4×" in drawn(pilot)
        await press(pilot, "-", "H", "+")
        assert not view(pilot).widgets.bottom.display
        assert said(pilot) == "Zooming needs the timeline: press H."


@pytest.mark.slow
@proves("jump_back", "jump_forward")
async def test_jumps() -> None:
    async with running() as pilot:
        await press(pilot, "ctrl+o")
        assert said(pilot) == "No earlier position."
        for place in ("11", "26"):
            await type_in(pilot, ":", place)
        await press(pilot, "ctrl+o")
        assert view(pilot).navigator.focused_number == 11
        await press(pilot, "ctrl+n")
        assert view(pilot).navigator.focused_number == 26
        await press(pilot, "ctrl+n")
        assert said(pilot) == "No later position."


@pytest.mark.slow
@proves("markdown")
async def test_markdown_and_its_source() -> None:
    async with running() as pilot:
        assert "It's 20 °C and sunny in Tokyo" in drawn(pilot)
        await press(pilot, "M")
        assert "It's **20 °C and sunny** in Tokyo" in drawn(pilot)
        await press(pilot, "M")
        assert "It's 20 °C and sunny in Tokyo" in drawn(pilot)


@pytest.mark.slow
@proves("wrap")
async def test_long_lines(tmp_path: Path) -> None:
    words = " ".join(f"word{number}" for number in range(60))
    file = tmp_path / "chat.ocml"
    file.write_text(SMALL_CHAT.replace("Yes", f"{words}\n\n- short"), "utf-8")
    async with running(file, size=(80, 24)) as pilot:
        assert "word59" in drawn(pilot)
        await press(pilot, "-")
        assert "word59" not in drawn(pilot) and "word8 word9" in drawn(pilot) and "• short" in drawn(pilot)
        await press(pilot, "right", "right")
        line = next(line for line in drawn(pilot).splitlines() if "word9 " in line)
        assert "word1 " not in line and "Hi there" not in drawn(pilot) and "• short" not in drawn(pilot)
        view(pilot).text_select_all()
        assert words in (view(pilot).get_selected_text() or "")
        view(pilot).clear_selection()
        await press(pilot, *["right"] * 60)
        assert "word59" in drawn(pilot) and "Assistant" in drawn(pilot)
        await press(pilot, "left", "-", "-")
        assert "word59" not in drawn(pilot) and "Hi there" in drawn(pilot)
        await type_in(pilot, "/", "word40")
        assert "word40" in drawn(pilot)
        await type_in(pilot, ":", "set wrap")
        assert said(pilot) == "Long lines are wrapped." and "word59" in drawn(pilot)
        await type_in(pilot, ":", "set source")
        assert "- short" in drawn(pilot)
        await type_in(pilot, ":", "set markdown")
        assert "• short" in drawn(pilot)
        await type_in(pilot, ":", "set colour")
        assert said(pilot) == "Unknown choice: colour. Press tab after :set to list the choices."
        await press(pilot, "d", "r", "-")
        assert "word59" not in drawn(pilot)


@pytest.mark.slow
@proves("open", "fold", "unfold", "unfold_tree", "fold_all")
async def test_folds() -> None:
    async with running(keys=["d", "s"]) as pilot:
        await type_in(pilot, ":", "2")
        transcript = view(pilot).widgets.transcript

        def height() -> int:
            return transcript.block(view(pilot).session.rows.row_of(2)).height

        folded = height()
        heights = []
        for key in ("enter", "enter", "l", "h", "z", "z"):
            await press(pilot, key)
            heights.append(height())
        assert heights[0] > folded
        assert heights[1] < heights[0]
        assert heights[2:4] == heights[:2]
        assert heights[4:] == [folded, heights[0]]
        await press(pilot, "l")
        assert height() > heights[0]
        await press(pilot, "h")
        assert height() == heights[0]
        await press(pilot, "asterisk")
        assert height() > heights[0]
        assert view(pilot).navigator.focused_number == 2


@pytest.mark.slow
@proves("mark", "next_mark", "previous_mark", "marks")
async def test_marks() -> None:
    async with running() as pilot:
        await press(pilot, "u")
        assert said(pilot) == "No marks yet. Press m to set one."
        await press(pilot, "apostrophe")
        assert not isinstance(pilot.app.screen, MarksScreen)
        await type_in(pilot, ":", "11")
        await press(pilot, "m")
        assert "◆" in drawn(pilot)
        await type_in(pilot, ":", "26")
        await press(pilot, "m")
        focus = []
        for key in ("u", "u", "U", "m", "u"):
            await press(pilot, key)
            focus.append(view(pilot).navigator.focused_number)
        assert focus == [11, 26, 11, 11, 26]
        assert view(pilot).session.marks == {26}
        await press(pilot, "d")
        await type_in(pilot, ":", "12")
        await press(pilot, "m", "d", "apostrophe")
        assert isinstance(pilot.app.screen, MarksScreen)
        assert "1 mark · enter Go" in drawn(pilot), "a hidden message has a mark"
        await press(pilot, "q", "g", "J", "m", "apostrophe", "j")
        assert "2 marks" in drawn(pilot)
        assert drawn(pilot).splitlines()[0].endswith("[SAFE]")
        await press(pilot, "enter")
        assert view(pilot).navigator.focused_number == 26
        await press(pilot, "ctrl+o")
        assert view(pilot).navigator.focused_number < 26


@pytest.mark.slow
@proves("yank", "copy_text", "copy_raw", "copy_json", "copy_header", "copy_call_id", "copy_link")
async def test_copies() -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "11")
        await press(pilot, "y", "y")
        assert pilot.app.clipboard == "And Osaka?"
        await press(pilot, "d")
        await type_in(pilot, ":", "12")
        starts = {"y": '{"location":"Osaka"', "r": "<|start|>assistant to=", "j": '{"kind":', "h": "role: assistant"}
        for key, start in starts.items():
            await press(pilot, "y", key)
            assert pilot.app.clipboard.startswith(start)
            assert said(pilot).startswith("DEBUG: Copied")
        await press(pilot, "y", "c")
        assert pilot.app.clipboard == "wx2"
        await press(pilot, "y", "l")
        assert pilot.app.clipboard == f"{TOUR}#12"
        await press(pilot, "d")
        assert pilot.app.clipboard == ""


@pytest.mark.slow
@proves("export")
async def test_export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(keys=["x", "enter"]) as pilot:
        await until(lambda: said(pilot).startswith("Exported tour.safe.html"))
        await press(pilot, "d", "x", "enter")
        await until(lambda: said(pilot).startswith("Exported tour.DEBUG.html"))
        safe, debug = (Path(f"tour.{name}.html").read_text("utf-8") for name in ("safe", "DEBUG"))
        assert "Two questions in one" not in safe
        assert "Two questions in one" in debug
        assert "umbrella" in safe
        assert sorted(path.name for path in tmp_path.iterdir()) == ["tour.DEBUG.html", "tour.safe.html"]


@pytest.mark.slow
@proves("edit")
async def test_editor(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr("viewer.tui.terminal.editor.edit", lambda *given: asked.append(given[1:]))
    async with running(keys=["v"]) as pilot:
        assert asked == []
        await press(pilot, "d")
        await type_in(pilot, ":", "15")
        await press(pilot, "v")
        assert [given[1:] for given in asked] == [(TOUR, 89)]


@pytest.mark.slow
@proves("previous_file", "next_file")
async def test_files(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.ocml").write_text(SMALL_CHAT.replace("Yes", name), "utf-8")
    async with running(TOUR, tmp_path / "one.ocml", tmp_path / "two.ocml", keys=["enter", "d"]) as pilot:
        names = []
        for key in "]]][[":
            await press(pilot, key)
            names.append(Path(view(pilot).session.document.name).stem)
            assert names[-1] in drawn(pilot).splitlines()[0]
            assert "[SAFE]" in drawn(pilot) or names[-1] == "tour"
        assert names == ["one", "two", "tour", "two", "one"]


@pytest.mark.slow
@proves("follow", "freeze")
async def test_follow_and_freeze() -> None:
    async with running(keys=["F"]) as pilot:
        assert "❚❚ paused" in drawn(pilot)
        await press(pilot, "F")
        assert "● live" in drawn(pilot) and said(pilot) == "Following again."
        await press(pilot, "F")
        assert said(pilot) == "Stopped following. Press F to resume."
        await press(pilot, "=")
        assert "frozen" in drawn(pilot)
        await press(pilot, "=")
        assert "frozen" not in drawn(pilot)


@pytest.mark.slow
@proves("palette", "help")
async def test_palette_and_help() -> None:
    async with running(keys=["ctrl+p"]) as pilot:
        assert isinstance(pilot.app.screen, PaletteScreen)
        await press(pilot, *"outline", "enter")
        assert view(pilot).widgets.outline.display
        await press(pilot, "ctrl+p")
        shown = drawn(pilot)
        assert shown.index("┃  Recent ") < shown.index("┃▌ Outline ") < shown.index("┃  Move ")
        await press(pilot, "x", "ctrl+p")
        assert not isinstance(pilot.app.screen, PaletteScreen)
        await press(pilot, "ctrl+p", *"light", "down", "up", "enter")
        assert pilot.app.theme == "viewer-light"
        await press(pilot, "ctrl+p", *"write this", "enter")
        assert " :export " in drawn(pilot)
        await press(pilot, "escape", "ctrl+p", *"no such thing", "enter", "ctrl+u", "escape")
        for key in ("question_mark", "f1"):
            await press(pilot, key)
            assert isinstance(pilot.app.screen, HelpScreen)
            assert "half a page" in drawn(pilot)
            assert drawn(pilot).splitlines()[0].endswith("[SAFE]")
            await press(pilot, "escape")
            assert not isinstance(pilot.app.screen, HelpScreen)


@pytest.mark.slow
@proves("leave")
async def test_leaving() -> None:
    for key in ("q", "ctrl+q"):
        async with running() as pilot:
            await type_in(pilot, "/", "osaka")
            await press(pilot, key)
            assert view(pilot).search.searcher is None
            assert pilot.app.is_running
            await press(pilot, key)
            await pilot.pause()
            assert pilot.app.return_code == 0
            assert not pilot.app.is_running or pilot.app._exit


@proves("suspend")
async def test_suspending(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[str] = []
    monkeypatch.setattr("textual.app.App.action_suspend_process", lambda app: times.append("aside"))
    async with running(keys=["ctrl+z"]):
        assert times == ["aside"]


@pytest.mark.slow
@proves("copy_or_quit")
async def test_ctrl_c() -> None:
    async with running() as pilot:
        await press(pilot, "ctrl+c")
        assert said(pilot) == "Press ctrl+c again to quit."
        assert not pilot.app._exit
        await press(pilot, "ctrl+c")
        await pilot.pause()
        assert pilot.app.return_code == 130
        assert pilot.app._exit


@pytest.mark.slow
async def test_the_safe_view_refuses_what_is_only_for_the_debug_view() -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "11")
        state, focus = view(pilot).session.display, view(pilot).navigator.focused_number
        before = drawn(pilot).splitlines()[:-2]
        for id in DEBUG_IDS:
            view(pilot).widgets.status.clear_notice()
            await press(pilot, by_id(id).keys[0])
            await pilot.pause()
            assert said(pilot) == DEBUG_ONLY, id
            assert (view(pilot).session.display, view(pilot).navigator.focused_number, pilot.app.clipboard) == (
                state,
                focus,
                "",
            ), id
            assert drawn(pilot).splitlines()[:-2] == before, id


@pytest.mark.slow
async def test_single_keys_do_not_act_after_a_prefix() -> None:
    async with running() as pilot:
        for prefix in ("slash", "ampersand", "colon", "x"):
            await press(pilot, prefix, *"dqxaTpm", "escape")
            assert (view(pilot).session.display.debug, view(pilot).session.marks) == (False, frozenset())
            assert not view(pilot).widgets.outline.display
        await press(pilot, "y")
        assert said(pilot).startswith("Copied the text of #")
        await press(pilot, "y", "escape", "1", "²", "k", "1", "2", "escape")
        assert view(pilot).navigator.count == ""
        assert (view(pilot).session.display.debug, view(pilot).session.marks, pilot.app._exit) == (
            False,
            frozenset(),
            False,
        )
        await press(pilot, "5", "T", "G")
        assert view(pilot).navigator.focused_number == 33, "another key forgets the digits"


async def test_nothing_happens_while_the_screen_is_removed() -> None:
    async with running() as pilot:
        screen = view(pilot)
        await screen.widgets.prompt.remove()
        for action in ("command", "search", "page_down", "debug"):
            await screen.run_action(f"do('{action}')")


@proves("next_transcript", "previous_transcript")
async def test_transcripts(tmp_path: Path) -> None:
    chat = tmp_path / "two.ocml"
    chat.write_text(SMALL_CHAT * 2, "utf-8")
    async with running(chat) as pilot:
        await press(pilot, ")")
        assert view(pilot).navigator.focused_number == 3
        await press(pilot, "(")
        assert view(pilot).navigator.focused_number == 1


@pytest.mark.slow
@proves("leaks")
async def test_leaks(tmp_path: Path) -> None:
    path = tmp_path / "leaky.ocml"
    path.write_text(LEAKY_CHAT, "utf-8")
    async with running(path, keys=["d", "L"]) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, LeaksScreen)
        await until(lambda: not screen.status)
        assert "Source #1 developer" in drawn(pilot)
        await press(pilot, "escape")
        assert view(pilot).host.is_current


@pytest.mark.slow
@proves("replay")
async def test_replay() -> None:
    async with running(keys=["at"]) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, ReplayScreen)
        await until(lambda: not screen.is_working)
        assert "event 11 of 11" in drawn(pilot)
        await press(pilot, "1", "enter")
        await until(lambda: view(pilot).host.is_current)
        assert view(pilot).navigator.focused_number == 5


@pytest.mark.slow
async def test_a_filter_with_fields() -> None:
    async with running() as pilot:
        await type_in(pilot, "&", "role:user turn:2..3")
        assert "And Osaka?" in drawn(pilot)
        assert "Filter role:user turn:2..3 · 2 of 11 messages" in drawn(pilot)
        assert view(pilot).filter.is_active
        await press(pilot, "escape")
        assert not view(pilot).filter.is_active
        await type_in(pilot, "&", "rolle:user")
        assert 'column 1: unknown field "rolle"; did you mean "role"?' in drawn(pilot)
        assert view(pilot).widgets.prompt.is_asking
        await press(pilot, "escape")
        await type_in(pilot, "&", "tool:get_*")
        assert said(pilot) == "debug view only: press d"
        assert not view(pilot).filter.is_active
        await press(pilot, "d", "t")
        await type_in(pilot, "&", "tool:get_*")
        assert said(pilot) == "tool is off: press t."
        await press(pilot, "t")
        await type_in(pilot, "&", "tool:get_*")
        assert view(pilot).filter.is_active
        assert "get_weather" in drawn(pilot)
        await press(pilot, "d")
        assert not view(pilot).filter.is_active
        assert "tool:get_" not in drawn(pilot)
        await press(pilot, "ampersand", "up")
        assert "tool:get_" not in drawn(pilot)


@pytest.mark.slow
async def test_tab_completes_a_filter() -> None:
    async with running() as pilot:
        await press(pilot, "ampersand", *"sev", "tab", *"w", "tab", "enter")
        assert "severity:warning" in drawn(pilot)
        await press(pilot, "escape", "ampersand", *"t", "tab")
        assert "&turn:" in drawn(pilot)
