"""The state file: what survives a restart, what does not, and what it never contains."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.support.leaks.laboratory import NUMBERS_ONLY
from tests.support.running import drawn, press, said, settled, type_in, view, without_rests
from tests.support.watching import FakeWatcher
from viewer.tui.app import ViewerApp, ViewOptions
from viewer.tui.settings.settings import Pane, Settings
from viewer.tui.settings.state_file import MOST_BYTES, MOST_FILES, MOST_MARKS, FileState, StateFile

TURN = (
    "<|start|>user<|message|>Question {0}?<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Secret {0}.<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Answer {0}.\n\n\n\n\n\n<|end|>\n"
)


def chat(turns: int) -> str:
    return "version: 2.2\n" + "".join(TURN.format(number) for number in range(1, turns + 1))


async def used(
    folder: Path, *keys: str, options: ViewOptions | None = None, typed: str = ""
) -> tuple[int, set[int], str]:
    """Run the app with this state folder, and return the message, the marks and the screen at the end."""
    state = StateFile(folder / "state" / "state.json")
    state.welcomed()
    app = ViewerApp([str(folder / "chat.ocml")], options, watch=FakeWatcher().watch, state=state)
    async with app.run_test(size=(150, 30)) as pilot:
        without_rests(pilot)
        await settled(pilot)
        await press(pilot, *keys)
        if typed:
            await type_in(pilot, ":", typed)
        return view(pilot).navigator.cursor.number, {*view(pilot).session.marks}, drawn(pilot) + said(pilot)


@pytest.mark.slow
async def test_marks_and_the_place_survive_a_restart_and_the_level_does_not(tmp_path: Path) -> None:
    file, state = tmp_path / "chat.ocml", tmp_path / "state" / "state.json"
    file.write_text(chat(20), "utf-8")
    await used(tmp_path, "d", "}", "m", "J", "m", typed="30")
    assert state.stat().st_mode & 0o777 == 0o600
    text = state.read_text("utf-8")
    assert NUMBERS_ONLY.fullmatch(text), text
    assert list(json.loads(text)["files"].values()) == [{"at": 30, "marks": [4, 5]}]

    at, marks, screen = await used(tmp_path)
    assert (at, marks) == (30, {4, 5})
    assert "[SAFE]" in screen and "Answer 10" in screen and "Secret" not in screen
    assert "Continued where you left off. g goes to the top." in screen
    assert (await used(tmp_path, options=ViewOptions(go_to="4")))[0] == 4

    strict = await used(tmp_path, "m", options=ViewOptions(strict=True))
    assert strict[0] == 1 and "Question 1?" in strict[2]
    file.write_text(chat(1), "utf-8")
    at, _, screen = await used(tmp_path, "g", "u")
    assert at == 1 and "No marks yet" in screen
    assert json.loads(state.read_text("utf-8")).get("files", {}) == {}


@pytest.mark.slow
async def test_hostile_state_files_yield_a_clean_start(tmp_path: Path) -> None:
    (tmp_path / "chat.ocml").write_text(chat(20), "utf-8")
    await used(tmp_path, "G")
    state = tmp_path / "state" / "state.json"
    good = state.read_text("utf-8")
    key, name = json.loads(good)["key"], next(iter(json.loads(good)["files"]))
    known = {"key": key, "files": {name: {"at": 60, "marks": [1]}}}
    for content in (
        b"", b"\xff\xfe", b"null", b"[" * 100_000, b'{"key":"../../etc"}', good.encode() + b"x" * MOST_BYTES,
        json.dumps({**known, "level": "debug"}).encode(), json.dumps({**known, "key": 1}).encode(),
        json.dumps({**known, "panes": {"outline": 10**9}}).encode(),
        json.dumps({**known, "files": {name: {"at": -1}}}).encode(),
        json.dumps({**known, "files": {name: {"at": 1, "marks": ["\x1b[2J"]}}}).encode(),
        json.dumps({**known, "files": {name: {"marks": [2**60]}}}).encode(),
        json.dumps({**known, "files": {name: {"marks": [1] * (MOST_MARKS + 1)}}}).encode(),
    ):  # fmt: skip
        state.write_bytes(content)
        assert StateFile(state).of(str(tmp_path / "chat.ocml")) == FileState(), content[:80]
        again = StateFile(state)
        again.closed("x", FileState(7))
        again.save()
        assert StateFile(state).of("x") == FileState(7), content[:80]
    state.write_text(json.dumps(known))
    assert StateFile(state).of(str(tmp_path / "chat.ocml")) == FileState(60, (1,))


def test_a_state_file_that_cannot_be_used_is_left_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "fifo", tmp_path / "folder", Path("/dev/null/state.json"), None):
        state = StateFile(path)
        state.closed("x", FileState(3))
        state.save()
        assert StateFile(path).of("x") == FileState(), path
    assert not StateFile(Path("/dev/null/state.json")).wants_welcome
    assert not StateFile().wants_welcome
    assert StateFile(tmp_path / "new.json").wants_welcome


def test_two_programs_share_the_file_and_it_stays_small(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    one, other = StateFile(path), StateFile(path)
    one.closed("a", FileState(5, tuple(range(1, 1000))))
    one.resized("outline", 40)
    one.save()
    other.closed("b", FileState(6))
    other.welcomed()
    other.save()
    for _ in range(2):
        both = StateFile(path)
        assert both.of("a") == FileState(5, tuple(range(1, MOST_MARKS + 1)))
        assert (both.of("b"), both.panes, both.wants_welcome) == (FileState(6), {"outline": 40}, False)
    many = StateFile(path)
    for number in range(MOST_FILES):
        many.closed(f"f{number}", FileState(1))
    many.closed("a", FileState(5))
    many.save()
    last = StateFile(path)
    assert (last.of("a"), last.of("b"), last.of("f0")) == (FileState(5), FileState(), FileState())
    assert last.of(f"f{MOST_FILES - 1}") == FileState(1)
    assert path.stat().st_size < 100_000
    assert last.of(os.path.relpath("a")) == FileState(5), "the same file by another path"


async def test_pane_sizes_survive_unless_the_settings_choose_one(tmp_path: Path) -> None:
    (tmp_path / "chat.ocml").write_text(chat(2), "utf-8")
    path = tmp_path / "state" / "state.json"
    state = StateFile(path)
    state.resized("outline", 45)
    state.resized("inspector", 50)
    state.save()
    app = ViewerApp(
        [str(tmp_path / "chat.ocml")], ViewOptions(settings=Settings(inspector=Pane(size=30))),
        watch=FakeWatcher().watch, state=StateFile(path),
    )  # fmt: skip
    async with app.run_test(size=(200, 30)) as pilot:
        without_rests(pilot)
        await settled(pilot)
        await press(pilot, "escape", "d")
        widgets = view(pilot).widgets
        assert (widgets.outline.size.width, widgets.inspector.size.width) == (43, 28)
