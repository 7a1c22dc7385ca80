"""The list of the transcripts in one file: when it opens, what it shows, and what it opens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.running import ROOMY, SMALL, drawn, press, running, said, type_in, until, view
from viewer.tui.app import ViewOptions
from viewer.tui.dialogs.help import HelpScreen
from viewer.tui.dialogs.transcripts import TranscriptsScreen


def rows_of(count: int, secret: str = "SECRET_SYSTEM") -> str:
    lines = []
    for number in range(1, count + 1):
        messages = [
            {"role": "system", "content": secret},
            {"role": "user", "content": f"Question {number}?"},
            {"role": "assistant", "content": f"Answer {number}."},
        ]
        lines.append(json.dumps({"messages": messages[:1] if number == 3 else messages}))
    return "\n".join(lines) + "\n"


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("many.jsonl")
    path.write_text(rows_of(30), "utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("size", [SMALL, ROOMY])
async def test_a_file_with_many_transcripts_opens_as_a_list_and_enter_opens_one(
    many: Path, size: tuple[int, int]
) -> None:
    async with running(many, size=size) as pilot:
        assert isinstance(pilot.app.screen, TranscriptsScreen)
        title, heads, *lines = drawn(pilot).splitlines()
        assert title.split() == ["many.jsonl", "30", "transcripts", "[SAFE]"]
        assert heads.split() == ["#", "first", "message", "messages", "problems"]
        assert lines[1].split() == ["2", "Question", "2?", "2", "–"]
        assert lines[2].split() == ["3", "0", "–"]
        assert "SECRET" not in drawn(pilot)
        await press(pilot, "G", "k", "enter")
        assert "transcript 29 of 30" in drawn(pilot)
        assert "Answer 29." in drawn(pilot)
        await press(pilot, "X")
        assert isinstance(pilot.app.screen, TranscriptsScreen)
        assert pilot.app.screen._list.cursor == 28
        keys = " ".join(drawn(pilot).splitlines()[-1].split())
        assert keys == "enter Open j k Move / Find in all & Filter q Back ctrl+p Commands ? Help"
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, HelpScreen)
        assert "Go to the last transcript" in drawn(pilot)
        await press(pilot, "escape", "ctrl+p", *"top", "enter")
        assert isinstance(pilot.app.screen, TranscriptsScreen)
        assert pilot.app.screen._list.cursor == 0
        await press(pilot, "ctrl+p", "ctrl+p", "G", "g", "j", "q")
        assert view(pilot).host.is_current
        assert "Answer 29." in drawn(pilot)


@pytest.mark.slow
async def test_the_list_is_searched_filtered_and_counted(many: Path) -> None:
    """A search covers the text that the view shows. Enter goes to the first match in the transcript."""
    async with running(many, size=ROOMY) as pilot:

        def numbers() -> list[str]:
            return [line.lstrip(" ▌").split()[0] for line in drawn(pilot).splitlines()[2:-2] if line.strip()]

        await press(pilot, "1", "²", "2", "G", "3", "j")
        assert "15 of 30" in drawn(pilot), "a superscript digit is not part of a count"
        await type_in(pilot, "/", "answer 1")
        await until(lambda: "11 of 30" in drawn(pilot))
        assert numbers() == ["1", *map(str, range(10, 20))]
        await press(pilot, "j", "j", "enter")
        assert "Answer 17." in drawn(pilot) and " /answer 1 " in drawn(pilot)
        assert view(pilot).navigator.focused_number == 49
        await press(pilot, "X")
        await type_in(pilot, "&", "2? question")
        await until(lambda: "3 of 30" in drawn(pilot))
        assert numbers() == ["2", "12", "22"]
        await type_in(pilot, "/", "secret_system")
        await until(lambda: "0 of 30" in drawn(pilot))
        assert "No transcript matches." in drawn(pilot)
        await press(pilot, "enter", "escape")
        assert len(numbers()) == 30
        await press(pilot, "escape")
        assert view(pilot).host.is_current


@pytest.mark.slow
@pytest.mark.slow
async def test_the_list_opens_only_for_many_transcripts_and_without_a_place(many: Path) -> None:
    few = many.with_name("few.jsonl")
    few.write_text(rows_of(8), "utf-8")
    one = many.with_name("one.jsonl")
    one.write_text(rows_of(1), "utf-8")
    for path, options in ((few, None), (one, None), (many, ViewOptions(go_to="x5"))):
        async with running(path, options=options) as pilot:
            assert view(pilot).host.is_current
            await press(pilot, "X")
            assert isinstance(pilot.app.screen, TranscriptsScreen) is (path is not one)
            assert path is not one or said(pilot) == "This file has one transcript."


@pytest.mark.slow
async def test_a_strict_list_counts_only_transcripts_that_show_something(many: Path) -> None:
    async with running(many, size=ROOMY, options=ViewOptions(strict=True)) as pilot:
        text = drawn(pilot)
        assert "29 transcripts" in text
        assert text.splitlines()[4].split()[:3] == ["3", "Question", "4?"]
        await press(pilot, "j", "j", "enter")
        assert "Answer 4." in drawn(pilot)


@pytest.mark.slow
async def test_hidden_text_of_another_length_changes_nothing_in_the_list(many: Path) -> None:
    screens = []
    for secret in ("SECRET", "SECRET " * 500):
        many.write_text(rows_of(30, secret), "utf-8")
        async with running(many, size=ROOMY) as pilot:
            screens.append(drawn(pilot))
    assert screens[0] == screens[1]


@pytest.mark.slow
@pytest.mark.slow
async def test_the_list_names_the_debug_view(many: Path) -> None:
    async with running(many, size=SMALL, keys=("q", "d", "X")) as pilot:
        assert "[DEBUG]" in drawn(pilot).splitlines()[0]
        assert drawn(pilot).splitlines()[2].split()[-2:] == ["2", "–"]
