"""While an input is read, keys work immediately, and requested positions refer to the whole input."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.events import Key
from textual.pilot import Pilot

from tests.support.leaks.rewriting import tick
from tests.support.running import SMALL, drawn, holds_key, press, running, said, settled, type_in, until, view
from viewer.document import document, one_reading
from viewer.document.backend import PLAIN, Backend
from viewer.document.document import Document
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.frames import Frames
from viewer.tui.main import read_worker as reading
from viewer.tui.main import screen_host
from viewer.tui.terminal.key_names import character

HEAD = "version: 2.2\n"
ANSWER = "<|start|>assistant<|channel|>final<|message|>An answer.<|return|>\n"
TURNS = "".join(f"<|start|>user<|message|>Question {number:03}<|end|>\n{ANSWER}" for number in range(1, 401))
ODD = "<|start|>assistant<|channel|>final<|message|>The\u200b end.<|return|>\n"


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few messages per slice and draw everything after each."""
    monkeypatch.setattr(document, "PARSED_AT_ONCE", 400)
    monkeypatch.setattr(document, "CHECKED_AT_ONCE", 2000)
    monkeypatch.setattr(reading, "READ_FIRST", 400)
    monkeypatch.setattr(reading, "DRAW_AGAIN_SECONDS", 0.0)
    monkeypatch.setattr(reading, "DRAW_SHARE", 0)
    monkeypatch.setattr(reading, "LOOK_AGAIN_SECONDS", 0.0)


def opened(tmp_path: Path, go_to: str = "") -> ViewerApp:
    path = tmp_path / "long.ocml"
    path.write_text(HEAD + TURNS + ODD, "utf-8")
    return ViewerApp([str(path)], ViewOptions(go_to=go_to))


@pytest.mark.slow
async def test_the_screen_is_painted_before_other_modules_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def load() -> Backend:
        seen.append("\n".join(strip.text for strip in app.screen._compositor.render_strips()))
        return Backend("loaded", PLAIN.columns, None)

    monkeypatch.setattr(one_reading, "BIG", 0)
    monkeypatch.setattr(one_reading, "load_backend", load)
    app = opened(tmp_path)
    async with app.run_test(size=(100, 20)) as pilot:
        await until(lambda: view(pilot).session.document.is_complete, pause=0)
    assert len(seen) == 1
    assert "User" in seen[0]


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_an_early_jump_to_the_end_reaches_the_final_end(tmp_path: Path) -> None:
    async with opened(tmp_path).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 3, pause=0)
        await press_at_once(pilot, "G")
        assert not view(pilot).session.document.is_read
        await settled(pilot)
        assert view(pilot).navigator.focused_number == 801
        assert "The" in drawn(pilot)


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_a_reader_who_moves_in_the_meantime_stays_there(tmp_path: Path) -> None:
    async with opened(tmp_path).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 30, pause=0)
        await press_at_once(pilot, "G", "K", "K", "K")
        assert not view(pilot).session.document.is_read
        stood = view(pilot).navigator.focused_number
        await settled(pilot)
        assert view(pilot).navigator.focused_number == stood < 100


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
@pytest.mark.parametrize(("place", "number", "early"), [("20", 20, True), ("t250", 499, False), ("50%", 401, False)])
async def test_the_start_place_is_shown_as_soon_as_it_is_known(
    place: str, number: int, early: bool, tmp_path: Path
) -> None:
    async with opened(tmp_path, place).run_test(size=(100, 20)) as pilot:
        await until(lambda: view(pilot).navigator.focused_number == number, pause=0)
        assert view(pilot).session.document.is_read is not early
        assert not view(pilot).session.document.is_complete
        await settled(pilot)
        assert view(pilot).navigator.focused_number == number


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_visible_messages_are_checked_ahead_of_their_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_reading, "BIG", 0)
    monkeypatch.setattr(one_reading, "WORTH_SCANNING", 0)
    async with opened(tmp_path).run_test(size=(100, 30)) as pilot:
        await until(lambda: view(pilot).session.document.is_read, pause=0)
        await press_at_once(pilot, "G")
        await until(lambda: "⚠ A message contains invisible characters" in drawn(pilot), pause=0)
        assert not view(pilot).session.document.is_complete
        assert view(pilot).session.diagnostics.severities["warning"] == 0
        await settled(pilot)
        assert view(pilot).session.diagnostics.severities["warning"] == 1
        assert drawn(pilot).count("⚠ A message contains invisible characters") == 1


