"""Several files merged by time: one order, a letter per file, levels, search, following, and rewrites."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.app_following import ANSWER, HEAD, QUESTION
from tests.support.program import run
from tests.support.running import SMALL, drawn, press, running, said, type_in, until, view
from viewer.tui.app import ViewOptions
from viewer.tui.keys import Scope
from viewer.tui.merged.screen import MergedScreen
from viewer.tui.settings.settings import Settings

MERGED = ViewOptions(merges=True)


def record(role: str, content: object, minute: int) -> str:
    time = f"2026-03-01T10:{minute:02}:00Z"
    message = {"id": f"m{minute}", "role": role, "content": content, "model": "claude-x"}
    return json.dumps({"type": role, "uuid": f"{role}{minute}", "timestamp": time, "message": message}) + "\n"


def session(name: str, minutes: tuple[int, int, int, int]) -> str:
    """Return a question, a call with its reply, and an answer, at these minutes."""
    ask, call, reply, answer = minutes
    use = [{"type": "tool_use", "id": f"t{call}", "name": "Water", "input": {"bed": name}}]
    result = [{"type": "tool_result", "tool_use_id": f"t{call}", "content": f"{name} is wet"}]
    return (
        record("user", f"{name} asks.", ask)
        + record("assistant", use, call)
        + record("user", result, reply)
        + record("assistant", [{"type": "text", "text": f"{name} hears."}], answer)
    )


def heads(text: str) -> list[str]:
    """Return the lines with a letter, without rules."""
    lines = (line.replace("▌", " ").split() for line in text.splitlines()[1:-2])
    return [" ".join(words[:2]) for words in lines if len(words[:1]) and words[0] in "ABC" and "─" not in words[1]]


@pytest.mark.slow
async def test_files_are_one_conversation_by_time_with_all_levels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ann.jsonl").write_text(session("Ann", (1, 2, 5, 7)), "utf-8")
    Path("ben.jsonl").write_text(session("Ben", (3, 4, 6, 9)), "utf-8")
    async with running("ann.jsonl", "ben.jsonl", options=MERGED, size=(100, 40)) as pilot:
        merged = pilot.app.screen
        assert isinstance(merged, MergedScreen)
        assert drawn(pilot).splitlines()[0].split() == ["2", "files", "by", "time", "[SAFE]"]
        assert heads(drawn(pilot)) == ["A User", "A ┄", "B User", "B ┄", "A Assistant", "B Assistant"]
        await type_in(pilot, "slash", "is wet")
        assert "no matches in what the user saw" in drawn(pilot)
        await press(pilot, "escape", "g")
        await press(pilot, "J", "J", "y")
        assert "Copied the text of #4" in str(merged._status.notice)
        assert pilot.app.clipboard == "Ann hears."
        await press(pilot, "D")
        assert heads(drawn(pilot)) == ["A User", "A ƒ", "B User", "B ƒ", "A Assistant", "B Assistant"]
        await press(pilot, "d")
        assert heads(drawn(pilot)) == ["A User", "A ƒ", "B User", "B ƒ", "A Assistant", "B Assistant"]
        await press(pilot, "K", "l")
        assert "Ben is wet" in drawn(pilot) and "[DEBUG]" in drawn(pilot)
        await type_in(pilot, "slash", "is wet")
        assert "2 matches" in drawn(pilot)
        await press(pilot, "n", "enter")
        assert view(pilot).session.display.debug and view(pilot).navigator.focused_number in (2, 3)
        assert merged.state.level == "safe", "nothing revealed stays below the open file"
        await press(pilot, "q")
        assert pilot.app.screen is merged and "[DEBUG]" in drawn(pilot)
        await press(pilot, "d", "g", "j", "3", "j", "question_mark")
        assert "Open the file at this message" in drawn(pilot) or "Open file" in drawn(pilot)
        await press(pilot, "escape", "q")
        await until(lambda: pilot.app._exit)


@pytest.mark.slow
async def test_a_followed_file_grows_at_the_end_and_a_rewritten_one_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = Path("a.ocml"), Path("b.ocml")
    a.write_text(HEAD + QUESTION, "utf-8")
    options = ViewOptions(merges=True, follow=True)
    async with running("a.ocml", "b.ocml", options=options, size=SMALL) as pilot:
        merged = pilot.app.screen
        assert isinstance(merged, MergedScreen)
        await until(lambda: "● 1 live" in drawn(pilot))
        b.write_text(HEAD + QUESTION, "utf-8")
        await until(lambda: "● 2 live" in drawn(pilot) and heads(drawn(pilot)) == ["A User", "B User"])
        with a.open("a") as file:
            file.write(ANSWER + "The first answer<|return|>\n")
        await until(lambda: heads(drawn(pilot)) == ["A User", "B User", "A Assistant"])
        await press(pilot, "K")
        assert "❚❚ paused, 2 live" in drawn(pilot)
        await press(pilot, "F")
        assert "● 2 live" in drawn(pilot)
        b.write_text(HEAD + QUESTION + ANSWER + "Another answer<|return|>\n", "utf-8")
        await until(lambda: "Another answer" in drawn(pilot))
        await press(pilot, "enter")
        await until(lambda: "● live" in drawn(pilot) and "Another answer" in drawn(pilot))
        await press(pilot, "q")
        await press(pilot, "q")
        await until(lambda: pilot.app._exit)


@pytest.mark.slow
async def test_a_finished_file_that_is_rewritten_shows_nothing_of_it_before_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = Path("a.ocml"), Path("b.ocml")
    a.write_text(HEAD + QUESTION + ANSWER + "Some words<|return|>\n", "utf-8")
    b.write_text(HEAD + QUESTION, "utf-8")
    async with running("a.ocml", "b.ocml", options=MERGED, size=SMALL) as pilot:
        assert "Some words" in drawn(pilot)
        a.write_text(HEAD + QUESTION + ANSWER.replace("final", "analysis") + "Some words<|end|>\n", "utf-8")
        await until(lambda: "Some words" not in drawn(pilot) and "1 hidden message" in drawn(pilot))


@pytest.mark.parametrize(("strict", "sealed"), [(True, False), (False, True)])
@pytest.mark.slow
async def test_a_strict_or_sealed_view_keeps_its_level(tmp_path: Path, strict: bool, sealed: bool) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(HEAD + QUESTION + ANSWER.replace("final", "analysis") + "No<|end|>\n", "utf-8")
    settings = Settings(scope=Scope.SEALED if sealed else Scope.ALL)
    options = ViewOptions(merges=True, strict=strict, sealed=sealed, settings=settings)
    async with running(tmp_path / "a", tmp_path / "b", options=options, size=SMALL) as pilot:
        for key in ("d", "D"):
            await press(pilot, key)
            assert "[SAFE]" in drawn(pilot) and ("without --" in drawn(pilot) or "--safe-only" in drawn(pilot))
        assert ("hidden" in drawn(pilot)) is not strict
        await press(pilot, "enter")
        assert view(pilot).session.display.level == "safe" and not said(pilot)


@pytest.mark.parametrize("line", [["a"], ["a", "a"], ["a", "-"], ["a", "."], ["--diff", "a", "b"]])
def test_what_cannot_be_merged_is_a_usage_error(line: list[str]) -> None:
    result = run("view", "--merge", *line)
    assert result.code == 2 and "--merge needs" in result.err
