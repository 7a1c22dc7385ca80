"""Values in an open card: keys move from one to the next, and fold each one separately."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.running import SMALL, drawn, press, running, view
from viewer.render.blocks.json_rows import ALL_NODES, MOST_ROWS, JsonRows

ARGUMENTS = {"a": {"b": list(range(100))}, "c": "d\n" * 40, "e": 1}
REPLY = {"f": {"g": {"h": "x" * 300}}, "i": "short"}


def chat(path: Path) -> Path:
    path.write_text(
        "version: 2.2\n<|start|>user<|message|>Run it.<|end|>\n"
        "<|start|>assistant to=functions.run call_id=1<|channel|>commentary<|constrain|>json<|message|>"
        f"{json.dumps(ARGUMENTS)}<|call|>\n"
        "<|start|>tool name=functions.run call_id=1 to=assistant<|channel|>commentary<|constrain|>json<|message|>"
        f"{json.dumps(REPLY)}<|end|>\n"
        "<|start|>assistant<|channel|>final<|message|>Done.<|return|>\n"
    )
    return path


def at_cursor(pilot: Pilot[int]) -> list[str]:
    """Return the lines with the cursor bar."""
    return [line[:60].rstrip() for line in drawn(pilot).split("\n") if line.lstrip().startswith("▌")]


@pytest.mark.slow
async def test_the_keys_go_through_the_values_of_an_open_card(tmp_path: Path) -> None:
    async with running(chat(tmp_path / "a.ocml"), size=SMALL, keys=("d", "g", "J", "enter")) as pilot:
        assert len(at_cursor(pilot)) > 5
        steps = (
            ("J", "├ a         object, 1 key ▸"),
            ("l", "├ a         object, 1 key"),
            ("l", "├ a         object, 1 key"),
            ("J", "│ └ b         array, 100 items ▸"),
            ("enter", "│ └ b         array, 100 items"),
            ("h", "│ └ b         array, 100 items ▸"),
            ("K", "├ a         object, 1 key"),
            ("h", "├ a         object, 1 key ▸"),
            ("J", "├ c         text, 40 lines, 120 B"),
            ("J", "  ├ f         object, 1 key ▸"),
        )
        for number, (key, line) in enumerate(steps):
            await press(pilot, key)
            assert at_cursor(pilot) == [f"▌ {line}"], (number, key)
        await press(pilot, "h")
        assert at_cursor(pilot)[0].startswith("▌ ƒ run")
        await press(pilot, "J", "K")
        assert at_cursor(pilot)[0].startswith("▌ ƒ run")
        await press(pilot, "1", "J")
        assert view(pilot).navigator.focused_number == 4
        await press(pilot, "K", "asterisk", "J", "J")
        assert at_cursor(pilot) == ["▌ │ └ b         array, 100 items"]
        await press(pilot, "d")
        assert not view(pilot).session.turned
        assert view(pilot).navigator.cursor.node == -1


async def test_a_click_puts_the_cursor_on_a_value(tmp_path: Path) -> None:
    async with running(chat(tmp_path / "a.ocml"), size=SMALL, keys=("d", "g", "J", "enter")) as pilot:
        lines = drawn(pilot).split("\n")
        y = next(number for number, line in enumerate(lines) if "object, 1 key" in line)
        await pilot.click(offset=(20, y))
        await pilot.pause()
        assert at_cursor(pilot) == ["▌ ├ a         object, 1 key"]


@pytest.mark.share(quick=3)
@pytest.mark.parametrize("kind", ["numbers", "objects", "texts"])
def test_all_nodes_are_at_most_as_many_rows(kind: str) -> None:
    texts = {
        "numbers": list(range(100_000)),
        "objects": [{"id": number, "in": {"name": f"n{number}"}} for number in range(20_000)],
        "texts": ["line\n" * 50] * 2000,
    }
    rows = JsonRows(json.dumps(texts[kind]), 88, ALL_NODES).rows("", is_last=True)
    assert MOST_ROWS <= len(rows) <= MOST_ROWS + 2 * 50
    assert " more" in rows[-1].parts[0].text
