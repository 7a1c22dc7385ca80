"""Next views: computes, while the app is idle, the rows that the next key press may show."""

from __future__ import annotations

from collections.abc import Iterator

from textual.dom import DOMNode

from viewer.document.rows import Rows
from viewer.tui.prefetch import Prefetch
from viewer.tui.session import Session

PAUSE = 0.05
"""The seconds to wait before the first step, so that the current view is drawn first."""


class NextViews:
    """Computes rows, a few steps at a time. Rows are only numbers, without text, and the session drops them when the
    input is read again."""

    def __init__(self, session: Session, node: DOMNode) -> None:
        """The steps are queued on the message queue of `node`."""
        self._session = session
        self._prefetch = Prefetch(node, self._do_next, PAUSE)
        self._rows: Rows | None = None
        """The rows of the current view."""
        self._steps: Iterator[None] = iter(())

    def prepare(self) -> None:
        """Start over if the view has changed. Call this only once everything has been read."""
        if self._rows is not self._session.rows:
            self._rows, self._steps = self._session.rows, self._session.prepare_rows()
            self._prefetch.begin()

    def _do_next(self) -> bool:
        return next(self._steps, self) is not self
