"""Prefetch of the next page: its blocks are cached before the key, and only those of the current audience."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.running import SMALL, press, running, until, view
from viewer.render.blocks.block import Block
from viewer.render.page import BlockMaker
from viewer.tui.transcript.ahead import FIRST_PAUSE, PAGES, PAUSE, Ahead
from viewer.tui.transcript.transcript import Transcript

TURN = (
    "<|start|>user<|message|>Question {0}<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Secret {0}<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>Answer {0}\n\nwith\n\nsome\n\nlines<|end|>\n"
)


def transcript_of(pilot: Pilot[int]) -> Transcript:
    return view(pilot).query_one(Transcript)


async def prepared(pilot: Pilot[int]) -> Transcript:
    """Wait until the next page is prepared."""
    pane = transcript_of(pilot)
    await until(lambda: pane.ahead.missing() is None)
    return pane


def cached(pane: Transcript) -> dict[int, Block]:
    rows = range(pane.blocks.count)
    return {row: block for row in rows if (block := pane.blocks.known(row)) is not None}


def text_of(blocks: dict[int, Block]) -> str:
    return "\n".join(part.text for block in blocks.values() for line in block.lines for part in line.parts)


@pytest.mark.slow
async def test_the_next_page_is_prepared_for_the_current_audience_only(tmp_path: Path) -> None:
    path = tmp_path / "a.ocml"
    path.write_text("---\nversion: 2.2\n---\n" + "".join(TURN.format(turn) for turn in range(200)), "utf-8")
    async with running(path, size=SMALL) as pilot:
        await press(pilot, "pagedown")
        pane = await prepared(pilot)
        known, shown = cached(pane), pane.rows_on_screen
        await press(pilot, "pagedown")
        assert {*pane.rows_on_screen} <= {*known}
        assert pane.rows_on_screen[0] > shown[0]
        for keys in (["d", "pagedown"], ["a", "pageup"], ["t", "pagedown"], ["d", "pagedown"], ["pageup"]):
            await press(pilot, *keys)
            pane = await prepared(pilot)
            known, maker = cached(pane), pane.blocks.maker
            assert isinstance(maker, BlockMaker)
            assert maker.projection is view(pilot).session.projection
            assert text_of(known) == text_of({row: maker.make(row) for row in known}), keys
            assert len(known) < 100
        assert "Secret" not in text_of(known)
        assert "Answer" in text_of(known)


async def test_a_round_builds_blocks_until_its_time_is_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ocml"
    path.write_text("---\nversion: 2.2\n---\n" + "".join(TURN.format(turn) for turn in range(200)), "utf-8")
    waits: list[float] = []
    monkeypatch.setattr(Ahead, "_wait", lambda ahead, pause: waits.append(pause))
    async with running(path, size=SMALL) as pilot:
        pane = transcript_of(pilot)
        await press(pilot, "pagedown")
        assert set(waits) == {FIRST_PAUSE}
        waits.clear()
        before = len(cached(pane))
        monkeypatch.setattr("viewer.tui.transcript.ahead.ROUND_SECONDS", 0.0)
        pane.ahead._build()
        assert (len(cached(pane)), waits) == (before + 1, [PAUSE])
        monkeypatch.setattr("viewer.tui.transcript.ahead.ROUND_SECONDS", 1e9)
        pane.ahead._build()
        assert (pane.ahead.missing(), waits) == (None, [PAUSE])
        last = pane.rows_on_screen[-1]
        ready = sum(block.height for row, block in cached(pane).items() if row > last)
        assert PAGES * pane.size.height <= ready < (PAGES + 2) * pane.size.height
