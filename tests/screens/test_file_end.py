"""The end of a big file appears before everything before it has been read."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.screens.test_reading import ANSWER, HEAD, TURNS, press_at_once
from tests.support.native import needs_native
from tests.support.running import drawn, settled, until, view
from viewer.document import document
from viewer.model.visibility import Reveal
from viewer.scan import end_proof
from viewer.sources.guarded_file import GuardedFile
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.dialogs.file_end import NOTE, FileEndScreen
from viewer.tui.files import early_proof
from viewer.tui.files import end as file_end
from viewer.tui.main import file_end as controller
from viewer.tui.main import read_worker as reading

CALL = (
    "<|start|>assistant to=functions.look call_id=c1<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"
    "<|start|>tool name=functions.look to=assistant call_id=c1<|channel|>commentary<|message|>SECRET_REPLY<|end|>\n"
)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read a few messages per slice, and prove the end of small files, too."""
    monkeypatch.setattr(document, "PARSED_AT_ONCE", 400)
    monkeypatch.setattr(reading, "READ_FIRST", 400)
    monkeypatch.setattr(file_end, "LEAST_END", 2000)
    monkeypatch.setattr(file_end, "ROWS", 10)
    monkeypatch.setattr(controller, "LEAST", 0)


def opened(tmp_path: Path, tail: str = "", revealed: frozenset[Reveal] = frozenset()) -> ViewerApp:
    path = tmp_path / "long.ocml"
    path.write_text(HEAD + TURNS + tail, "utf-8")
    return ViewerApp([str(path)], ViewOptions(revealed=revealed))


async def end_of(pilot: Pilot[int]) -> FileEndScreen:
    """Press the key for the end and wait for the screen. Nothing is read until it appears."""
    await until(lambda: len(view(pilot).session.rows) > 3)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(reading.ReadWorker, "_read_some", lambda worker, size: None)
        await press_at_once(pilot, "G")
        await until(
            lambda: isinstance(pilot.app.screen, FileEndScreen) and len(pilot.app.screen.transcript.rows_on_screen) > 0,
        )
    assert isinstance(pilot.app.screen, FileEndScreen)
    return pilot.app.screen


@pytest.mark.usefixtures("slowly")
async def test_the_end_appears_early_and_the_view_is_there_when_everything_is_read(tmp_path: Path) -> None:
    async with opened(tmp_path, CALL + ANSWER).run_test(size=(100, 20)) as pilot:
        screen = await end_of(pilot)
        shown = drawn(pilot)
        assert not view(pilot).session.document.is_read
        assert "An answer." in shown
        assert "2 hidden messages" in shown
        assert NOTE[:30] in shown
        assert "SECRET" not in shown
        assert "#" not in shown
        screen.transcript.move(-10_000)
        assert screen.transcript.place == (0, 0)
        await settled(pilot)
        assert pilot.app.screen is not screen
        assert view(pilot).navigator.focused_number == 803
        assert view(pilot).host.viewport.is_at_end


@pytest.mark.usefixtures("slowly")
async def test_nothing_is_read_between_the_proof_and_the_first_frame_of_the_end(tmp_path: Path) -> None:
    async with opened(tmp_path, ANSWER).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 3)
        read = reading.ReadWorker._read_some
        early: list[bool] = []

        def noted(worker: reading.ReadWorker, size: int) -> None:
            screen = pilot.app.screen
            early.append(isinstance(screen, FileEndScreen) and not screen.is_drawn.is_set())
            read(worker, size)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(reading.ReadWorker, "_read_some", noted)
            await press_at_once(pilot, "G")
            await until(lambda: isinstance(pilot.app.screen, FileEndScreen) and pilot.app.screen.is_drawn.is_set())
            await until(lambda: not view(pilot).navigator.waits_for_end)
        assert early
        assert not any(early)


@pytest.mark.usefixtures("slowly")
async def test_the_debug_view_has_no_numbers_yet_and_another_key_returns(tmp_path: Path) -> None:
    async with opened(tmp_path, CALL + ANSWER, frozenset({Reveal.ALL})).run_test(size=(100, 20)) as pilot:
        await end_of(pilot)
        shown = drawn(pilot)
        assert "functions.look" in shown or "look" in shown
        assert "seen" in shown
        assert "#8" not in shown
        assert "turn" not in shown
        await press_at_once(pilot, "d")
        await until(lambda: not isinstance(pilot.app.screen, FileEndScreen))
        assert not view(pilot).session.display.debug
        assert not view(pilot).session.document.is_read
        assert not view(pilot).navigator.waits_for_end


