"""Letters for role and channel, and the message strip made from them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.panes import DEBUG, PAINTER, SAFE, STYLE, OnePane, screen, text_of, tour
from tests.support.shown import message
from viewer.document.values import Headline
from viewer.render.head import letter_of, look_of
from viewer.render.style import StyleRole
from viewer.tui.panes.strip import letter_at, letters_around, strip_line
from viewer.tui.panes.strip_widget import MessageStrip


@pytest.mark.parametrize(
    ("changes", "letter", "look"),
    [
        ({"role": "system"}, "S", StyleRole.SYSTEM),
        ({"role": "system:example_user"}, "S", StyleRole.SYSTEM),
        ({"role": "developer"}, "D", StyleRole.SYSTEM),
        ({"role": "user"}, "U", StyleRole.USER),
        ({"role": "tool", "channel": "commentary"}, "T", StyleRole.TOOL),
        ({"role": "assistant"}, "F", StyleRole.ASSISTANT),
        ({"role": "assistant", "channel": "analysis"}, "A", StyleRole.ANALYSIS),
        ({"role": "assistant", "channel": "commentary"}, "C", StyleRole.COMMENTARY),
        ({"role": "assistant", "channel": None}, "?", StyleRole.UNKNOWN),
        ({"role": "wizard"}, "?", StyleRole.UNKNOWN),
    ],
)
def test_every_role_has_a_letter_and_a_style(changes: dict[str, Any], letter: str, look: StyleRole) -> None:
    found = message(**changes)
    assert (letter_of(found), look_of(found)) == (letter, look)


def test_only_the_role_of_a_hidden_message_is_shown() -> None:
    assert letter_of(Headline(1, 1, False, "assistant")) == "·"
    assert letter_of(Headline(1, 1, False, "system")) == "S"
    assert look_of(Headline(1, 1, False, "system")) is StyleRole.QUIET


def strip(safe: bool, focus: int, room: int) -> str:
    projection = tour().project(SAFE if safe else DEBUG)
    letters = letters_around(projection, projection.rows(), focus, room, STYLE)
    return text_of(strip_line(letters, focus, titled=False))


def test_the_strip_has_every_message_around_the_cursor() -> None:
    assert strip(False, 1, 20) == "[S]DUACCCTTFUCTCTFUA"
    assert strip(False, 17, 20) == "TTFUCTCTF[U]AATCTCCT"
    assert strip(False, 33, 20) == "FUAATCTCCTFUACTFU[F]"
    assert strip(False, 17, 1) == "[U]"


def test_the_safe_strip_has_only_shown_messages() -> None:
    assert strip(True, 17, 20) == "UCFUF[U]FUFUF"


def test_a_cell_leads_to_its_message() -> None:
    projection = tour().project(DEBUG)
    letters = letters_around(projection, projection.rows(), 3, 8, STYLE)
    assert [letter_at(letters, 3, x) for x in range(9)] == [1, 2, 3, 3, 3, 4, 5, 6, None]


async def test_a_click_on_the_strip_chooses() -> None:
    projection = tour().project(DEBUG)
    pane = MessageStrip(PAINTER, STYLE, titled=True)
    app = OnePane(pane)
    async with app.run_test(size=(120, 5)) as pilot:
        pane.show(projection, projection.rows(), 15)
        await pilot.pause()
        assert "STRIP  SDUACCCTTFUCTC[T]FUAATCTCCTFUACTFUF   one cell per message, cursor on #15" in screen(app)
        await pilot.click(pane, offset=(10, 0))
        assert [getattr(event, "number", None) for event in app.heard] == [3]
        pane.clear()
        await pilot.pause()
        assert "SDU" not in screen(app)
