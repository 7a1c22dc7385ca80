"""Hidden text is nowhere in the safe app, even after leaving the debug view."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests.support.cases import each
from tests.support.running import ROOMY, drawn, press, running, said, settled, view
from tests.support.samples import Sample, samples
from tests.support.walking import reachable_text
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.values import BriefCall, HiddenRun, ShownMessage
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.reading.format import ReadOptions
from viewer.rules import RULES
from viewer.sources.files import open_source
from viewer.tui.app import ViewOptions
from viewer.tui.host import PromptKind

PIECE = 16
LEAST = 6
DEBUG_TOUR = (
    "d", "s", "j", "G", "g", "C", "j", "H", "j", "r", "r", "i", ">", ">", "vertical_line", "vertical_line",
    "tab", "tab", "tab", "tab", "escape", "e", "p", "j", "escape", "l", "asterisk", "z", "z", "z", "M", "M",
)  # fmt: skip
QUICK = {"tour.ocml", "broken/E-PERM-VISIBILITY-cot-in-final.ocml"}


def texts_of(projection: Projection) -> list[str]:
    """Return all texts of a document for an audience."""
    texts: list[str] = []
    for item in projection.items():
        if isinstance(item, HiddenRun | BriefCall):
            continue
        texts.append(item.body)
        if isinstance(item, ShownMessage):
            said = (item.role, item.name, item.recipient, item.channel_given, item.intent, item.call_id)
            texts += [value for value in (*said, item.content_type, item.time, *item.extra.values()) if value]
    return texts


def hidden_pieces(sample: Sample) -> list[str]:
    """Return pieces of lines that only the debug view shows. A hidden record may repeat shown text in quotes, as in an
    export to JSON Lines."""
    document = Document(open_source(str(sample.path)), sample.asked, ReadOptions()).load()
    texts = texts_of(document.project(END_USER))
    quoted = (json.dumps(text, ensure_ascii=False) for text in texts)
    shown = "\n".join([*texts, *quoted, own_words(), sample.name])
    shown += "".join(f"{each.model} {each.version}" for each in document.project(END_USER).transcripts())
    hidden = "\n".join(texts_of(document.project(EVERYTHING)))
    pieces: dict[str, None] = {}
    for line in hidden.splitlines():
        stripped = line.strip()
        for start in range(0, len(stripped), PIECE):
            piece = stripped[start : start + PIECE].strip()
            if len(piece) >= LEAST and piece.isprintable() and piece not in shown:
                pieces[piece] = None
    return list(pieces)


@cache
def own_words() -> str:
    """Return the words of the program itself."""
    return OWN[0] + "\n".join(f"{code} {rule.safe} {rule.section}" for code, rule in RULES.items())


OWN: list[str] = [""]


@pytest.fixture(scope="module", autouse=True)
def words_of_the_program(tmp_path_factory: pytest.TempPathFactory) -> None:
    import asyncio

    async def learn(path: Path) -> None:
        async with running(path, keys=[*DEBUG_TOUR, "d", "T", "p"]) as pilot:
            OWN[0] = reachable_text(pilot.app)

    empty = tmp_path_factory.mktemp("own") / "empty.ocml"
    empty.write_text("", "utf-8")
    asyncio.run(learn(empty))
    own_words.cache_clear()


class Looked:
    """Looks for pieces of hidden text wherever text can be."""

    def __init__(self, pilot: Pilot[int], pieces: list[str]) -> None:
        self.pilot = pilot
        self.pieces = pieces

    def at(self, text: str, where: str) -> None:
        found = [piece for piece in self.pieces if piece in text]
        assert not found, f"{where}: {found[:5]}"

    async def drawn_and_held(self) -> None:
        pilot, main = self.pilot, view(self.pilot)
        await press(pilot, "g")
        for page in range(200):
            self.at(drawn(pilot), f"page {page}")
            if main.widgets.transcript.scroller.at_end(main.widgets.transcript.view_height):
                break
            await press(pilot, "space")
        self.at(reachable_text(pilot.app), "the widgets")
        self.at(pilot.app.export_screenshot(), "a screenshot")
        self.at(main.widgets.title.render_line(0).text, "the title")
        self.at(pilot.app.title + pilot.app.sub_title + pilot.app.clipboard, "the app")
        main.text_select_all()
        self.at(main.get_selected_text() or "", "select all")
        main.clear_selection()

    async def everywhere(self) -> None:
        await self.drawn_and_held()
        await self._panes()
        await self._copies()

    async def _panes(self) -> None:
        for key in ("T", "p", "j", "H", "j", "escape", "e", "w", "enter"):
            await press(self.pilot, key)
            self.at(drawn(self.pilot) + said(self.pilot), f"after {key}")
        self.at(reachable_text(self.pilot.app), "the outline and the problems")
        await press(self.pilot, "T", "p")

    async def _copies(self) -> None:
        main = view(self.pilot)
        main.text_select_all()
        self.at(main.get_selected_text() or "", "select all")
        await press(self.pilot, "ctrl+c")
        self.at(self.pilot.app.clipboard, "the clipboard")
        main.clear_selection()
        for line in range(0, min(main.widgets.transcript.view_height, 12), 3):
            await self.pilot.click(main.widgets.transcript, offset=(8, line), times=3)
            self.at(main.get_selected_text() or "", "a triple click")
        main.clear_selection()
        await press(self.pilot, "y", "y")
        self.at(self.pilot.app.clipboard, "a copied message")

    async def search(self) -> None:
        """Check that no hidden text is found."""
        main = view(self.pilot)
        for piece in self.pieces[:: max(1, len(self.pieces) // 3)]:
            main.search.search_for(
                piece.lower() if not piece.startswith(("/", "re:", "\\")) else piece[1:], PromptKind.SEARCH
            )
            await settled(self.pilot)
            searcher = main.search.searcher
            shown = "\n".join(texts_of(main.session.document.project(END_USER))).lower()
            assert searcher is None or not searcher.matches or piece.lower() in shown or piece[1:].lower() in shown, (
                piece
            )
        await press(self.pilot, "escape", "escape")


async def proof(sample: Sample) -> None:
    pieces = hidden_pieces(sample)
    if not pieces:
        return
    options = ViewOptions(format=sample.asked)
    async with running(sample.path, size=ROOMY, options=options) as pilot:
        looked = Looked(pilot, pieces)
        await looked.everywhere()
        await press(pilot, *DEBUG_TOUR)
        await press(pilot, "y", "r")
        await press(pilot, "d")
        assert "[SAFE]" in drawn(pilot)
        looked.at(reachable_text(pilot.app), "the widgets after debug")
        await looked.everywhere()
        await looked.search()


@pytest.mark.share(test=18)
@pytest.mark.parametrize("name", sorted(QUICK))
async def test_no_widget_holds_what_is_hidden(name: str) -> None:
    await proof(next(sample for sample in samples() if sample.name == name))


async def glance(sample: Sample) -> None:
    """Look only at drawn and held text before and after the debug view, and at the copy of all text."""
    pieces = hidden_pieces(sample)
    if not pieces:
        return
    async with running(sample.path, size=ROOMY, options=ViewOptions(format=sample.asked)) as pilot:
        looked = Looked(pilot, pieces)
        await looked.drawn_and_held()
        await press(pilot, "d", "s", "G", "d")
        await looked.drawn_and_held()


OTHERS = [sample.name for sample in samples() if sample.name not in QUICK]


@each("name", OTHERS, quick=0, test=240)
async def test_nothing_hidden_is_drawn_or_held_in_any_sample(name: str) -> None:
    await glance(next(sample for sample in samples() if sample.name == name))


@each("name", OTHERS[::12], quick=0, test=288)
async def test_no_widget_holds_what_is_hidden_in_samples(name: str) -> None:
    await proof(next(sample for sample in samples() if sample.name == name))


@pytest.mark.lab
@pytest.mark.parametrize("name", OTHERS)
async def test_no_widget_holds_what_is_hidden_in_any_sample(name: str) -> None:
    await proof(next(sample for sample in samples() if sample.name == name))


@pytest.mark.slow
async def test_the_walk_finds_what_a_debug_view_holds() -> None:
    sample = next(sample for sample in samples() if sample.name == "tour.ocml")
    async with running(sample.path, keys=["d", "z", "asterisk"]) as pilot:
        text = reachable_text(pilot.app)
        assert "Two questions in one: the weather now" in text
        assert "get_rain_chance" in text


@pytest.mark.slow
async def test_help_and_palette_hold_nothing_of_the_transcript() -> None:
    sample = next(sample for sample in samples() if sample.name == "tour.ocml")
    pieces = hidden_pieces(sample)
    async with running(sample.path) as pilot:
        for key in ("question_mark", "ctrl+p"):
            await press(pilot, key)
            Looked(pilot, pieces).at(drawn(pilot) + reachable_text(pilot.app), key)
            await press(pilot, "escape")


@pytest.mark.slow
def test_the_tour_hides_many_texts() -> None:
    sample = next(sample for sample in samples() if sample.name == "tour.ocml")
    assert len(hidden_pieces(sample)) > 100
