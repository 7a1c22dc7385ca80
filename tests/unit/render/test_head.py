"""Message heads: the printed view, the screen, the first page, and exports show the same speaker."""

from __future__ import annotations

import html
import re

import pytest

from tests.support.cases import each
from tests.support.program import ROOT
from tests.support.samples import Sample, samples
from tests.support.shown import call, message
from viewer.cli.first_page import view_lines
from viewer.document.document import open_document
from viewer.document.projection import Projection
from viewer.document.rows import Folding, RowKind, Rows
from viewer.document.values import ShownMessage
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.render.exports import EXPORTERS
from viewer.render.head import MessageHead, head_of, name_line, printed_head
from viewer.render.page import BlockMaker
from viewer.render.style import UNICODE, Line, Style
from viewer.tui.settings.settings import Settings

WIDTH = 300
"""Wide enough for every head of the samples."""
SAMPLES = [each for each in samples() if each.path.suffix != ".gz"]


def text_of(line: Line) -> str:
    return "".join(part.text for part in line)


def speaker(text: str) -> str:
    """Return the role and name in a head, without its gutter, number, letter, and notes."""
    text = re.sub(r"^[ ▌|]*", "", text)
    return re.split(r" {2,}| · plan|\(cancelled\)", text)[0].strip()


def printed(head: MessageHead) -> str:
    return speaker(text_of(printed_head(head, WIDTH, UNICODE)[0]))


def heads(projection: Projection) -> list[tuple[int, MessageHead]]:
    """Return the rows of the messages and their heads."""
    rows = projection.rows()
    shown = [row for row in range(len(rows)) if rows.kind(row) is RowKind.MESSAGE]
    items = [(row, projection.item(rows, row)) for row in shown]
    return [(row, head_of(item, projection.audience)) for row, item in items if isinstance(item, ShownMessage)]


def maker_line(projection: Projection, rows: Rows, row: int) -> str:
    """Return the first line of a message as the app shows it."""
    block = BlockMaker(projection, rows, WIDTH).make(row)
    return text_of(block.lines[block.first].parts)


def exported(projection: Projection) -> list[str]:
    """Return the speakers of the exported page."""
    page = "".join(EXPORTERS["html"].pieces(projection, "title"))
    roles = re.findall(
        r'<article class="message (?!unknown stray)[^>]*>.*?<span class="role[^"]*">(.*?)</span>(?!</span>)', page, re.S
    )
    return [html.unescape(re.sub("<[^>]*>", "", role)).strip() for role in roles]


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=144, test=12)
def test_the_four_ways_to_show_a_message_agree_on_its_head(sample: Sample) -> None:
    projection = open_document(str(sample.path), format=sample.asked).project(END_USER)
    found = heads(projection)
    on_screen = [maker_line(projection, projection.rows(), row) for row, _ in found]
    expected = [printed(head) for _, head in found]
    assert [speaker(line) for line in on_screen] == expected
    assert exported(projection) == expected
    first_page = [text_of(line) for line in view_lines(projection, WIDTH + 1, Style(wrapped=True), Settings(), True)]
    shown = iter(first_page)
    folded = projection.rows(folding=Folding())
    unfolded = [
        maker_line(projection, folded, row) for row in range(len(folded)) if folded.kind(row) is RowKind.MESSAGE
    ]
    assert all(any(line == head for line in shown) for head in unfolded)


@pytest.mark.parametrize("audience", [END_USER, EVERYTHING], ids=["safe", "debug"])
def test_every_head_begins_with_the_speaker(audience: Audience) -> None:
    head = head_of(message(7, name="eve"), audience)
    on_screen, *_ = texts = [text_of(name_line(head, 80, UNICODE)), text_of(printed_head(head, 80, UNICODE)[0])]
    if audience.is_safe:
        assert texts == ["User eve", "▌ User eve"]
        return
    assert on_screen == f"User eve{'seen · #7':>72}"
    assert texts[1].startswith("▌ #7 User eve [final] *")


def test_a_head_for_the_end_user_holds_nothing_of_the_header() -> None:
    given = message(2, role="assistant", recipient=None, content_type="json", intent="preamble", extra={"mood": "x"})
    head = head_of(given, END_USER, [call(2, 3)])
    assert (head.details, head.links, head.link) == ((), (), 0)
    assert head_of(given, EVERYTHING, [call(2, 3)]).link == 3


def test_the_samples_are_there() -> None:
    assert (ROOT / "samples" / "tour.ocml").exists()
    assert len(SAMPLES) > 20
