"""Calls while following: the calls of a message, and changes of state since the last report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from viewer.document.values import ShownCall
from viewer.index.calls import CallLink, CallState

_STATES = list(CallState)
_NOT_TOLD = -1


class CallWatch:
    """The calls that one audience sees. Finished calls are not checked again."""

    def __init__(
        self,
        links: Sequence[CallLink],
        show: Callable[[CallLink], ShownCall | None],
        relinked: Sequence[int] = (),
    ) -> None:
        """`relinked` grows by the row of each call whose reply is replaced."""
        self._links = links
        self._show = show
        self._relinked = relinked
        self._relinked_at = 0
        self._looked_at = 0
        self._open: dict[int, int] = {}
        """The reported state of each call that may still change, by row."""

    def all(self) -> list[ShownCall]:
        """Every call in its current state."""
        return [shown for shown in map(self._show, self._links) if shown is not None]

    def of(self, number: int) -> list[ShownCall]:
        """The calls that a message makes or answers, as known so far."""
        self._look()
        rows = [row for row in self._open if number in (self._links[row].call, self._links[row].reply)]
        for row in rows:
            if self._links[row].reply == number:
                del self._open[row]
        return self._shown(rows)

    def changed(self, *, ended: bool = False) -> list[ShownCall]:
        """The calls that are no longer pending and changed their state; with `ended`, the pending ones too."""
        relinked = self._look_at_relinked()
        self._look()
        rows = [row for row, told in self._open.items() if self._key(row) != told and (ended or not self._waits(row))]
        for row in rows:
            self._open[row] = self._key(row)
        self._open = {row: told for row, told in self._open.items() if self._links[row].reply is None}
        shown = ((row, self._show(self._links[row])) for row in rows)
        return [replace(call, relinked=row in relinked) for row, call in shown if call is not None]

    def _look_at_relinked(self) -> set[int]:
        """The calls with another reply than the reported one."""
        rows = self._relinked[self._relinked_at :]
        self._relinked_at = len(self._relinked)
        relinked = {row for row in rows if row < self._looked_at and self._open.get(row) != _NOT_TOLD}
        self._open |= dict.fromkeys(relinked, _NOT_TOLD)
        return relinked

    def _look(self) -> None:
        for row in range(self._looked_at, len(self._links)):
            self._open[row] = _NOT_TOLD
        self._looked_at = len(self._links)

    def _waits(self, row: int) -> bool:
        return self._links[row].state is CallState.PENDING

    def _key(self, row: int) -> int:
        link = self._links[row]
        return 2 * _STATES.index(link.state) + (link.reply is not None)

    def _shown(self, rows: list[int]) -> list[ShownCall]:
        return [shown for shown in (self._show(self._links[row]) for row in rows) if shown is not None]
