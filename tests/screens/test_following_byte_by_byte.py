"""A file that grows by a few bytes at a time: no frame shows a hidden byte, or a message with an incomplete header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet
from textual.geometry import Region
from textual.strip import Strip

from tests.screens.test_nothing_hidden import hidden_pieces, words_of_the_program
from tests.support.app_following import ANSWER, HEAD, Live, live
from tests.support.running import drawn
from tests.support.samples import samples
from tests.support.visibility_rows import ROWS, SECRET, Row
from tests.support.walking import reachable_text
from viewer.document.live import LiveDocument
from viewer.tui.app import ViewOptions
from viewer.tui.main import follow_worker as tailing
from viewer.tui.main import throttle as pace
from viewer.tui.transcript.transcript import Transcript

__all__ = ["words_of_the_program"]

NOT_KNOWN_BEFORE = {"only the closing think tag"}
"""Texts that only later text shows to be reasoning."""
TOLD = [row for row in ROWS if not (row.shown or row.preambles) and row.name not in NOT_KNOWN_BEFORE]
PREAMBLE = "<|start|>assistant<|channel|>commentary intent=preamble<|message|>"
TEXT = (
    HEAD + "<|start|>system<|message|>Zucchini is the word.<|end|>\n"
    "<|start|>user<|message|>Hello there.<|end|>\n"
    "<|start|>assistant<|channel|>analysis<|message|>Zucchini, then: quite a secret.<|end|>\n"
    '<|start|>assistant to=functions.zucchini call_id=z1<|channel|>commentary<|message|>{"zucchini":1}<|call|>\n'
    '<|start|>tool name=functions.zucchini call_id=z1 to=assistant<|channel|>commentary<|message|>{"ok":true}<|end|>\n'
    f"{PREAMBLE}Zucchini: open, so not a preamble<|call|>\n"
    f"{ANSWER}<think>Zucchini</think>Hello "
    "<|start_reason|>zucchini<|end_reason|>you.<|return|>\n"
)


SMALL = [sample.name for sample in samples("valid") if sample.path.stat().st_size < 1200]


def some(cases: Sequence[Row | str], step: int) -> list[ParameterSet]:
    """Return a share of the cases in `make test`, and all of them in `make lab`."""
    marks = (pytest.mark.slow, pytest.mark.lab)
    return [pytest.param(case, marks=marks[bool(place % step)]) for place, case in enumerate(cases)]


class Scan:
    """Searches every drawn line and, at times, everything that widgets hold."""

    def __init__(self, pieces: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self.pieces = [piece.lower() for piece in pieces]
        self.lines = 0
        render: Callable[[Transcript, Region], list[Strip]] = Transcript.render_lines

        def watched(transcript: Transcript, crop: Region) -> list[Strip]:
            strips = render(transcript, crop)
            for strip in strips:
                self.lines += 1
                self.look(strip.text)
            return strips

        monkeypatch.setattr(Transcript, "render_lines", watched)
        monkeypatch.setattr(pace, "FRAME_SECONDS", 0.0)
        monkeypatch.setattr(pace, "ALL_SECONDS", 0.0)
        monkeypatch.setattr(tailing, "QUICK_SECONDS", 0.001)

    def look(self, text: str) -> None:
        low = text.lower()
        found = [piece for piece in self.pieces if piece in low]
        assert not found, (found, text[:2000])

    async def feed(self, app: Live, data: bytes, size: int = 1, every: int = 1) -> None:
        """Append pieces of this size. After each multiple of `every` bytes, search what widgets hold."""
        for at in range(0, len(data), size):
            shown = await app.write(data[at : at + size])
            self.look(shown)
            if at % every < size:
                self.look(reachable_text(app.pilot.app))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("begun", "size"),
    [
        (TEXT.index(PREAMBLE), 5),
        *(pytest.param(begun, 1, marks=pytest.mark.lab) for begun in (0, TEXT.index(PREAMBLE))),
    ],
)
async def test_no_hidden_byte_and_no_unfinished_header(
    begun: int, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = Scan(["zucc"], monkeypatch)
    whole = TEXT.index(ANSWER) + len(ANSWER)
    async with live(tmp_path / "run.ocml", TEXT[:begun]) as app:
        await app.press("T", "p")
        await scan.feed(app, TEXT[begun : whole - 1].encode(), size, every=64)
        assert "Assistant" not in drawn(app.pilot)
        await scan.feed(app, TEXT[whole - 1 :].encode(), size, every=64)
        assert "Hello you." in drawn(app.pilot)
        assert scan.lines > 50


@pytest.mark.slow
async def test_the_scan_finds_what_a_debug_view_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = Scan(["zucc"], monkeypatch)
    async with live(tmp_path / "run.ocml", TEXT) as app:
        scan.pieces = []
        await app.press("d")
        scan.pieces = ["zucc"]
        with pytest.raises(AssertionError):
            scan.look(drawn(app.pilot))
        with pytest.raises(AssertionError):
            scan.look(reachable_text(app.pilot.app))


@pytest.mark.share(test=20)
@pytest.mark.parametrize("row", some(TOLD, 24), ids=lambda row: f"{row.format}: {row.name}")
async def test_no_row_of_the_rule_is_ever_drawn(tmp_path: Path, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = Scan([SECRET[:3]], monkeypatch)
    async with live(tmp_path / "run.log", "", options=ViewOptions(follow=True, format=row.format)) as app:
        await scan.feed(app, row.text.encode(), every=8)


@pytest.mark.share(test=18)
@pytest.mark.parametrize("name", some(SMALL, 30))
@pytest.mark.parametrize("size", [pytest.param(1, marks=pytest.mark.lab), 7])
async def test_no_sample_draws_what_is_hidden(
    name: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample = next(sample for sample in samples() if sample.name == name)
    scan = Scan(hidden_pieces(sample), monkeypatch)
    async with live(tmp_path / "run.log", "", options=ViewOptions(follow=True, format=sample.asked)) as app:
        own = reachable_text(app.pilot.app).lower()  # nothing has been read yet
        scan.pieces = [piece for piece in scan.pieces if piece not in own]
        await scan.feed(app, sample.path.read_bytes(), size, every=128)
        assert isinstance(app.main.session.document, LiveDocument)