async def press_at_once(pilot: Pilot[int], *keys: str) -> None:
    """Press keys without waiting for the reader."""
    driver = pilot.app._driver
    assert driver is not None
    for key in keys:
        event = Key(key, character(key))
        event.set_sender(pilot.app)
        driver.send_message(event)
    for _ in range(12):
        await asyncio.sleep(0)
    while holds_key(pilot):
        await asyncio.sleep(0)


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_keys_wait_for_few_steps_of_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    read_some = Document.read_some

    def counted(self: Document, size: int) -> None:
        steps.append(size)
        read_some(self, size)

    monkeypatch.setattr(Document, "read_some", counted)
    monkeypatch.setattr(screen_host, "TYPING_SECONDS", 1000.0)  # however slowly the keys are handled
    async with opened(tmp_path).run_test(size=(80, 24)) as pilot:
        await until(lambda: len(steps) > 10, pause=0)
        before, driver = len(steps), pilot.app._driver
        assert driver is not None
        for number in range(1, 11):
            event = Key("J", "J")
            event.set_sender(pilot.app)
            driver.send_message(event)
            await until(lambda number=number: view(pilot).widgets.transcript.focus_number == number, pause=0)  # type: ignore[misc]
        assert not view(pilot).session.document.is_complete
        assert len(steps) - before < 2 * 10
        await settled(pilot)


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_the_end_is_drawn_as_soon_as_it_has_been_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LOOK_AGAIN_SECONDS", 1000.0)
    async with opened(tmp_path).run_test(size=(80, 24)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 1, pause=0)
        view(pilot).navigator.bottom()
        await until(lambda: view(pilot).session.document.is_read, pause=0)
        assert not view(pilot).session.document.is_complete
        assert view(pilot).navigator.focused_number == view(pilot).session.document.message_count
        await settled(pilot)


class TestARewriteOfAFileThatNobodyReads:
    @pytest.mark.share(quick=0)
    @pytest.mark.parametrize("other", ["Answer 002", "Other"])
    async def test_is_noticed_and_shown(self, tmp_path: Path, other: str) -> None:
        path = tmp_path / "plan.ocml"
        path.write_text(HEAD + TURNS, "utf-8")
        async with running(path, size=SMALL, keys=["d", "G"]) as pilot:
            await press(pilot, "g")
            path.write_text(HEAD + TURNS.replace("Question 300", other) + ANSWER, "utf-8")
            tick(tmp_path)
            view(pilot).reader.check_for_rewrite()
            await settled(pilot)
            assert said(pilot) == "The file was rewritten; reading again."
            assert view(pilot).session.document.message_count == 801
            await type_in(pilot, "/", other)
            searcher = view(pilot).search.searcher
            assert searcher is not None and searcher.matches.total == 1

    @pytest.mark.slow
    async def test_is_not_growth(self, tmp_path: Path) -> None:
        path = tmp_path / "plan.ocml"
        path.write_text(HEAD + TURNS, "utf-8")
        async with running(path, size=SMALL) as pilot:
            with path.open("a") as file:
                file.write(ANSWER)
            tick(tmp_path)
            view(pilot).reader.check_for_rewrite()
            await settled(pilot)
            assert (said(pilot), view(pilot).session.document.message_count) == ("", 800)


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_the_error_key_waits_for_the_check_and_says_nothing_before_it(tmp_path: Path) -> None:
    bad = "<|start|>assistant<|channel|>anaylsis<|message|>Hm.<|end|>\n"
    path = tmp_path / "late.ocml"
    path.write_text(HEAD + TURNS[: len(TURNS) // 4] + bad + TURNS[:2000] + bad + ANSWER, "utf-8")
    async with ViewerApp([str(path)]).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 3, pause=0)
        await press_at_once(pilot, "e", "e")
        assert not view(pilot).session.document.is_checked
        assert said(pilot) == "Still checking. The next error will be shown when it is found."
        await settled(pilot)
        errors = [one.message for one in view(pilot).session.diagnostics if one.severity == "error"]
        assert len(errors) > 1
        assert view(pilot).navigator.cursor.number == errors[1]
        assert "Continued" not in drawn(pilot)


@pytest.mark.slow
@pytest.mark.usefixtures("slowly")
async def test_a_reader_who_moves_cancels_a_jump_to_an_unknown_error(tmp_path: Path) -> None:
    path = tmp_path / "late.ocml"
    path.write_text(HEAD + TURNS[:4000] + "<|start|>assistant<|channel|>anaylsis<|message|>Hm.<|end|>\n", "utf-8")
    async with ViewerApp([str(path)]).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 30, pause=0)
        await press_at_once(pilot, "e", "J", "J")
        assert not view(pilot).session.document.is_checked
        stood = view(pilot).navigator.cursor
        await settled(pilot)
        assert view(pilot).navigator.cursor == stood


async def test_what_the_first_frame_left_out_is_painted_before_more_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as pilot:
        screen = view(pilot)

        async def drawn_in_part(frames: Frames) -> None:
            screen.refresh()

        monkeypatch.setattr(Frames, "wait", drawn_in_part)
        await screen.host.first_frame()
        assert not screen._repaint_required
        assert not screen._dirty_widgets
