"""Keys that come faster than screens: each reaches the screen that the keys before it open, and nothing crashes."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from pathlib import Path
from random import Random

import pytest
from textual.screen import Screen

from tests.support.bursts import MANY, STARTS, press_of, send, session, stress, write_files
from tests.support.leaks.planted import everything
from tests.support.running import drawn, running, settled
from viewer.sources.folder import Found, found_file
from viewer.tui.app import ViewOptions
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.transcripts import TranscriptsScreen
from viewer.tui.files import listing
from viewer.tui.files.listing import FileListing
from viewer.tui.files.screen import FilesScreen
from viewer.tui.keys import Scope
from viewer.tui.main.screen import MainScreen
from viewer.tui.settings.settings import Settings

SEALED = ViewOptions(sealed=True, settings=Settings(scope=Scope.SERVED_SAFE))
BURSTS = 15
SECONDS = float(os.environ.get("OCML_LAB_SECONDS", "120"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(MANY.partition("<|return|>")[0].encode())
    return tmp_path


@pytest.mark.slow
async def test_each_key_of_a_burst_reaches_the_screen_that_the_keys_before_it_open(folder: Path) -> None:
    async def shown(*keys: str) -> list[type[Screen[object]]]:
        send(app, *map(press_of, keys))
        await settled(pilot)
        return [type(each) for each in app.screen_stack[1:]]

    Path("many.ocml").unlink()
    async with running(folder, options=SEALED) as pilot:
        app = pilot.app
        assert await shown("enter") == [MainScreen]
        assert await shown("q", "question_mark") == [FilesScreen, HelpScreen]
        assert await shown("escape", "2", "G", "enter", "slash") == [MainScreen]
        assert "/" in drawn(pilot).splitlines()[-2]
        assert await shown("escape", "right_square_bracket", "question_mark") == [MainScreen, HelpScreen]
        assert await shown("escape", "q", "slash", "x") == [FilesScreen]
        assert "/x" in drawn(pilot)
        assert await shown("escape", "enter") == [MainScreen]
        send(app, press_of("q"), press_of("q"))
        await settled(pilot)
        assert app._exit and app._exception is None


@pytest.mark.slow
async def test_leaving_a_file_closes_the_dialogs_over_it(folder: Path) -> None:
    Path("many.ocml").unlink()
    async with running(folder, options=SEALED, keys=["enter"]) as pilot:
        main = pilot.app.screen
        assert isinstance(main, MainScreen)
        main.program.leave()
        main.program.open_help()
        main.program.next_file()
        await settled(pilot)
        assert [type(each) for each in pilot.app.screen_stack[1:]] == [FilesScreen]
        assert not main.is_attached
        main.program.leave()
        await settled(pilot)
        assert [type(each) for each in pilot.app.screen_stack[1:]] == [FilesScreen]


@pytest.mark.slow
async def test_a_list_of_transcripts_that_comes_late_is_closed_with_its_file(folder: Path) -> None:
    async with running("many.ocml", "one.ocml", options=SEALED) as pilot:
        await settled(pilot)
        if isinstance(pilot.app.screen, FilesScreen):
            send(pilot.app, press_of("enter"))
            await settled(pilot)
        main = next(each for each in pilot.app.screen_stack if isinstance(each, MainScreen))
        assert isinstance(pilot.app.screen, TranscriptsScreen)
        main.program.next_file()
        await settled(pilot)
        assert [type(each) for each in pilot.app.screen_stack[1:]] == [MainScreen]
        assert pilot.app.screen_stack[1] is not main


def test_two_threads_list_a_folder_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, goes_on = threading.Event(), threading.Event()

    def slow(path: str, name: str) -> Found | None:
        entered.set()
        assert goes_on.wait(10)
        return found_file(path, name)

    (tmp_path / "a.ocml").write_text("version: 2.2\n")
    monkeypatch.setattr(listing, "found_file", slow)
    shared, faults = FileListing(None, [str(tmp_path / "a.ocml")]), []

    def list_all() -> None:
        try:
            while shared.list_some(1):
                pass
        except ValueError as error:
            faults.append(error)

    threads = [threading.Thread(target=list_all) for _ in range(2)]
    for thread in threads:
        thread.start()
        assert entered.wait(10)
    goes_on.set()
    for thread in threads:
        thread.join()
    assert not faults and [entry.name for entry in shared.entries] == ["a.ocml"]


@pytest.mark.slow
@pytest.mark.parametrize("is_sealed", [True, False])
async def test_bursts_of_input_crash_nothing(is_sealed: bool, folder: Path) -> None:
    chance = Random(1)
    write_files(everything("openchatml-2.2").data)
    start = "a folder" if is_sealed else "many transcripts"
    assert await session(chance, start, is_sealed=is_sealed, bursts=BURSTS) == ""


@pytest.mark.lab
@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony", "json"])
def test_bursts_under_stress_crash_nothing(format: str, folder: Path) -> None:
    deadline, seed = time.monotonic() + SECONDS, 0
    data = everything(format).data
    while time.monotonic() < deadline:
        seed += 1
        chance = Random(seed)
        for left in folder.iterdir():
            left.unlink()
        write_files(data)
        start, is_sealed = chance.choice([*STARTS]), chance.random() < 0.5
        with stress(chance):
            report = asyncio.run(session(chance, start, is_sealed=is_sealed, bursts=chance.choice([10, 50, 200])))
        assert report == "", (seed, start, is_sealed)
