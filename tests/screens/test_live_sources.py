"""Several followed inputs: one list with the state of each. Every input is read, and keeps its position and state."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.app_following import ANSWER, HEAD, QUESTION, chat
from tests.support.running import drawn, press, running, until, view
from viewer.document.live import LiveDocument
from viewer.render.title import FollowState
from viewer.sources.follow import FollowSource
from viewer.tui.app import ViewOptions
from viewer.tui.files.live_sources import LiveSource
from viewer.tui.files.screen import FilesScreen
from viewer.tui.main.follow import FollowTitle

FOLLOW = ViewOptions(follow=True)


def line_of(text: str, words: str) -> str:
    return next((line for line in text.splitlines() if words in line), "")


@pytest.mark.slow
async def test_each_input_is_read_and_keeps_its_place_and_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ocml").write_text(chat(30), "utf-8")
    Path("b.ocml").write_text(HEAD + QUESTION + ANSWER + "The first word", "utf-8")
    async with running("a.ocml", "b.ocml", "c.ocml", options=FOLLOW, size=(100, 30)) as pilot:
        await until(lambda: "● 2 live" in drawn(pilot))
        assert line_of(drawn(pilot), "waiting for the file  c.ocml")
        assert line_of(drawn(pilot), " named files  3 transcripts")
        await press(pilot, "enter")
        await until(lambda: "● live" in drawn(pilot) and "1 of 3, 2 live" in drawn(pilot))
        await press(pilot, "ctrl+u", "ctrl+u")
        place = view(pilot).host.viewport.place
        await until(lambda: "❚❚ paused" in drawn(pilot) and "1 of 3, 1 live" in drawn(pilot))
        Path("c.ocml").write_text(HEAD + QUESTION + ANSWER + "The third", "utf-8")
        with Path("a.ocml").open("a") as file:
            file.write(QUESTION)
        await until(lambda: "paused, 1 new" in drawn(pilot) and "1 of 3, 2 live" in drawn(pilot))
        await press(pilot, "]", "]")
        assert "The third▏" in drawn(pilot) and "3 of 3, 2 live" in drawn(pilot)
        await press(pilot, "q")
        assert isinstance(pilot.app.screen, FilesScreen)
        await until(lambda: line_of(drawn(pilot), "❚   paused, 1 new  Where is") and "● 2 live" in drawn(pilot))
        Path("b.ocml").unlink()
        await until(lambda: line_of(drawn(pilot), "✖   source lost") and "● 1 live" in drawn(pilot))
        await press(pilot, "g", "enter")
        assert view(pilot).host.viewport.place == place
        await press(pilot, "q", "q")
        assert pilot.app._exit


def test_an_input_without_a_screen_has_each_state(tmp_path: Path) -> None:
    path, now = tmp_path / "a.ocml", [0.0]

    def clock() -> float:
        return now[0]

    source = LiveSource(LiveDocument(FollowSource(str(path), clock=clock), clock=clock), 10.0)

    def read() -> FollowTitle:
        now[0] += 5.0
        while source.step():
            pass
        return source.state

    assert read() == FollowTitle(FollowState.WAITING, "waiting for the file")
    path.write_text(HEAD + QUESTION)
    assert read() == FollowTitle(FollowState.LIVE, "live")
    with path.open("a") as file:
        file.write(ANSWER + "The answer")
    assert read().state is FollowState.LIVE
    now[0] += 10.0
    assert read() == FollowTitle(FollowState.STALLED, "stalled 15 s")
    path.unlink()
    for _ in range(5):
        read()
    assert read() == FollowTitle(FollowState.LOST, "source lost, retrying")
    path.write_text(HEAD + QUESTION)
    for _ in range(5):
        read()
    assert read() == FollowTitle(FollowState.LIVE, "live")
    source.live.following.close()
