"""The first frame of the app: further reading, and the garbage collector, wait for it."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

import pytest

from viewer.document.document import Document
from viewer.tui.app import ViewerApp
from viewer.tui.frames import Frames


async def test_reading_goes_on_once_a_frame_has_reached_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that is drawn while the app is set up reaches the terminal."""
    path = tmp_path / "long.ocml"
    path.write_text("<|start|>user<|message|>Hello.<|end|>\n" * 1000, "utf-8")
    events: list[str] = []
    read_some, expect = Document.read_some, Frames.expect

    def reads(self: Document, size: int) -> None:
        events.append("read")
        read_some(self, size)

    def expects(self: Frames) -> None:
        events.append("set up")
        expect(self)

    class RecordedApp(ViewerApp):
        def post_display_hook(self) -> None:
            super().post_display_hook()
            events.append("frame")

    monkeypatch.setattr(Document, "read_some", reads)
    monkeypatch.setattr(Frames, "expect", expects)
    async with RecordedApp([str(path)]).run_test() as pilot:
        while events.count("read") < 2:
            await pilot.pause()
    second = events.index("read", events.index("read") + 1)
    assert "frame" in events[events.index("set up") : second]


async def test_the_collector_begins_with_the_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    app = ViewerApp(["a"])
    frame, other = (Frames(app.input_queue, tunes_memory=tunes) for tunes in (True, False))
    gc.disable()
    try:
        frame.drawn()
        other.expect()
        other.drawn()
        assert not gc.isenabled()
        frame.expect()
        frame.drawn()
        assert gc.isenabled()
        gc.disable()
        frame.drawn()
        assert not gc.isenabled()
        collected: list[int] = []
        monkeypatch.setattr("viewer.tui.frames.PAUSE", 0.0)
        monkeypatch.setattr(gc, "collect", collected.append)
        app.input_queue.is_busy = True
        frame.drawn()
        other.drawn()
        for _ in range(5):
            await asyncio.sleep(0.001)
        assert not collected
        app.input_queue.is_busy = False
        await asyncio.sleep(0.002)
        await asyncio.sleep(0.002)
        assert collected == [1]
    finally:
        gc.enable()
