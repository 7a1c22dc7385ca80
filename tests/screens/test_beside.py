"""Thoughts and calls next to the conversation, each at the place where it was written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.support.running import ROOMY, drawn, press, running, view
from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows
from viewer.model.visibility import Pane
from viewer.render.page import BlockMaker

SAMPLES = Path(__file__).parents[2] / "samples"
TOUR = SAMPLES / "tour.ocml"
AGENT = SAMPLES / "valid" / "claude-code" / "sub-agent.jsonl"


def check_alignment(pilot: Pilot[int]) -> None:
    """Check that both panes show the same lines, and each message in only one of them."""
    main = view(pilot)
    here, there = main.widgets.transcript, main.widgets.behind
    assert here.place == there.place
    lines = [(row, line) for row, line, _ in here.visible_lines()]
    assert lines == [(row, line) for row, line, _ in there.visible_lines()]
    for row, line in lines:
        left, right = ("".join(part.text for part in pane.block(row).lines[line].parts) for pane in (here, there))
        assert not (left.strip() and right.strip()), (row, line)
        number = main.session.rows.value(row)
        is_said = main.session.projection.pane_of(number) is Pane.CONVERSATION
        assert not (right if is_said else left).strip(), (row, line)


@pytest.mark.slow
async def test_both_panes_scroll_together_and_show_each_message_in_its_place() -> None:
    async with running(TOUR, size=ROOMY, keys=("d", "g", "vertical_line")) as pilot:
        main = view(pilot)
        for key in ("J", "J", "J", "space", "l", "J", "J", "enter", "G", "K", "b", "z", "z", "s", "m"):
            await press(pilot, key)
            check_alignment(pilot)
            cursor = main.navigator.cursor
            assert (main.widgets.behind.cursor == cursor) or not main.widgets.transcript.cursor.is_set, key
        await press(pilot, "g")
        main.widgets.behind.move(7)
        await pilot.pause()
        check_alignment(pilot)
        await press(pilot, "d")
        assert main.widgets.behind.blocks.maker is None
        assert "∴" not in drawn(pilot)


@pytest.mark.slow
async def test_a_folded_sub_agent_is_next_to_its_call() -> None:
    async with running(AGENT, size=ROOMY, keys=("d", "g", "vertical_line")) as pilot:
        main = view(pilot)
        row = next(row for row in range(len(main.session.rows)) if main.session.rows.kind(row) is RowKind.AGENT)
        left, right = (pane.block(row).lines[0].parts for pane in (main.widgets.transcript, main.widgets.behind))
        assert "sub-agent" not in str(left)
        assert "sub-agent" in str(right)


@pytest.mark.slow
async def test_no_text_is_laid_out_for_a_pane_that_has_no_size_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame with one letter per line would flash, and take time."""
    widths: list[int] = []
    made = BlockMaker.__init__

    def record(maker: BlockMaker, projection: Projection, rows: Rows, width: int, *given: Any, **more: Any) -> None:
        widths.append(width)
        made(maker, projection, rows, width, *given, **more)

    async with running(TOUR, size=ROOMY, keys=("d", "g")) as pilot:
        monkeypatch.setattr(BlockMaker, "__init__", record)
        for key in ("vertical_line", "vertical_line", "vertical_line"):
            await press(pilot, key)
        check_alignment(pilot)
        drawn_with = view(pilot).widgets.behind.blocks.maker
        assert drawn_with is not None
    assert widths and min(widths) > 30


@pytest.mark.slow
async def test_thoughts_are_open_until_they_are_folded() -> None:
    async with running(TOUR, size=ROOMY, keys=("d", "g", "vertical_line")) as pilot:
        await press(pilot, "4", "G")
        assert "depend on each other" in drawn(pilot)
        await press(pilot, "enter")
        assert "depend on each other" not in drawn(pilot)
        await press(pilot, "enter", "vertical_line")
        assert "depend on each other" in drawn(pilot)
