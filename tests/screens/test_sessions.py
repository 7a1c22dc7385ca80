"""The list of sessions in the app: groups, titles, the filter, and the way into a session and back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import drawn, press, settled, without_rests
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.main.screen import MainScreen
from viewer.tui.merged.screen import MergedScreen


def record(number: int, text: str, cwd: str) -> str:
    message = {"role": "user", "content": text}
    return json.dumps({"type": "user", "uuid": f"u{number}", "sessionId": "s", "cwd": cwd, "message": message}) + "\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "APPDATA", "INSPECT_LOG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    for name, text, cwd in (("one", "Plan a trip.", str(tmp_path)), ("two", "Mend the roof.", "/elsewhere")):
        path = tmp_path / f".claude/projects/-{name}/{name}.jsonl"
        path.parent.mkdir(parents=True)
        path.write_text(record(1, text, cwd), "utf-8")
    return tmp_path


@pytest.mark.slow
async def test_sessions_are_listed_opened_and_left(home: Path) -> None:
    app = ViewerApp([])
    async with app.run_test(size=(100, 20)) as pilot:
        without_rests(pilot)
        await settled(pilot)
        lines = [line.strip() for line in drawn(pilot).splitlines()]
        lines = [line.strip() for line in drawn(pilot).splitlines()]
        assert lines[0].startswith("sessions on this machine  2 transcripts")
        assert lines[1].split() == ["title", "agent", "turns", "problems", "size", "changed"]
        assert lines[2].startswith("── this directory")
        assert "Plan a trip." in lines[3]
        assert lines[4].startswith("── other")
        await press(pilot, "&", *"roof", "enter")
        assert "Plan a trip." not in drawn(pilot)
        await press(pilot, "enter")
        assert isinstance(app.screen, MainScreen)
        assert "Mend the roof." in drawn(pilot)
        await press(pilot, "q")
        assert "Mend the roof." in drawn(pilot) and "1 of 2 transcripts" in drawn(pilot)
        await press(pilot, "escape", "escape")
        assert "2 transcripts" in drawn(pilot) and "Press q to quit." in drawn(pilot)
        await press(pilot, "s", "k")
        assert "this directory" not in drawn(pilot)
        await press(pilot, "q")
    assert app.return_code == 0


@pytest.mark.slow
async def test_the_list_opens_over_a_file_and_returns_to_it(home: Path) -> None:
    chat = home / "chat.ocml"
    chat.write_text("version: 2.2\n\n<|start|>user<|message|>Who sings?<|end|>\n", "utf-8")
    app = ViewerApp([str(chat)])
    async with app.run_test(size=(100, 20)) as pilot:
        without_rests(pilot)
        await settled(pilot)
        first = app.screen
        await press(pilot, "colon", *"sessions", "enter")
        assert "sessions on this machine  2 transcripts" in drawn(pilot)
        await press(pilot, "enter")
        assert "Plan a trip." in drawn(pilot)
        await press(pilot, "colon", *"sessions", "enter", "q")
        assert app.screen is first and "Who sings?" in drawn(pilot)
        await press(pilot, "colon", *"sessions", "enter", "enter", "q", "q")
        assert app.screen is first and app.paths == [str(chat)]
        await press(pilot, "q")
    assert app.return_code == 0


@pytest.mark.slow
async def test_the_list_returns_to_a_file_of_a_merged_view(home: Path) -> None:
    for name in ("a", "b"):
        Path(f"{name}.jsonl").write_text(record(3, f"Paint door {name}.", str(home)), "utf-8")
    app = ViewerApp(["a.jsonl", "b.jsonl"], ViewOptions(merges=True))
    async with app.run_test(size=(100, 20)) as pilot:
        without_rests(pilot)
        await settled(pilot)
        await press(pilot, "enter", "colon", *"sessions", "enter")
        await press(pilot, "enter")
        assert isinstance(app.screen, MainScreen) and "Plan a trip." in drawn(pilot)
        await press(pilot, "q")
        assert "2 transcripts" in drawn(pilot)
        await press(pilot, "q")
        assert isinstance(app.screen, MainScreen) and "Paint door a." in drawn(pilot)
        await press(pilot, "q")
        assert isinstance(app.screen, MergedScreen)
        await press(pilot, "J", "enter")
        assert isinstance(app.screen, MainScreen) and "Paint door b." in drawn(pilot)
