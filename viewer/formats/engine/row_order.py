"""Order of the messages in a training row: answers alternate with other messages, and one is the last."""

from __future__ import annotations

from collections.abc import Callable

from viewer.model.messages import Header, Kind, Span

_TURNS = (Kind.SAID, Kind.CALL, Kind.REPLY)


class RowOrder:
    """The last message of a row. `report` gets the number and the span of a message out of order."""

    def __init__(self, report: Callable[[int, Span], None]) -> None:
        self._report = report
        self._last: tuple[bool, int, Span] | None = None

    def add(self, header: Header, number: int, span: Span) -> None:
        """Add a message; answers that no user got do not count."""
        if header.thread or header.kind not in _TURNS:
            return
        is_answer = header.kind is Kind.SAID and header.role == "assistant"
        if is_answer and self._last is not None and self._last[0] and self._last[2] != span:
            self._report(number, span)
        self._last = is_answer, number, span

    def end(self) -> None:
        """End the row."""
        if self._last is not None and not self._last[0]:
            self._report(*self._last[1:])
        self._last = None
