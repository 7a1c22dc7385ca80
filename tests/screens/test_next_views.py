"""The rows of the next views are prepared while nothing else happens, and never for a view that no key can show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import InMemory
from tests.support.running import press, running, until, view
from tests.unit.document.test_rows import columns, transcript
from viewer.document import rows as rows_module
from viewer.document.document import Document
from viewer.model.visibility import Audience
from viewer.tui import session as session_module
from viewer.tui.display_state import DisplayState
from viewer.tui.session import KEPT_ROWS, Session


@pytest.fixture(autouse=True)
def few_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_module, "FEW_MESSAGES", 1)
    monkeypatch.setattr(rows_module, "AT_ONCE", 16)


def prepared(session: Session) -> Session:
    for _ in session.prepare_rows():
        pass
    return session


def test_each_next_view_finds_its_rows() -> None:
    document = Document(InMemory(transcript(5, 200))).load()
    session = prepared(Session(document, DisplayState()))
    for display in (*session.display.next_views, *DisplayState().opened().next_views):
        known = [*session._reusable_rows]
        session.apply(display)
        assert any(session.rows is each for each in known)
        assert columns(session.rows) == columns(document.project(display.audience).rows())
        prepared(session)
        session.apply(DisplayState().opened())
        prepared(session)
        assert len(session._reusable_rows) <= KEPT_ROWS


def test_a_strict_or_sealed_view_prepares_nothing() -> None:
    data = InMemory(transcript(5, 200))
    strict = prepared(Session(Document(data).load(), DisplayState(strict=True)))
    sealed = DisplayState(sealed=True)
    closed = prepared(Session(Document(data, under=sealed.audience).load(), sealed))
    assert strict._reusable_rows == closed._reusable_rows == ()


def test_rows_of_an_earlier_view_are_not_kept() -> None:
    session = Session(Document(InMemory(transcript(5, 200))).load(), DisplayState())
    steps = session.prepare_rows()
    next(steps)
    session.restart()
    assert next(steps, None) is None
    assert session._reusable_rows == ()


async def test_the_app_prepares_the_debug_view_and_its_channels(tmp_path: Path) -> None:
    path = tmp_path / "a.ocml"
    path.write_bytes(transcript(5, 60))
    async with running(path) as pilot:
        session = view(pilot).session
        await until(lambda: len(session._reusable_rows) == 1)
        rows = session._reusable_rows[0]
        assert rows._audience == DisplayState().opened().audience != Audience()
        await press(pilot, "d")
        assert session.rows is rows
        await until(lambda: len(session._reusable_rows) == KEPT_ROWS)
