"""Commands after `:`: positions, commands with completion, and every action by its id."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.running import SMALL, drawn, press, running, said, settled, type_in, until, view
from viewer.rules import RULES
from viewer.tui.app import ViewOptions
from viewer.tui.control.commands import COMMANDS, NO_COMMANDS
from viewer.tui.keys import ACTIONS


@pytest.mark.slow
async def test_the_box_offers_completions_and_tab_takes_the_first() -> None:
    async with running(size=(80, 24), keys=["colon", *"exp"]) as pilot:
        text = drawn(pilot)
        assert "│ :explain CODE  explain a problem" in text
        assert "│ :export FILE   write this view to a file" in text
        assert text.splitlines()[-2].startswith(" :exp ")
        assert text.splitlines()[-2].endswith("tab complete · enter run · esc cancel")
        assert text.splitlines()[0].endswith("[SAFE]")
        await press(pilot, "l", "tab", *"E-TOOL-T", "tab", "enter")
        text = drawn(pilot)
        assert "╭" not in text and "━ ▸E-TOOL-TIMEOUT ━" in text
        rule = RULES["E-TOOL-TIMEOUT"]
        words = " ".join(text.replace("┃", " ").split())
        assert f"{rule.safe} {rule.advice} {rule.section}" in words
        assert rule.title not in words
        await press(pilot, "escape", "d")
        view(pilot).commands.run("explain e-tool-timeout")
        await press(pilot)
        assert rule.title in drawn(pilot)


@pytest.mark.slow
async def test_commands_and_mistakes() -> None:
    async with running() as pilot:
        for typed, answer in (
            ("explain", ":explain needs an argument: CODE."),
            ("exprot", "Unknown command or position: exprot. Did you mean :export?"),
            ("explain X", "Unknown code: X. Press tab after :explain to list the codes."),
            ("theme nope", "Unknown theme: nope. :theme lists the themes."),
            ("level all", "Unknown level: use safe, brief, or debug."),
            ("zzzz", "Unknown command or position: zzzz. Type a message (12)"),
        ):
            await type_in(pilot, ":", typed)
            assert said(pilot).startswith(answer), typed
        await type_in(pilot, ":", "theme light")
        assert pilot.app.theme == "viewer-light"
        await type_in(pilot, ":", "outline")
        assert view(pilot).widgets.outline.display
        await type_in(pilot, ":", "level debug")
        assert view(pilot).session.display.debug
        await type_in(pilot, ":", "level brief")
        assert view(pilot).session.display.level == "brief"
        await type_in(pilot, ":", "level safe")
        assert view(pilot).session.display.level == "safe"
        assert not view(pilot).session.display.debug


async def test_only_the_level_reveals() -> None:
    async with running() as pilot:
        await type_in(pilot, ":", "debug")
        assert not view(pilot).session.display.debug
        assert said(pilot).startswith("Unknown command or position: debug.")


@pytest.mark.slow
async def test_another_file_opens(tmp_path: Path) -> None:
    other = tmp_path / "other.ocml"
    other.write_text("version: 2.2\n<|start|>user<|message|>Other<|end|>\n")
    async with running() as pilot:
        view(pilot).commands.run(f"open {other}")
        await press(pilot)
        assert drawn(pilot).splitlines()[0].startswith(" other.ocml")
        view(pilot).commands.run("open /nowhere")
        await press(pilot)
        assert drawn(pilot).splitlines()[0].startswith(" other.ocml")


def test_every_action_is_a_command_unless_it_is_listed() -> None:
    names = {command.name for command in COMMANDS}
    ids = {action.id.replace("_", "-") for action in ACTIONS if action.id not in NO_COMMANDS}
    assert len(names) == len(COMMANDS)
    assert names.isdisjoint(ids - {"export", "filter", "theme"})


@pytest.mark.slow
async def test_the_file_is_read_as_another_format(tmp_path: Path) -> None:
    """The level does not change, reading starts over, and only the name of a known format is accepted."""
    path = tmp_path / "chat.txt"
    path.write_text("<|start|>user<|message|>Hi <|literal|>there<|endliteral|><|end|>\n", "utf-8")
    async with running(path, size=SMALL, keys=("d",)) as pilot:
        await type_in(pilot, ":", "format harmonie")
        assert said(pilot) == "Unknown format: harmonie. Did you mean harmony?"
        await type_in(pilot, ":", "format harmony")
        await until(lambda: view(pilot).session.document.detection.format == "harmony")
        await settled(pilot)
        assert said(pilot) == "Read as harmony."
        assert "[DEBUG]" in drawn(pilot) and "Hi <|literal|>there" in drawn(pilot)
        await type_in(pilot, ":", "format openchatml-2.2")
        await settled(pilot)
        assert "Hi there" in drawn(pilot)
        assert len(pilot.app._installed_screens) == 1
    notes = tmp_path / "run.json"
    notes.write_text('{"results": [1], "config": {}, "we ird": 1}', "utf-8")
    async with running(notes, size=SMALL) as pilot:
        assert "✖ run.json is not a transcript that ocmlview recognizes." in drawn(pilot)
        assert "It is JSON with the top-level keys: results, config." in drawn(pilot)
    async with running(notes, size=SMALL, options=ViewOptions(strict=True)) as pilot:
        assert "It is JSON." in drawn(pilot) and "results" not in drawn(pilot)


@pytest.mark.slow
async def test_a_filter_is_offered_completed_and_kept_open_at_a_fault() -> None:
    """An empty prompt offers the message under the cursor. The offered values are the tools that the level shows."""
    async with running(keys=("d",)) as pilot:
        await type_in(pilot, ":", "12")
        await press(pilot, "&")
        assert [offer.text for offer in view(pilot).widgets.completion._offers] == [
            "tool:get_weather", "turn:2", "role:assistant",
        ]  # fmt: skip
        await press(pilot, "tab", "enter")
        await settled(pilot)
        assert "tool:get_weather" in drawn(pilot) and view(pilot).filter.is_active
        await press(pilot, "escape", "&", *"tool:book", "tab", "enter")
        await settled(pilot)
        assert "tool:book_table" in drawn(pilot) and view(pilot).filter.is_active
        await press(pilot, "G", "escape")
        number, line = view(pilot).navigator.focused_number, drawn(pilot)
        assert number >= 29 and f"#{number}" in line  # the position does not change
        await press(pilot, "&", *"tool:", "enter")
        assert view(pilot).widgets.prompt.is_asking and "lacks a value" in drawn(pilot)
        await press(pilot, *"get_weather", "enter")
        await settled(pilot)
        assert view(pilot).filter.is_active
        await press(pilot, "d", "g", "J", "&")
        assert [offer.text for offer in view(pilot).widgets.completion._offers] == ["turn:1", "role:assistant"]
        await press(pilot, *"t")
        assert [offer.text for offer in view(pilot).widgets.completion._offers] == ["turn:", "transcript:", "time:"]
        await press(pilot, "escape")


@pytest.mark.slow
async def test_the_key_of_errors_goes_to_warnings_if_there_are_no_errors(tmp_path: Path) -> None:
    """The status row of the safe view counts both, and names this key."""
    path = tmp_path / "a.ocml"
    call = "<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|constrain|>json<|message|>{}<|call|>\n"
    reply = '<|start|>tool name=functions.f call_id=a to=assistant<|channel|>commentary<|message|>{"ok":false}<|end|>\n'
    question = "<|start|>user<|message|>Does it work?<|end|>\n"
    path.write_text(f"version: 2.2\n{question}{call}{reply}{question}")
    async with running(path, size=SMALL) as pilot:
        assert "1 hidden message had problems · e shows the next one" in drawn(pilot)
        await press(pilot, "e")
        assert "⚠ 1/1 #3" in drawn(pilot) and view(pilot).navigator.cursor.number == 3
        await press(pilot, "d", "g", "E")
        assert view(pilot).navigator.focused_number == 3
        await press(pilot, "w")
        assert said(pilot) == "Continued from the top."
    path.write_text(f"version: 2.2\n{question}")
    async with running(path, size=SMALL, keys=("e",)) as pilot:
        assert said(pilot) == "No errors."
