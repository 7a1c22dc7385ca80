"""Calls and their replies as columns, and as the values they are when somebody looks."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import overload

from viewer.index.messages import MessageIndex
from viewer.values import frozen


class CallState(Enum):
    """What became of a call."""

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
    """A call and its reply; one of the two may be missing."""

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
    """Where the call message ends in the input."""
    observed_ms: int | None = None
    """The time from call to reply as observed while following."""

    @property
    def latency_ms(self) -> int | None:
        """The time from call to reply, where both times are known."""
        if self.call_time is None or self.reply_time is None:
            return None
        return self.reply_time - self.call_time


_STATES = tuple(CallState)
_STATE_OF = {state: number for number, state in enumerate(_STATES)}
_INFERRED = 16
_CODES = bytes(state & ~_INFERRED for state in range(256))
_WHETHER_INFERRED = bytes(bool(state & _INFERRED) for state in range(256))


class CallColumns:
    """Calls and their replies by row, about 13 bytes each; what the index knows of their messages is not kept again."""

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
        """Where the index has another one."""
        self._observed: dict[int, int] = {}
        """Milliseconds from call to reply, as observed while following."""
        self._delays: dict[int, int] = {}
        """Milliseconds from deadline to reply, by the message that the diagnostic belongs to."""
        self.relinked = array("I")
        """The rows whose reply was replaced, as often as it was."""

    def __len__(self) -> int:
        return len(self._calls)

    def link(self, row: int) -> CallLink:
        """A call and its reply as they are now."""
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
        """The call id of the call, or else of the reply."""
        if self._ids and row in self._ids:
            return self._ids[row]
        call, reply = self._calls[row], self._replies[row]
        call_id = self._index.call_id(call) if call else None
        return self._index.call_id(reply) if call_id is None and reply else call_id

    def state(self, row: int) -> CallState:
        """What became of a call."""
        return _STATES[self._states[row] & ~_INFERRED]

    @staticmethod
    def state_of(code: int) -> CallState:
        """What a code of `states` means."""
        return _STATES[code]

    def states(self) -> array[int]:
        """The states of all rows, as codes."""
        return array("B", self._states.tobytes().translate(_CODES))

    def inferred(self) -> array[int]:
        """For each row 1 where the reply was linked by tool and order."""
        return array("B", self._states.tobytes().translate(_WHETHER_INFERRED))

    def ends(self) -> tuple[array[int], array[int]]:
        """The calls and the replies of all rows as they are now; 0 where there is none."""
        return self._calls[:], self._replies[:]

    def set_state(self, row: int, state: CallState) -> None:
        """What became of it, as far as is known now."""
        self._states[row] = self._states[row] & _INFERRED | _STATE_OF[state]

    def set_inferred(self, row: int, inferred: bool) -> None:
        """Whether the reply was linked by tool and order."""
        self._states[row] = self._states[row] & ~_INFERRED | (_INFERRED if inferred else 0)

    def call(self, row: int) -> int:
        """The message that makes the call; 0 for a reply without one."""
        return self._calls[row]

    def set_observed(self, row: int, milliseconds: int) -> None:
        """The time from call to reply, as observed while following."""
        self._observed[row] = milliseconds

    def delay_ms(self, message: int) -> int | None:
        """How long after the deadline a reply arrived, for the message that E-TOOL-TIMEOUT/late belongs to."""
        return self._delays.get(message)

    def deadline_ms(self, row: int) -> int | None:
        """The time that a call gave its tool."""
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
    """All calls and replies, made into objects when they are looked at."""

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
