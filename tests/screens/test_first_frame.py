"""The first frame of the app: further reading, and the garbage collector, wait for it."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from viewer.document.document import Document
from viewer.tui.app import ViewerApp
from viewer.tui.first_frame import FirstFrame


async def test_reading_goes_on_once_a_frame_has_reached_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that is drawn while the app is set up reaches the terminal."""
    path = tmp_path / "long.ocml"
    path.write_text("<|start|>user<|message|>Hello.<|end|>\n" * 1000, "utf-8")
    events: list[str] = []
    read_some, expect = Document.read_some, FirstFrame.expect

    def reads(self: Document, size: int) -> None:
        events.append("read")
        read_some(self, size)

    def expects(self: FirstFrame) -> None:
        events.append("set up")
        expect(self)

    class RecordedApp(ViewerApp):
        def post_display_hook(self) -> None:
            super().post_display_hook()
            events.append("frame")

    monkeypatch.setattr(Document, "read_some", reads)
    monkeypatch.setattr(FirstFrame, "expect", expects)
    async with RecordedApp([str(path)]).run_test() as pilot:
        while events.count("read") < 2:
            await pilot.pause()
    second = events.index("read", events.index("read") + 1)
    assert "frame" in events[events.index("set up") : second]


def test_the_collector_begins_with_the_first_frame() -> None:
    frame, other = FirstFrame(tunes_memory=True), FirstFrame(tunes_memory=False)
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
    finally:
        gc.enable()