@pytest.mark.usefixtures("slowly")
async def test_the_view_still_waits_for_the_end_when_a_height_is_corrected(tmp_path: Path) -> None:
    async with opened(tmp_path).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 3)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(reading.ReadWorker, "_read_some", lambda worker, size: None)
            patched.setattr(controller.EndController, "offer", lambda end: asyncio.sleep(0))
            await press_at_once(pilot, "G")
            await until(lambda: view(pilot).navigator.waits_for_end)
            scroller = view(pilot).widgets.transcript.scroller
            scroller.line -= 1
            assert view(pilot).navigator.waits_for_end
            scroller.place_again(scroller.row, scroller.line - 1, 0, 10)
            assert view(pilot).navigator.waits_for_end
            await press_at_once(pilot, "k")
            await until(lambda: not view(pilot).navigator.waits_for_end)


@pytest.mark.usefixtures("slowly")
async def test_an_end_in_an_open_literal_block_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_proof, "MOST_TAIL", 3000)
    open_block = "<|start|>user<|message|><|literal|>quoted\n"
    async with opened(tmp_path, open_block + TURNS[:4000]).run_test(size=(100, 20)) as pilot:
        await until(lambda: len(view(pilot).session.rows) > 3)
        await press_at_once(pilot, "G")
        seen = []
        while not view(pilot).session.document.is_read:
            seen.append(isinstance(pilot.app.screen, FileEndScreen))
            await asyncio.sleep(0)
        assert not any(seen)
        assert view(pilot).navigator.focused_number == 801


@pytest.mark.usefixtures("slowly")
async def test_a_file_that_changes_during_the_proof_waits(tmp_path: Path) -> None:
    app = opened(tmp_path)
    prove = end_proof.EndProof.step

    def step(proof: end_proof.EndProof, each: end_proof.Each = map) -> None:
        with (tmp_path / "long.ocml").open("ab") as file:
            file.write(b"\n")
        prove(proof, each)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(end_proof.EndProof, "step", step)
        async with app.run_test(size=(100, 20)) as pilot:
            await until(lambda: len(view(pilot).session.rows) > 3)
            await press_at_once(pilot, "G")
            while not view(pilot).session.document.is_read:
                assert not isinstance(pilot.app.screen, FileEndScreen)
                await asyncio.sleep(0)


@needs_native
@pytest.mark.parametrize("change", ["none", "appended", "rewritten", "replaced", "small", "missing"])
def test_an_early_proof_is_used_only_for_the_same_unchanged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    path, text = tmp_path / "long.ocml", (HEAD + TURNS).encode()
    path.write_bytes(text)
    os.utime(path, (1, 1))
    time.sleep(0.03)  # until the stamp is old enough to prove something
    monkeypatch.setattr(early_proof, "LEAST", len(text) + (change == "small"))
    early = early_proof.EarlyProof()
    early.begin(str(path) if change != "missing" else str(tmp_path / "other"))
    match change:
        case "appended":
            path.write_bytes(text + b"\n")
        case "rewritten":
            path.write_bytes(text.replace(b"a", b"b"))
            os.utime(path, (1, 1))
        case "replaced":
            (tmp_path / "new").write_bytes(text)
            (tmp_path / "new").replace(path)
    with path.open("rb") as file:
        taken = early.take(GuardedFile(os.dup(file.fileno())), lambda: True)
    assert (taken is not None) is (change == "none")
    if taken is not None:
        assert taken.is_complete
        assert list(taken.starts(2000))


@needs_native
@pytest.mark.usefixtures("slowly")
async def test_the_end_of_an_early_proof_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(tmp_path, ANSWER)
    time.sleep(0.03)
    monkeypatch.setattr(early_proof, "LEAST", 0)
    early_proof.EARLY_PROOF.begin(app.paths[0])
    async with app.run_test(size=(100, 20)) as pilot:
        await end_of(pilot)
        assert "An answer." in drawn(pilot)
