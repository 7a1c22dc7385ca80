"""Prefetch of the next page: its blocks are cached before the key, and only those of the current audience."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from textual.pilot import Pilot

from tests.support.running import SMALL, press, running, until, view
from viewer.render.blocks.block import Block
from viewer.render.page import BlockMaker
from viewer.tui.app import ViewerApp
from viewer.tui.prefetch import FIRST_PAUSE, PAUSE
from viewer.tui.transcript.ahead import PAGES
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
    async with running(path, size=SMALL) as pilot:
        pane = transcript_of(pilot)
        monkeypatch.setattr(pane.ahead.prefetch, "_wait", waits.append)
        await press(pilot, "pagedown")
        assert set(waits) == {FIRST_PAUSE}
        waits.clear()
        before = len(cached(pane))
        monkeypatch.setattr("viewer.tui.prefetch.ROUND_SECONDS", 0.0)
        pane.ahead.prefetch.go_on()
        assert (len(cached(pane)), waits) == (before + 1, [PAUSE])
        monkeypatch.setattr("viewer.tui.prefetch.ROUND_SECONDS", 1e9)
        pane.ahead.prefetch.go_on()
        assert (pane.ahead.missing(), waits) == (None, [PAUSE])
        last = pane.rows_on_screen[-1]
        ready = sum(block.height for row, block in cached(pane).items() if row > last)
        assert PAGES * pane.size.height <= ready < (PAGES + 2) * pane.size.height


async def test_no_block_is_built_before_the_effect_of_a_key_is_drawn_or_a_held_key_repeats(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 999.0
    monkeypatch.setattr("viewer.tui.input_queue.time", SimpleNamespace(monotonic=lambda: now))
    async with running(size=SMALL) as pilot:
        app = pilot.app
        assert isinstance(app, ViewerApp)
        queue = app.input_queue

        def idle_at(*times: float) -> list[bool]:
            nonlocal now
            found = []
            for at in times:
                now = at
                found.append(queue.is_idle(0.002))
            return found

        now = 1000.0
        queue.time_key("pagedown")
        assert idle_at(1000.001, 1000.049, 1000.051) == [False, False, True]
        queue.frame_drawn()
        for at in (1001.0, 1001.030, 1001.050):
            now = at
            queue.time_key("pagedown")
            queue.frame_drawn()
        assert idle_at(1001.051, 1001.067, 1001.0685, 1001.0705, 1001.079, 1001.081) == [
            True,
            True,
            False,
            False,
            False,
            True,
        ]
        queue.time_key("pageup")
        queue.frame_drawn()
        assert idle_at(1001.082, 1001.1, 1001.11) == [True] * 3
