"""History of a transcript as Harmony messages: what a server has when it builds the next prompt."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator

from msgspec.structs import replace

from viewer.columns.api import Column
from viewer.document.projection import Projection
from viewer.model.messages import Channel, Ending, Header, Kind, Message
from viewer.reading.format import Channels
from viewer.reading.header import full_tool_name

Test = Callable[[Header], bool]
"""A function that tests a message by its header, as Harmony writes it."""

_NOT_SENT = frozenset({Kind.NOTICE, Kind.UNKNOWN})
"""Kinds of records that a program does not send to the model."""


def is_assistant(header: Header) -> bool:
    """True if a model wrote the message."""
    return _speaker(header) == "assistant"


def is_user(header: Header) -> bool:
    """True if a user, named or not, wrote the message."""
    return _speaker(header) == "user"


def is_instruction(header: Header) -> bool:
    """True for a system or developer message."""
    return _speaker(header) in ("system", "developer")


def is_reply(header: Header) -> bool:
    """True for a tool reply."""
    return header.role == "tool"


def is_analysis(header: Header) -> bool:
    """True for a message on the analysis channel, whatever its role."""
    return header.channel_given == Channel.ANALYSIS.value


def is_final(header: Header) -> bool:
    """True for a message whose header names the final channel, whatever its role."""
    return header.channel_given == Channel.FINAL.value


def is_call(header: Header) -> bool:
    """True for an assistant message with a recipient."""
    return is_assistant(header) and header.recipient is not None


def is_assistant_final(header: Header) -> bool:
    """True for an assistant message on the final channel."""
    return is_assistant(header) and is_final(header)


def is_answer(header: Header) -> bool:
    """True for an assistant message without a recipient, on the final channel or without a channel."""
    is_plain = header.channel_given is None or is_final(header)
    return is_assistant(header) and header.recipient is None and is_plain


def _speaker(header: Header) -> str:
    return header.role.partition(":")[0]


def as_harmony(header: Header, channels: Channels) -> Header:
    """Return the header as Harmony would write it. If the format names no channels, the kind of the message
    determines the channel."""
    if channels is Channels.WRITTEN:
        return header
    if is_reply(header):
        return replace(header, recipient="assistant", channel_given=Channel.COMMENTARY.value)
    if not is_assistant(header):
        return replace(header, recipient=None, channel_given=None, content_type=None, constrained=False)
    if header.channel_given is None or (header.kind is Kind.REPLAYED and header.recipient is None):
        return replace(header, channel_given=Channel.FINAL.value)
    return header


class History:
    """The messages of one transcript up to a point, except those that no model receives."""

    def __init__(self, projection: Projection, transcript: int, last: int | None = None) -> None:
        """`last` is the number of the last message, or None to include all messages."""
        self.projection = projection
        self._heads = projection.whole_input().heads(transcript)
        self.transcript = transcript
        """The number of the transcript in the input."""
        self.channels = self._heads.channels
        self.first = self._heads.first
        """The number of the first message of the transcript."""
        self.last = self._heads.last if last is None else last
        """The highest possible number of a message in the history."""
        self._mask = self._masked(lambda header: True)
        self.count = self._mask.count(1)
        self._others = self._masked(lambda header: not is_assistant(header))

    def until(self, number: int) -> History:
        """Return the history before a message."""
        return History(self.projection, self.transcript, number - 1)

    def numbers(self) -> Column:
        """Return the numbers of the messages, in order."""
        return self._heads.rows(self._mask)

    def all_of(self, test: Test) -> Column:
        """Return the numbers of the messages that pass a test."""
        return self._heads.rows(self._masked(test))

    def first_of(self, test: Test) -> int:
        """Return the number of the first message that passes a test, or 0 if there is none."""
        return self._number(self._masked(test).find(1))

    def last_of(self, test: Test) -> int:
        """Return the number of the last message that passes a test, or 0 if there is none."""
        return self._number(self._masked(test).rfind(1))

    def holds(self, number: int) -> bool:
        """True if the message with this number is part of the history."""
        return self.first <= number <= self.last and self._mask[number - self.first] == 1

    def header(self, number: int) -> Header:
        """Return the header of a message as Harmony writes it."""
        return as_harmony(self._heads.header(number), self.channels)

    def ending(self, number: int) -> Ending:
        return self._heads.ending(number)

    def has_break_out(self) -> bool:
        """True if a message begins inside the unclosed body of a hidden one."""
        return any(self._heads.mask(lambda message: message.broke_out)[: self.last - self.first + 1])

    def run_before(self, number: int) -> list[int]:
        """Return the assistant messages directly before a message, in order."""
        first = self._others.rfind(1, 0, number - self.first) + self.first + 1
        return [each for each in range(first, number) if self.holds(each)]

    def last_run(self) -> list[int]:
        """Return the last run of assistant messages, or an empty list if there is none."""
        last = self.last_of(is_assistant)
        return [*self.run_before(last), last] if last else []

    def unanswered(self) -> list[int]:
        """Return the calls without a reply. A reply answers the oldest open call of its tool (OpenChatML 2.2,
        section 7)."""
        numbers = self.all_of(lambda header: is_call(header) or is_reply(header))
        waiting: dict[str, deque[int]] = {}
        known: dict[int, tuple[bool, deque[int]]] = {}
        for number, key in zip(numbers, self._heads.keys(numbers), strict=True):
            if key not in known:
                known[key] = is_call(self.header(number)), waiting.setdefault(self.tool(number), deque())
            is_open, calls = known[key]
            if is_open:
                calls.append(number)
            elif calls:
                calls.popleft()
        return sorted(number for calls in waiting.values() for number in calls)

    def blocks(self, number: int) -> Iterator[str]:
        """Yield the body of a message in blocks."""
        return self.projection.blocks(number)

    def body(self, number: int) -> str:
        return "".join(self.blocks(number))

    def tool(self, number: int) -> str:
        """Return the full tool name of a call or reply, or an empty string if there is none."""
        header = self._heads.header(number)
        return full_tool_name((header.name if is_reply(header) else header.recipient) or "")

    def has_late_recipient(self, number: int) -> bool:
        """True if the header of a message names its recipient after its channel."""
        if self.channels is not Channels.WRITTEN or self._heads.header(number).recipient is None:
            return False
        before, mark, _ = self.projection.raw(number).partition(b"<|message|>")[0].partition(b"<|channel|>")
        return bool(mark) and b" to=" not in before

    def _number(self, place: int) -> int:
        return self.first + place if place >= 0 else 0

    def _masked(self, test: Test) -> bytearray:
        mask = self._heads.mask(
            lambda message: self._is_sent(message) and test(as_harmony(message.header, self.channels))
        )
        del mask[max(0, self.last - self.first + 1) :]
        for first, last in self._heads.branches:
            place = slice(first - self.first, last - self.first + 1)
            mask[place] = bytes(len(mask[place]))
        return mask

    def _is_sent(self, message: Message) -> bool:
        """True unless the message is a record that no model receives, a message of another agent, or the start of the
        next answer."""
        header = message.header
        return header.complete and not header.thread and header.kind not in _NOT_SENT
