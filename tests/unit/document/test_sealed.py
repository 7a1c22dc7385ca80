"""A document that is opened under a sealed audience admits only this audience and stricter ones."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from msgspec.structs import replace

from tests.support.samples import ROOT
from viewer.document.document import Document
from viewer.document.vault import Vault
from viewer.errors import HiddenError
from viewer.model.visibility import BRIEF, END_USER, EVERYTHING, Audience, Reveal
from viewer.sources.files import open_source
from viewer.tui.display_state import DisplayState
from viewer.tui.session import Session

SEALED = Audience(sealed=True)
OTHERS = [
    *(Audience(frozenset({reveal}), sealed=sealed) for reveal, sealed in product(Reveal, (False, True))),
    *(END_USER, BRIEF, EVERYTHING, Audience(strict=True), Audience(thread=0)),
]
STRICTER = [SEALED, replace(SEALED, strict=True), replace(SEALED, thread=0)]


def opened(under: Audience) -> Document:
    return Document(open_source(str(ROOT / "tour.ocml")), under=under).load()


def test_a_sealed_audience_admits_only_itself_and_stricter_ones() -> None:
    assert [each for each in OTHERS if SEALED.admits(each)] == []
    assert all(map(SEALED.admits, STRICTER))
    assert not replace(SEALED, strict=True).admits(SEALED)
    assert not replace(SEALED, thread=0).admits(SEALED)
    assert all(END_USER.admits(each) for each in (*OTHERS, *STRICTER))


def test_a_sealed_document_refuses_every_other_projection() -> None:
    document = opened(SEALED)
    shown = document.project(SEALED)
    assert shown.omissions.messages
    for audience in OTHERS:
        with pytest.raises(HiddenError):
            document.project(audience)
        with pytest.raises(HiddenError):
            replace(shown, audience=audience)
    with pytest.raises(HiddenError):
        _ = document.quotes
    assert document.as_format("openchatml-2.2").under is document.under
    assert opened(END_USER).project(EVERYTHING).omissions.messages == 0


def test_the_vault_of_a_sealed_document_reads_no_body_for_another_audience() -> None:
    document = opened(END_USER)
    index = document.index
    messages = [index[number] for number in range(1, len(index) + 1)]
    vault = Vault(open_source(document.name), under=SEALED)
    readers: list[Callable[[Audience, int], object]] = [
        lambda audience, at: vault.body_for(audience, messages[at]),
        lambda audience, at: vault.source_text_for(audience, messages[at], ""),
        lambda audience, at: list(vault.blocks_for(audience, messages[at])),
        lambda audience, at: vault.raw_for(audience, messages[at]),
        lambda audience, at: vault.places_for(audience, messages[at], [messages[at].span]),
        lambda audience, at: vault.sources_for(audience, messages[at], [(0, 1)]),
        lambda audience, at: vault.stray_for(audience, *messages[at].span),
    ]
    for audience, read, at in product(OTHERS, readers, range(len(messages))):
        with pytest.raises(HiddenError):
            read(audience, at)
    seen = [message for message in messages if SEALED.sees(message)]
    assert 0 < len(seen) < len(messages)
    assert [vault.body_for(SEALED, message) for message in seen] == [
        opened(END_USER).project(END_USER).blocks(message.number).__next__() for message in seen
    ]


def test_the_session_of_a_sealed_document_refuses_a_display_that_shows_more() -> None:
    safe = DisplayState(sealed=True)
    session = Session(opened(SEALED), safe)
    for display in (
        *(safe.opened(), safe.listed(), replace(safe, raw=True), replace(safe, side_panes=True)),
        *(DisplayState(), DisplayState(debug=True), replace(safe, sealed=False, strict=True)),
    ):
        with pytest.raises(HiddenError):
            session.apply(display)
        assert session.display is safe
    session.apply(replace(safe, strict=True))
    assert session.projection.audience == Audience(strict=True, sealed=True)
