"""The page before the first page shows nothing hidden, and the laboratory finds a planted leak."""

from __future__ import annotations

import pytest

from tests.support.leaks.finder import Leak
from tests.support.leaks.planted import (
    CHANNELLED,
    KINDS,
    SHOWN_IN_TEXT,
    SHOWN_ON_CHANNELS,
    Planted,
    everything,
    made_of,
)
from viewer import first_reading
from viewer.first import beginning_of

SIZES = [(80, 24), (120, 40), (100, 400)]
LOOK = ("dark", True)


def leaks(planted: Planted) -> list[Leak] | None:
    """Return the leaks in the page at each size; None if there is no page."""
    found: list[Leak] = []
    pages = [beginning_of(planted.data, "chat", size, is_whole=True) for size in SIZES]
    for page, size in zip(pages, SIZES, strict=True):
        found += planted.finder.leaks(page.painted(size, LOOK)) if page else []
    return found if any(pages) else None


@pytest.mark.share(quick=4)
@pytest.mark.parametrize("format", KINDS)
def test_nothing_hidden_is_in_the_page(format: str) -> None:
    for seed in range(40):
        assert not leaks(everything(format, seed)), seed


@pytest.mark.slow
def test_nothing_hidden_is_in_the_page_behind_a_shown_message() -> None:
    """Each part comes directly after a message that the page shows, so the page reaches it."""
    pages = 0
    for format in ("openchatml-2.2", "harmony"):
        for number, part in enumerate(CHANNELLED):
            parts = [("nothing", ""), ("shown", SHOWN_IN_TEXT[0]), part, ("shown", "\n" + SHOWN_ON_CHANNELS[0])]
            planted = made_of(format, parts, number)
            found = leaks(planted)
            pages += found is not None
            assert not found, planted.text
    assert pages > len(CHANNELLED)


def test_a_planted_leak_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "version: 2.2\n<|start|>assistant<|channel|>analysis<|message|>jqvkwxzjqvkwxz<|end|>\n"
    planted = Planted("openchatml-2.2", text, (("jqvkwxzjqvkwxz", "analysis"),))
    assert leaks(planted) is None
    shown = {**first_reading._HEADERS_2_2, b"assistant<|channel|>analysis": first_reading.ASSISTANT}
    monkeypatch.setattr(first_reading, "_HEADERS_2_2", shown)
    assert leaks(planted)
