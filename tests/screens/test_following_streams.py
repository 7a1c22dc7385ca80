"""Following pipes, FIFOs and folders: what they contain, and how they end."""

from __future__ import annotations

import asyncio
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest
from textual.pilot import Pilot

from tests.support.app_following import ANSWER, HEAD, QUESTION, Live, chat
from tests.support.running import drawn, press, running, said, settled, view
from tests.support.terminal import Terminal
from viewer.tui.app import ViewOptions
from viewer.tui.files.screen import FilesScreen
from viewer.tui.main.screen import MainScreen

FOLLOW = ViewOptions(follow=True)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[IO[bytes]]:
    """The write end of standard input."""
    reading, writing = os.pipe()
    monkeypatch.setattr("sys.stdin", os.fdopen(reading))
    with os.fdopen(writing, "wb", buffering=0) as file:
        yield file


async def shows(pilot: Pilot[int], text: str) -> str:
    """Wait until the screen contains this text and return the screen."""
    return await Live(pilot, Path()).shows(text)


class TestPipes:
    async def test_it_is_shown_while_it_grows_and_then_has_ended(self, pipe: IO[bytes]) -> None:
        async with running("-", options=FOLLOW) as pilot:
            pipe.write((HEAD + QUESTION + ANSWER + "It is").encode())
            assert "● live" in await shows(pilot, "It is▏")
            pipe.write(b" near.<|return|>\n")
            await shows(pilot, "It is near.")
            pipe.close()
            await shows(pilot, "■ ended")
            assert said(pilot) == "The pipe has ended."
            view(pilot).widgets.status.clear_notice()
            await shows(pilot, "[spooled from a pipe]")
            await press(pilot, "F")
            assert said(pilot) == "The input has ended. There is nothing to follow."

    @pytest.mark.slow
    async def test_without_the_option_it_begins_at_the_top_and_grows(self, pipe: IO[bytes]) -> None:
        async with running("-") as pilot:
            pipe.write(chat(20).encode())
            await shows(pilot, "Answer 1.")
            await shows(pilot, "❚❚ paused")
            await press(pilot, "F")
            assert "● live" in drawn(pilot) and "Answer 20." in drawn(pilot)
            await press(pilot, "F")
            assert "❚❚ paused" in drawn(pilot)

    async def test_the_end_of_a_stream_is_an_error_in_an_open_message(self, pipe: IO[bytes]) -> None:
        async with running("-", options=FOLLOW) as pilot:
            pipe.write((HEAD + QUESTION + ANSWER + "It is").encode())
            await shows(pilot, "It is▏")
            pipe.close()
            assert "✖ The transcript is incomplete." in await shows(pilot, "■ ended")

    @pytest.mark.slow
    async def test_compressed(self, pipe: IO[bytes]) -> None:
        data = gzip.compress(chat(3).encode())
        async with running("-", options=FOLLOW) as pilot:
            for at in range(0, len(data), 5):
                pipe.write(data[at : at + 5])
                await asyncio.sleep(0.002)
            await shows(pilot, "Answer 3.")
            pipe.close()
            await shows(pilot, "■ ended")
            view(pilot).widgets.status.clear_notice()
            await shows(pilot, "[spooled from a pipe, gzip, 1:")

    @pytest.mark.slow
    async def test_writers_of_a_fifo_may_come_and_go(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        async with running(path) as pilot:
            for text, words in (
                (HEAD + QUESTION, "umbrella shop"),
                (ANSWER + "It is", "It is"),
                (" near.<|return|>", "It is near."),
            ):
                with path.open("wb", buffering=0) as file:
                    file.write(text.encode())
                assert "ended" not in await shows(pilot, words)


class TestFolders:
    @pytest.fixture
    def runs(self, tmp_path: Path) -> Path:
        folder = tmp_path / "runs"
        folder.mkdir()
        for age, name in enumerate(("new", "older", "oldest")):
            (folder / f"{name}.ocml").write_text(HEAD + QUESTION + ANSWER + f"This is {name}.")
            os.utime(folder / f"{name}.ocml", (1_700_000_000 - age,) * 2)
        return folder

    @pytest.mark.slow
    async def test_the_newest_is_followed_and_the_others_are_in_the_list(self, runs: Path) -> None:
        async with running(runs, options=FOLLOW) as pilot:
            assert "● live" in await shows(pilot, "This is new.▏")
            with (runs / "new.ocml").open("a") as file:
                file.write(" It grows.")
            await shows(pilot, "It grows.▏")
            await press(pilot, "]")
            assert "This is older." in drawn(pilot)
            await press(pilot, "q")
            assert isinstance(pilot.app.screen, FilesScreen)
            await shows_files(pilot, "3 transcripts")

    @pytest.mark.slow
    async def test_a_newer_file_takes_its_place(self, runs: Path) -> None:
        async with running(runs, options=FOLLOW) as pilot:
            await shows(pilot, "This is new.▏")
            (runs / "newest.ocml").write_text(HEAD + QUESTION + ANSWER + "This is the newest.")
            await shows(pilot, "This is the newest.▏")
            assert view(pilot).session.document.name.endswith("newest.ocml")
            await Live(pilot, runs).until(lambda: said(pilot) == "Newer transcript: newest.ocml.")

    @pytest.mark.slow
    async def test_unless_the_reader_is_away_from_the_end(self, runs: Path) -> None:
        async with running(runs, options=FOLLOW) as pilot:
            await shows(pilot, "This is new.▏")
            await press(pilot, "K")
            (runs / "newest.ocml").write_text(HEAD + QUESTION)
            await Live(pilot, runs).until(
                lambda: said(pilot) == "New transcript: newest.ocml. Press [ or ] to go to it."
            )
            assert len(view(pilot).program.files) == 4

    @pytest.mark.slow
    async def test_an_empty_folder_is_watched(self, tmp_path: Path) -> None:
        async with running(tmp_path, options=FOLLOW) as pilot:
            assert isinstance(pilot.app.screen, FilesScreen)
            (tmp_path / "first.ocml").write_text(HEAD + QUESTION + ANSWER + "The first.")
            async with asyncio.timeout(30):
                while not (isinstance(pilot.app.screen, MainScreen) and pilot.app.screen.is_mounted):
                    await asyncio.sleep(0.02)
            await shows(pilot, "The first.▏")

    @pytest.mark.slow
    async def test_new_files_appear_in_a_folder_that_is_not_followed(self, runs: Path) -> None:
        async with running(runs) as pilot:
            await shows_files(pilot, "3 transcripts")
            (runs / "another.ocml").write_text(HEAD + QUESTION)
            await shows_files(pilot, "4 transcripts")
            await press(pilot, "enter")
            await settled(pilot)
            (runs / "late.ocml").write_text(HEAD + QUESTION)
            await Live(pilot, runs).until(lambda: "late.ocml" in said(pilot))


async def shows_files(pilot: Pilot[int], text: str) -> None:
    """Wait until the list of files contains this text."""
    end = asyncio.get_running_loop().time() + 30
    while text not in drawn(pilot):
        assert asyncio.get_running_loop().time() < end, drawn(pilot)
        await asyncio.sleep(0.02)


class TestProgram:
    @pytest.mark.slow
    def test_a_missing_file_is_awaited(self, tmp_path: Path) -> None:
        path = tmp_path / "run.ocml"
        terminal = Terminal(["-f", path])
        terminal.wait_for("waiting for the file")
        path.write_text(HEAD + QUESTION + ANSWER + "It is near.")
        terminal.wait_for("It is near.▏")
        terminal.press("q")
        assert terminal.end() == 0

    @pytest.mark.slow
    def test_without_the_option_a_missing_file_is_an_error(self, tmp_path: Path) -> None:
        terminal = Terminal([tmp_path / "run.ocml"])
        assert terminal.end() == 2
        assert "no such file: " in terminal.text()

    @pytest.mark.slow
    def test_keys_come_from_the_terminal_if_text_comes_through_a_pipe(self, tmp_path: Path) -> None:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        script = f"import os, sys; os.dup2(os.open({str(path)!r}, os.O_RDONLY), 0); from viewer.cli import main; main()"
        terminal = Terminal(["-f", "-"], script=script)
        with path.open("wb", buffering=0) as file:
            file.write((HEAD + QUESTION + ANSWER + "It is near.").encode())
            terminal.wait_for("It is near.▏")
            terminal.press("d")
            terminal.wait_for("[DEBUG]")
        terminal.wait_for("■ ended")
        terminal.press("q")
        assert terminal.end() == 0
