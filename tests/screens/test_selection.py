"""Mouse: a selection is copied as it was written, clicks follow links, and the wheel scrolls."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.selection import SELECT_ALL, Selection

from tests.support.running import SMALL, drawn, press, running, settled, type_in, view
from viewer.tui.panes.panel import Panel
from viewer.tui.transcript.transcript import LINES_A_ROW

WORDS = "Seven wise weavers wove wonderful woollen waistcoats, while whistling winds whirled wildly westwards again."
BODY = f"{WORDS}\n\n- one  two\n\tthree 東京 ☀️\n{WORDS}"
CHAT = (
    f"version: 2.2\n<|start|>user<|message|>{BODY}<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Nobody may see this.<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Short.<|return|>\n"
)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT, "utf-8")
    return path


def place_of(pilot: Pilot[int], text: str, *, end: bool = False) -> tuple[int, int]:
    """Return the position of the text on the screen."""
    for y, line in enumerate(drawn(pilot).splitlines()):
        if text in line:
            return line.index(text) + (len(text) if end else 0), y
    raise AssertionError(f"{text!r} is not on the screen\n{drawn(pilot)}")


async def drag(pilot: Pilot[int], start: tuple[int, int], end: tuple[int, int]) -> str:
    """Drag the mouse, and return the selected text."""
    await pilot.mouse_down(offset=start)
    await pilot.hover(offset=((start[0] + end[0]) // 2, (start[1] + end[1]) // 2))
    await pilot.hover(offset=end)
    await pilot.mouse_up(offset=end)
    await settled(pilot)
    return view(pilot).get_selected_text() or ""


@pytest.mark.share(test=3)
@pytest.mark.parametrize("size", [SMALL, (120, 40), (40, 30)])
@pytest.mark.parametrize("keys", [[], ["d", "r", "r"]])
async def test_dragging_over_wrapped_rows_gives_the_text_as_it_was_written(
    chat: Path, size: tuple[int, int], keys: list[str]
) -> None:
    async with running(chat, size=size, keys=keys) as pilot:
        if view(pilot).widgets.outline.display:
            await press(pilot, "T", "i")
        start = place_of(pilot, "Seven")
        rows = [y for y, line in enumerate(drawn(pilot).splitlines()) if "again." in line]
        end = drawn(pilot).splitlines()[rows[1]].index("again.") + len("again.")
        selected = await drag(pilot, start, (end, rows[1]))
        assert selected == BODY


@pytest.mark.slow
async def test_a_part_of_a_row_can_be_selected_and_copied(chat: Path) -> None:
    async with running(chat) as pilot:
        selected = await drag(pilot, place_of(pilot, "wise"), place_of(pilot, "weavers", end=True))
        assert selected in ("wise weavers", "wise weavers ")
        await press(pilot, "ctrl+c")
        assert pilot.app.clipboard == selected
        assert view(pilot).widgets.status.notice == "Copied the selection."
        assert not pilot.app._exit


@pytest.mark.slow
async def test_a_double_click_takes_a_word_and_a_triple_click_no_more_than_is_shown(chat: Path) -> None:
    async with running(chat) as pilot:
        for times in (2, 3):
            await pilot.click(offset=place_of(pilot, "weavers"), times=times)
            await settled(pilot)
            selected = view(pilot).get_selected_text() or ""
            assert "weavers" in selected
            assert "Nobody" not in selected
            assert "▌" not in selected


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("keys", [[], ["d"], ["d", "vertical_line"]])
async def test_only_the_transcript_has_text_to_be_selected(chat: Path, keys: list[str]) -> None:
    async with running(chat, keys=keys) as pilot:
        found = {each: each.get_selection(SELECT_ALL) for each in view(pilot).query("*")}
        assert len(found) > 8
        assert {type(each).__name__ for each, text in found.items() if text and text[0]} == {"Transcript"}


@pytest.mark.slow
async def test_dangerous_characters_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "hostile.ocml"
    path.write_text("version: 2.2\n<|start|>user<|message|>a\x1b]0;t\x07b\u202ec\u200bd\x9be\rf<|end|>\n", "utf-8")
    async with running(path) as pilot:
        view(pilot).widgets.transcript.text_select_all()
        selected = view(pilot).get_selected_text() or ""
        assert "a]0;tbcd\ufffdef" in selected
        await press(pilot, "ctrl+c")
        assert pilot.app.clipboard == selected
        await press(pilot, "y", "y")
        assert pilot.app.clipboard == "a]0;tbcd\ufffdef"


@pytest.mark.slow
async def test_the_wheel_scrolls_and_a_click_gives_the_focus() -> None:
    async with running() as pilot:
        transcript = view(pilot).widgets.transcript
        place = transcript.scroller.row, transcript.scroller.line
        await pilot._post_mouse_events([_wheel(down=True)], transcript, button=0)
        await settled(pilot)
        moved = transcript.scroller.row, transcript.scroller.line
        assert moved > place
        await pilot._post_mouse_events([_wheel(down=False)], transcript, button=0)
        await settled(pilot)
        assert (transcript.scroller.row, transcript.scroller.line) == place
        await pilot.click(offset=place_of(pilot, "And Osaka?"))
        assert view(pilot).navigator.focused_number == 11


def _wheel(*, down: bool) -> type:
    from textual.events import MouseScrollDown, MouseScrollUp

    return MouseScrollDown if down else MouseScrollUp


@pytest.mark.slow
async def test_a_click_unfolds_and_a_click_on_a_link_goes_to_the_other_end() -> None:
    async with running(keys=["d", "s", "T", "T"]) as pilot:
        await type_in(pilot, ":", "1")
        await pilot.click(offset=place_of(pilot, "§ developer"))
        await settled(pilot)
        assert view(pilot).session.folds == {2: True}
        assert "Be brief and friendly." in drawn(pilot)
        await type_in(pilot, ":", "8")
        await pilot.click(offset=place_of(pilot, "↑ reply of get_weather"))
        await settled(pilot)
        assert view(pilot).navigator.focused_number == 6
        await type_in(pilot, ":", "14")
        await press(pilot, "l")
        await pilot.click(offset=place_of(pilot, "object, 2 keys"))
        await settled(pilot)
        assert "object, 2 keys ▸" in drawn(pilot)
        await press(pilot, "h", "h", "h", "h")
        assert "object, 2 keys" not in drawn(pilot)


@pytest.mark.slow
async def test_a_click_in_the_minimap_jumps() -> None:
    async with running() as pilot:
        transcript = view(pilot).widgets.transcript
        region = transcript.region
        await pilot.click(offset=(region.right - 1, region.bottom - 1))
        await settled(pilot)
        assert transcript.scroller.at_end(transcript.view_height)
        await pilot.click(offset=(region.right - 1, region.y))
        await settled(pilot)
        assert (transcript.scroller.row, transcript.scroller.line) == (0, 0)


@pytest.mark.slow
async def test_clicks_on_lists_and_keys_act() -> None:
    async with running(keys=["d"]) as pilot:
        await pilot.click(offset=place_of(pilot, "● Osaka is 23"))
        await settled(pilot)
        assert view(pilot).navigator.focused_number == 16
        assert view(pilot).panes.focused is Panel.OUTLINE
        await press(pilot, "p")
        await pilot.click(offset=place_of(pilot, "The reply reports a timeout"))
        await settled(pilot)
        assert view(pilot).navigator.focused_number == 22
        assert view(pilot).panes.focused is Panel.BOTTOM
        await pilot.click(offset=place_of(pilot, "Timeline"))
        await settled(pilot)
        assert "by order" in drawn(pilot)
        await press(pilot, "escape")
        await pilot.click(offset=place_of(pilot, "d Safe"))
        await settled(pilot)
        assert "[SAFE]" in drawn(pilot)


@pytest.mark.slow
async def test_a_selection_survives_shorter_rows(chat: Path) -> None:
    async with running(chat) as pilot:
        transcript = view(pilot).widgets.transcript
        for start, end in ((3, 500), (400, 500), (400, 3), (5, 5)):
            spans = Selection(Offset(start, 0), Offset(end, 5 * LINES_A_ROW))
            pilot.app.screen.selections = {transcript: spans}
            await settled(pilot)
            await pilot.resize_terminal(40, 12)
            await settled(pilot)
            assert drawn(pilot)
