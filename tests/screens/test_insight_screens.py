"""The screens of `diff` and `leaks`: their content at two sizes, their keys, and what a safe view keeps hidden."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from textual.pilot import Pilot

from tests.cli.test_leaks import LEAKY
from tests.support.leaks.planted import everything
from tests.support.program import CHAT
from tests.support.running import ROOMY, SMALL, drawn, press, running, said, type_in, until, view
from viewer.model.visibility import Reveal
from viewer.tui.app import ViewOptions
from viewer.tui.insight.diff import DiffScreen
from viewer.tui.insight.leaks import LeaksScreen
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.main.screen import MainScreen

DEBUG = ViewOptions(revealed=frozenset({Reveal.ALL}))
OTHER = (
    CHAT.replace("thought about plums", "thought about pears").replace('{"city":1}', '{"city":2}').replace("Yes", "No")
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.chdir(tmp_path)
    one, other = Path("a.ocml"), Path("b.ocml")
    one.write_text(CHAT, "utf-8")
    other.write_text(OTHER, "utf-8")
    return one, other


async def done(pilot: Pilot[int]) -> None:
    screen = pilot.app.screen
    assert isinstance(screen, WorkScreen)
    await until(lambda: not screen.status)
    await press(pilot)


@pytest.mark.slow
async def test_the_diff_of_a_safe_view_shows_nothing_hidden(files: tuple[Path, Path]) -> None:
    for size in (SMALL, ROOMY):
        async with running(files[0], size=size) as pilot:
            await type_in(pilot, ":", "diff b.ocml")
            await press(pilot, "enter")
            assert isinstance(pilot.app.screen, DiffScreen)
            await done(pilot)
            text = drawn(pilot)
            assert "[SAFE]" in text.splitlines()[0]
            assert "Diff 1 of 1 · 1 same, 1 changed" in text
            assert "[-Yes-]" in text
            assert "[+No+]" in text
            for hidden in ("plums", "pears", "city", "weather", "brief", "thought"):
                assert hidden not in text
            await press(pilot, "escape")
            assert view(pilot).host.is_current


@pytest.mark.slow
async def test_other_hidden_words_do_not_change_the_diff_of_a_safe_view(files: tuple[Path, Path]) -> None:
    planted = everything("openchatml-2.2")
    seen = []
    for each in (planted, planted.with_other_words(Random(3))):
        files[0].write_bytes(each.data)
        async with running(files[0], size=ROOMY) as pilot:
            await type_in(pilot, ":", "diff b.ocml")
            await press(pilot, "enter")
            await done(pilot)
            assert each.finder.plain(drawn(pilot)) == []
            seen.append(drawn(pilot))
    assert seen[0] == seen[1]
    assert "only in A" in seen[0]


@pytest.mark.slow
async def test_the_diff_of_a_debug_view_goes_from_change_to_change(files: tuple[Path, Path]) -> None:
    async with running(files[0], options=DEBUG, size=ROOMY) as pilot:
        await type_in(pilot, ":", "diff b.ocml")
        await press(pilot, "enter")
        await done(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DiffScreen)
        lines = drawn(pilot).splitlines()
        assert "[DEBUG]" in lines[0]
        assert lines[1].startswith("┏━ ▸A a.ocml ━")
        assert "6 messages ━┓╭─ B b.ocml ─" in lines[1]
        assert "Diff 1 of 3 · 3 same, 3 changed" in lines[-1]
        await press(pilot, "e", "e", "e")
        assert "Diff 3 of 3" in drawn(pilot)
        await press(pilot, "E", "equals_sign", "w")
        text = drawn(pilot)
        assert "Diff 2 of 3" in text
        assert "┏" not in text
        await press(pilot, "q")
        assert view(pilot).host.is_current


@pytest.mark.slow
async def test_the_keys_of_a_list_move_by_lines_and_pages(files: tuple[Path, Path]) -> None:
    for number, path in enumerate(files):
        answers = (f"<|start|>assistant<|message|>Answer {each}.{number}<|end|>" for each in range(99))
        path.write_text("version: 2.2\n" + "\n".join(answers), "utf-8")
    async with running(files[0], size=SMALL) as pilot:
        await type_in(pilot, ":", "diff b.ocml")
        await press(pilot, "enter")
        await done(pilot)
        screen = pilot.app.screen
        assert isinstance(screen, DiffScreen)
        page = screen.listing.size.height - 1
        last = len(screen.lines) - 1
        wanted = {"g": 0, "j": 1, "space": 1 + page, "k": page, "b": 0, "G": last, "pageup": last - page, "home": 0}
        for key, place in wanted.items():
            await press(pilot, key)
            assert screen.listing.cursor == place, key


async def test_the_diff_opens_with_the_viewer_and_closes_to_the_first_file(files: tuple[Path, Path]) -> None:
    async with running(files[0], options=ViewOptions(compared="b.ocml")) as pilot:
        await until(lambda: isinstance(pilot.app.screen, DiffScreen))
        await done(pilot)
        assert "1 changed" in drawn(pilot)
        await press(pilot, "escape")
        assert "Is it warm in Tokyo?" in drawn(pilot)


@pytest.mark.slow
async def test_a_file_that_cannot_be_compared_is_reported_in_one_sentence(files: tuple[Path, Path]) -> None:
    async with running(files[0]) as pilot:
        await type_in(pilot, ":", "diff missing.ocml")
        await press(pilot, "enter")
        screen = pilot.app.screen
        assert isinstance(screen, DiffScreen)
        await until(lambda: screen.status.startswith("Cannot open"))
        await press(pilot, "escape")
        assert view(pilot).host.is_current


@pytest.mark.slow
async def test_a_file_rewritten_during_a_comparison_is_reported_in_one_sentence(files: tuple[Path, Path]) -> None:
    async with running(files[0]) as pilot:
        await type_in(pilot, ":", "diff b.ocml")
        await press(pilot, "enter")
        await done(pilot)
        files[1].write_text("", "utf-8")
        await press(pilot, "w")
        assert "The file was rewritten. Press esc and try again." in drawn(pilot)
        assert "[-Yes-]" not in drawn(pilot)
        await press(pilot, "e", "equals_sign", "escape")
        assert view(pilot).host.is_current


async def test_leaks_are_shown_in_the_debug_view_only(files: tuple[Path, Path]) -> None:
    files[0].write_text(LEAKY, "utf-8")
    async with running(files[0]) as pilot:
        await press(pilot, "L")
        assert view(pilot).host.is_current
        assert said(pilot) == "debug view only: press d"


@pytest.mark.slow
async def test_each_leak_is_shown_next_to_its_source(files: tuple[Path, Path]) -> None:
    files[0].write_text(LEAKY, "utf-8")
    for size in (SMALL, ROOMY):
        async with running(files[0], options=DEBUG, size=size) as pilot:
            await press(pilot, "L")
            assert isinstance(pilot.app.screen, LeaksScreen)
            await done(pilot)
            text = drawn(pilot)
            assert "[DEBUG]" in text.splitlines()[0]
            assert "Seen #3 · leak 100 W-LEAK" in text
            assert "Source #1 developer" in text
            assert text.count("≋ZX-4471≋") == 2
            assert "Leak 1 of 2" in text
            await press(pilot, "right_square_bracket")
            assert "Leak 2 of 2" in drawn(pilot)
            await press(pilot, "o", "enter")
            assert view(pilot).host.is_current
            assert view(pilot).navigator.focused_number == 1


@pytest.mark.slow
async def test_the_outline_shows_the_scores_until_the_debug_view_is_left(files: tuple[Path, Path]) -> None:
    files[0].write_text(LEAKY, "utf-8")
    async with running(files[0], size=ROOMY, keys=("d",)) as pilot:
        assert "≋" not in drawn(pilot)
        await press(pilot, "L")
        await done(pilot)
        await press(pilot, "escape")
        assert drawn(pilot).count("≋ 100") == 1
        await press(pilot, "a")
        assert drawn(pilot).count("≋ 100") == 1
        await press(pilot, "d")
        assert "≋" not in drawn(pilot)
        assert view(pilot).session.leak_scores == {}
        await press(pilot, "d")
        assert "≋" not in drawn(pilot)


@pytest.mark.slow
async def test_a_transcript_without_leaks_says_so(files: tuple[Path, Path]) -> None:
    async with running(files[0], options=DEBUG) as pilot:
        await press(pilot, "L")
        await done(pilot)
        assert "No leaks in 1 answer." in drawn(pilot)
        assert "Paraphrases are not found." in drawn(pilot)
        await press(pilot, "L")
        assert view(pilot).host.is_current


@pytest.mark.slow
async def test_closing_the_screen_stops_its_work(files: tuple[Path, Path]) -> None:
    async with running(files[0], options=DEBUG) as pilot:
        await press(pilot, "L")
        screen = pilot.app.screen
        assert isinstance(screen, LeaksScreen)
        await press(pilot, "escape")
        await until(lambda: screen._is_closed)
        assert view(pilot).host.is_current


@pytest.mark.slow
async def test_a_task_that_ends_after_its_screen_was_closed_does_no_harm() -> None:
    async with running(keys=["at"]) as pilot:
        screen = pilot.app.screen
        assert isinstance(screen, WorkScreen)
        await until(lambda: not screen.is_working)
        await press(pilot, "escape")
        await until(lambda: not screen.children)
        screen.draw()
        assert isinstance(pilot.app.screen, MainScreen)
