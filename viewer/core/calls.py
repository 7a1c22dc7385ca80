"""Calls linked to their replies, by id or by tool and order, and what became of each."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from viewer.core.messages import Message, Span

BUILT_INS = frozenset({"python", "browser"})
Report = Callable[[str, str | None, int, int, int | None], None]


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


@dataclass(slots=True)
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

    @property
    def latency_ms(self) -> int | None:
        """The time from call to reply, where both times are known."""
        if self.call_time is None or self.reply_time is None:
            return None
        return self.reply_time - self.call_time


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the body of a reply says of its call."""

    state: CallState = CallState.OK
    place: Span | None = None


def full_tool_name(name: str) -> str:
    """Tool names without a namespace that are no built-ins belong to `functions`."""
    return name if "." in name or name in BUILT_INS else f"functions.{name}"


def is_function(recipient: str) -> bool:
    """Whether a tool is one that a developer defined."""
    return full_tool_name(recipient).startswith("functions.")


def bare_tool_name(name: str) -> str:
    """The name that linking compares."""
    return name.removeprefix("functions.")


class CallLedger:
    """Links the calls and replies of an input in the order in which they are closed."""

    def __init__(self, report: Report) -> None:
        self.links: list[CallLink] = []
        self._report = report
        self._passed = 0
        """Calls below this row were followed by something that is neither call nor reply."""
        self._turn_first = 0
        """The first row of the current turn."""
        self._begin_transcript()

    def _begin_transcript(self) -> None:
        self._turn = 0
        self._first = len(self.links)
        self._known_ids: dict[str, int] = {}
        self._open_by_id: dict[str, deque[int]] = {}
        self._begin_turn(0)

    def _begin_turn(self, turn: int) -> None:
        self._turn = turn
        self._turn_first = len(self.links)
        self._open_by_tool: dict[str, deque[int]] = {}
        self._open_in_order: deque[int] = deque()

    def start_transcript(self) -> None:
        """Another transcript begins; nothing links across."""
        self.end_transcript()
        self._begin_transcript()

    def enter_turn(self, turn: int) -> None:
        """The next message belongs to this turn."""
        if turn != self._turn:
            self._end_turn()
            self._begin_turn(turn)

    def pass_by(self) -> None:
        """A message that is neither a call nor a reply."""
        self._passed = len(self.links)

    def add_call(self, message: Message, turn: int, deadline_ms: int | None, place: Span, needs_id: bool) -> CallLink:
        """A message to a tool; `place` is where its id stands, or should stand."""
        header = message.header
        assert header.recipient is not None
        row = len(self.links)
        link = CallLink(message.transcript, turn, header.call_id, full_tool_name(header.recipient), message.number)
        link.call_time, link.deadline_ms, link.call_end = message.time_ms, deadline_ms, message.span[1]
        self.links.append(link)
        if header.call_id is not None:
            if header.call_id in self._known_ids:
                self._report("W-CALL-ID-DUPLICATE", "call", *place, message.number)
            self._known_ids[header.call_id] = row
            self._open_by_id.setdefault(header.call_id, deque()).append(row)
        elif needs_id:
            self._report("W-CALL-ID-MISSING", "call", *place, message.number)
        self._open_by_tool.setdefault(bare_tool_name(link.tool), deque()).append(row)
        self._open_in_order.append(row)
        return link

    def add_reply(self, message: Message, turn: int, place: Span, needs_id: bool, notes_inferred: bool) -> CallLink:
        """A tool's reply; returns the link it belongs to, its state still that of a plain answer."""
        row, inferred = self._find_call(message)
        call_id = message.header.call_id
        if call_id is None and needs_id:
            self._report("W-CALL-ID-MISSING", "reply", *place, message.number)
        if row is None:
            return self._add_unlinked(message, turn, place)
        link = self.links[row]
        link.reply, link.inferred, link.reply_time = message.number, inferred, message.time_ms
        link.call_id = link.call_id if link.call_id is not None else call_id
        if inferred and notes_inferred:
            self._report("I-CALL-INFERRED", None, *place, message.number)
        if link.state is not CallState.CANCELLED:
            link.state = CallState.OK
        return link

    def _find_call(self, message: Message) -> tuple[int | None, bool]:
        call_id = message.header.call_id
        if call_id is not None:
            row = self._first_open(self._open_by_id.get(call_id))
            if row is not None:
                return row, False
            if call_id in self._known_ids:
                return None, False
        name = message.header.name
        queue = self._open_by_tool.get(bare_tool_name(name)) if name else self._open_in_order
        row = self._first_open(queue, without_id=call_id is not None)
        return row, True

    def _first_open(self, queue: deque[int] | None, without_id: bool = False) -> int | None:
        """The first of these calls that has no reply yet; answered ones are forgotten."""
        while queue and self.links[queue[0]].reply is not None:
            queue.popleft()
        if not queue or (without_id and self.links[queue[0]].call_id is not None):
            return None
        return queue.popleft()

    def _add_unlinked(self, message: Message, turn: int, place: Span) -> CallLink:
        header = message.header
        known = self._known_ids.get(header.call_id) if header.call_id is not None else None
        tool = full_tool_name(header.name) if header.name else "tool"
        link = CallLink(message.transcript, turn, header.call_id, tool, reply=message.number)
        link.reply_time = message.time_ms
        if known is None:
            link.state = CallState.ORPHAN
            self._report("W-CALL-ID-UNKNOWN", None, *place, message.number)
        else:
            link.state = CallState.DUPLICATE
            link.call, link.tool = self.links[known].call, self.links[known].tool
            self._report("W-CALL-ID-DUPLICATE", "reply", *place, message.number)
        self.links.append(link)
        return link

    def cancel(self, call_id: str, start: int, end: int) -> None:
        """A `tool.cancel` event."""
        row = self._known_ids.get(call_id)
        link = self.links[row] if row is not None else None
        if link is not None:
            link.state = CallState.CANCELLED
        self._report("E-TOOL-CANCELLED", "event", start, end, link.call if link else None)

    def _end_turn(self) -> None:
        for row in range(self._turn_first, len(self.links)):
            self._leave_unanswered(self.links[row])

    def end_transcript(self) -> None:
        """Nothing more comes: calls that something else followed stay without an answer."""
        for row in range(self._turn_first, min(self._passed, len(self.links))):
            self._leave_unanswered(self.links[row])

    def _leave_unanswered(self, link: CallLink) -> None:
        if link.state is CallState.PENDING and link.call is not None:
            link.state = CallState.UNANSWERED
            self._report("W-CALL-UNANSWERED", None, link.call_end, link.call_end, link.call)
