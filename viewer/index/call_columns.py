"""Calls and replies as columns, and as values on request."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import overload

from viewer.index.messages import MessageIndex
from viewer.values import frozen


class CallState(Enum):
    """State of a call."""

    PENDING = "pending"
    OK = "ok"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    UNANSWERED = "unanswered"
    ORPHAN = "orphan"
    DUPLICATE = "duplicate"


@frozen
class CallLink:
    """A call and its reply; one of them may be missing."""

    transcript: int
    turn: int
    call_id: str | None
    tool: str
    call: int | None = None
    reply: int | None = None
    state: CallState = CallState.PENDING
    inferred: bool = False
    call_time: int | None = None
    reply_time: int | None = None
    deadline_ms: int | None = None
    call_end: int = 0
    """The byte offset of the end of the call message."""
    observed_ms: int | None = None
    """The time from call to reply, observed while following."""

    @property
    def latency_ms(self) -> int | None:
        """The time from call to reply, if both times are known."""
        if self.call_time is None or self.reply_time is None:
            return None
        return self.reply_time - self.call_time


_STATES = tuple(CallState)
_STATE_OF = {state: number for number, state in enumerate(_STATES)}
_INFERRED = 16
_CODES = bytes(state & ~_INFERRED for state in range(256))
_WHETHER_INFERRED = bytes(bool(state & _INFERRED) for state in range(256))


class CallColumns:
    """Calls and replies by row, about 13 bytes each. Facts about their messages stay in the index."""

    def __init__(self, index: MessageIndex) -> None:
        self._index = index
        self._calls = array("I")
        self._replies = array("I")
        self._states = array("B")
        self._tools = array("I")
        self._tool_names: list[str] = []
        self._tool_numbers: dict[str, int] = {}
        self._deadlines: dict[int, int] = {}
        self._ids: dict[int, str | None] = {}
        """Call ids that differ from those in the index."""
        self._observed: dict[int, int] = {}
        """Milliseconds from call to reply, observed while following."""
        self._delays: dict[int, int] = {}
        """Milliseconds from deadline to reply, by the message of the diagnostic."""
        self.relinked = array("I")
        """Rows whose reply was replaced, once per replacement."""

    def __len__(self) -> int:
        return len(self._calls)

    def link(self, row: int) -> CallLink:
        """The current call and reply of a row."""
        index, call, reply = self._index, self._calls[row], self._replies[row]
        state = self._states[row]
        first = call if call and state & ~_INFERRED != _STATE_OF[CallState.DUPLICATE] else reply
        return CallLink(
            index.transcript(first),
            index.turn(first),
            self.call_id(row),
            self._tool_names[self._tools[row]],
            call or None,
            reply or None,
            _STATES[state & ~_INFERRED],
            bool(state & _INFERRED),
            index.time_ms(call) if first == call else None,
            index.time_ms(reply) if reply else None,
            self._deadlines.get(row),
            index.span(call)[1] if first == call else 0,
            self._observed.get(row),
        )

    def call_id(self, row: int) -> str | None:
        """The call id of the call, or of the reply if the call has none."""
        if self._ids and row in self._ids:
            return self._ids[row]
        call, reply = self._calls[row], self._replies[row]
        call_id = self._index.call_id(call) if call else None
        return self._index.call_id(reply) if call_id is None and reply else call_id

    def state(self, row: int) -> CallState:
        """The state of a call."""
        return _STATES[self._states[row] & ~_INFERRED]

    @staticmethod
    def state_of(code: int) -> CallState:
        """The state for a code of `states`."""
        return _STATES[code]

    def states(self) -> array[int]:
        """The states of all rows, as codes."""
        return array("B", self._states.tobytes().translate(_CODES))

    def inferred(self) -> array[int]:
        """A column with 1 for each reply that was linked by tool and order."""
        return array("B", self._states.tobytes().translate(_WHETHER_INFERRED))

    def ends(self) -> tuple[array[int], array[int]]:
        """The current calls and replies of all rows; 0 if there is none."""
        return self._calls[:], self._replies[:]

    def set_state(self, row: int, state: CallState) -> None:
        """Set the state of a call as known so far."""
        self._states[row] = self._states[row] & _INFERRED | _STATE_OF[state]

    def set_inferred(self, row: int, inferred: bool) -> None:
        """Record if the reply was linked by tool and order."""
        self._states[row] = self._states[row] & ~_INFERRED | (_INFERRED if inferred else 0)

    def call(self, row: int) -> int:
        """The message of the call; 0 for a reply without a call."""
        return self._calls[row]

    def set_observed(self, row: int, milliseconds: int) -> None:
        """Set the time from call to reply, observed while following."""
        self._observed[row] = milliseconds

    def delay_ms(self, message: int) -> int | None:
        """The time from the deadline to the reply, for the message that has E-TOOL-TIMEOUT/late."""
        return self._delays.get(message)

    def deadline_ms(self, row: int) -> int | None:
        """The deadline that a call gave its tool."""
        return self._deadlines.get(row)

    def _set_tool(self, row: int, tool: str) -> None:
        number = self._tool_numbers.setdefault(tool, len(self._tool_names))
        if number == len(self._tool_names):
            self._tool_names.append(tool)
        self._tools[row] = number

    def _add(self, call: int, reply: int, tool: str, state: CallState, call_id: str | None) -> int:
        row = len(self)
        self._calls.append(call)
        self._replies.append(reply)
        self._tools.append(0)
        self._set_tool(row, tool)
        self._states.append(_STATE_OF[state])
        if self.call_id(row) != call_id:
            self._ids[row] = call_id
        return row


class CallLinks(Sequence[CallLink]):
    """All calls and replies as a sequence that builds its values on access."""

    def __init__(self, columns: CallColumns) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns)

    @overload
    def __getitem__(self, row: int) -> CallLink: ...

    @overload
    def __getitem__(self, row: slice) -> list[CallLink]: ...

    def __getitem__(self, row: int | slice) -> CallLink | list[CallLink]:
        if isinstance(row, slice):
            return [self._columns.link(one) for one in range(*row.indices(len(self)))]
        return self._columns.link(range(len(self))[row])

    def __iter__(self) -> Iterator[CallLink]:
        return (self._columns.link(row) for row in range(len(self)))
