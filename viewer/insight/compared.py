"""One side of a comparison: the messages of a projection as columns, with a hash of each body."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable
from hashlib import blake2b

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.document.rows import RowKind
from viewer.document.values import (
    BriefCall,
    HiddenRun,
    Item,
    MessageText,
    ShownMessage,
    ShownStray,
    ShownTranscript,
)
from viewer.insight.json_changes import canonical, json_container
from viewer.reading.header import full_tool_name

NO_MESSAGE = -1
CALL, REPLY, STRAY = "call", "reply", "stray"
OTHER_CHANNEL = "other"
"""The channel by which a message is selected if its own channel is missing or not defined by any specification."""
CHANNELS = ("final", "analysis", "commentary", OTHER_CHANNEL)
_SAME_ENDINGS = {"return": "end", "call": "end", "implied": "end"}
"""Endings that differ only in spelling."""
_USUAL_RECIPIENTS = (None, "user", "assistant")


class Spelling(Struct, frozen=True, gc=False):
    """The differences in spelling that matter."""

    strict: bool = False
    """True if every difference in the spelling of a header matters."""
    strict_json: bool = False
    """True if the order of keys and the spelling of numbers in JSON matter."""
    other_fields: bool = True
    """True if unlisted fields matter. They have a meaning in only one format."""


_AS_WRITTEN = Spelling()


class Numbers:
    """Interns values of both sides, so equal values get equal numbers."""

    def __init__(self) -> None:
        self._known: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> int:
        """Return the number of a value."""
        return self._known.setdefault(value, len(self._known))


class Part(Struct, frozen=True):
    """The messages of one transcript."""

    transcript: ShownTranscript | None
    first: int
    end: int


class _Kind(Struct, frozen=True):
    """The values that all messages with the same header share."""

    name: tuple[str, ...]
    group: int
    tool: int
    header: int
    channel: int


class Side:
    """The messages of one projection, by position: columns, and bodies on request."""

    def __init__(
        self,
        projection: Projection | None,
        numbers: Numbers,
        spelling: Spelling,
        channels: frozenset[str] = frozenset(),
        work: Callable[[], None] = lambda: None,
    ) -> None:
        """Without a projection, there are no messages. `work` is called regularly and may raise an exception to
        stop."""
        self._projection = projection
        self._rows = projection.rows() if projection else None
        self._row = array("I")
        self.number = array("I")
        """The number of each message, in the audience's numbering."""
        self.group = array("I")
        """The group of each message. Only messages of the same group are ever paired."""
        self.tool = array("I")
        """A number for the tool of each call or reply. All other messages share one number."""
        self.key = array("I")
        """A number that is equal for messages with the same group, recipient, and body."""
        self.header = array("I")
        """A number that is equal for messages with the same header, apart from call IDs."""
        self._channel = array("B")
        self._is_linked = bytearray()
        self._kinds: dict[int, _Kind] = {}
        self.call_ids: dict[int, str] = {}
        self.calls = set[int]()
        self.replies = dict[int, int]()
        """The call of each reply that has one."""
        self.parts: list[Part] = []
        if projection is not None:
            self._fill(projection, numbers, spelling, channels, work)
            self._link(projection)

    def __len__(self) -> int:
        return len(self._row)

    def _fill(
        self,
        projection: Projection,
        numbers: Numbers,
        spelling: Spelling,
        channels: frozenset[str],
        work: Callable[[], None],
    ) -> None:
        assert self._rows is not None
        transcripts = {each.number: each for each in projection.transcripts()}
        current, first = 0, 0
        texts = projection.texts(self._rows)
        group, tool, header = map(numbers.of, (("group", STRAY), ("tool", ""), "stray"))
        stray_kind = _Kind((STRAY,), group, tool, header, CHANNELS.index(OTHER_CHANNEL))
        for row in range(len(self._rows)):
            if not row % 256:
                work()
            text: MessageText | Item
            if self._rows.kind(row) is RowKind.MESSAGE:
                text = next(texts)
                kind = self._kind(text, numbers, spelling)
            else:
                text, kind = projection.item(self._rows, row), stray_kind
            if not isinstance(text, MessageText | ShownStray) or (channels and CHANNELS[kind.channel] not in channels):
                continue
            if text.transcript != current:
                self._end_part(transcripts.get(current), first)
                current, first = text.transcript, len(self)
            self._append(row, text, kind, numbers, spelling)
        self._end_part(transcripts.get(current), first)

    def _end_part(self, transcript: ShownTranscript | None, first: int) -> None:
        if transcript is not None:
            self.parts.append(Part(transcript, first, len(self)))

    def _append(
        self, row: int, text: MessageText | ShownStray, kind: _Kind, numbers: Numbers, spelling: Spelling
    ) -> None:
        position = len(self)
        self._row.append(row)
        if isinstance(text, ShownStray):
            self.number.append(text.after)
        else:
            self.number.append(text.number)
            if text.call_id is not None:
                self.call_ids[position] = text.call_id
            if kind.name[0] == CALL:
                self.calls.add(position)
        self.group.append(kind.group)
        self.tool.append(kind.tool)
        self.header.append(kind.header)
        self._channel.append(kind.channel)
        self._is_linked.append(kind.name[0] in (CALL, REPLY))
        self.key.append(numbers.of((kind.group, kind.tool, _hash(_comparable(text.body, spelling)))))

    def _kind(self, text: MessageText, numbers: Numbers, spelling: Spelling) -> _Kind:
        """Return the values of a header. They are cached, because many messages share a header."""
        known = None if spelling.strict else self._kinds.get(text.kind)
        if known is None:
            assert self._projection is not None and self._rows is not None
            item = self._projection.unread(self._rows, text.row)
            fields = self.fields(item, spelling)
            group = group_of(item, spelling)
            known = _Kind(
                group,
                numbers.of(("group", *group)),
                numbers.of(("tool", tool_of(item))),
                numbers.of(("header", *fields.items())),
                CHANNELS.index(channel_of(item)),
            )
            self._kinds[text.kind] = known
        return known

    def _link(self, projection: Projection) -> None:
        """Find the call of each reply."""
        places = {number: position for position, number in enumerate(self.number)}
        for call in projection.calls():
            begun, ended = places.get(call.call or 0), places.get(call.reply or 0)
            if begun is not None and ended is not None:
                self.replies.setdefault(ended, begun)

    def item(self, position: int) -> ShownMessage | ShownStray:
        """Read a message again, and return it."""
        assert self._projection is not None and self._rows is not None
        found = self._projection.item(self._rows, self._row[position])
        assert not isinstance(found, HiddenRun | BriefCall)
        return found

    def body(self, position: int) -> str:
        """Read the text of a message again, and return it."""
        assert self._projection is not None and self._rows is not None
        return "".join(self._projection.body_blocks(self._rows, self._row[position]))

    def channel(self, position: int) -> str:
        """Return the channel by which a message is selected."""
        return CHANNELS[self._channel[position]]

    def is_linked(self, position: int) -> bool:
        """True if a message is a call or a reply."""
        return bool(self._is_linked[position])

    def fields(self, message: ShownMessage, spelling: Spelling) -> dict[str, str | bool | None]:
        """Return the header fields to compare. If spelling matters, include the header as written."""
        fields = header_fields(message, spelling)
        if spelling.strict and spelling.other_fields and message.span and message.body_span:
            assert self._projection is not None
            raw = self._projection.raw(message.number)[: message.body_span[0] - message.span[0]]
            if raw.startswith(b"<|"):
                fields["written"] = raw.decode("utf-8", "replace")
        return fields


def channel_of(item: ShownMessage | ShownStray) -> str:
    """Return the channel by which a message is selected. Calls and replies without a channel are treated as
    commentary."""
    if isinstance(item, ShownStray):
        return OTHER_CHANNEL
    if item.message_kind in (CALL, REPLY):
        return item.channel_given if item.channel_given in CHANNELS else "commentary"
    return item.channel or OTHER_CHANNEL


def group_of(item: ShownMessage | ShownStray, spelling: Spelling = _AS_WRITTEN) -> tuple[str, ...]:
    """Return the group of a message: its role and channel, calls, or replies. Only messages of the same group are
    paired."""
    if isinstance(item, ShownStray):
        return (STRAY,)
    if item.message_kind in (CALL, REPLY):
        return (item.message_kind,)
    return (item.role, "final" if _is_answer(item, spelling) else item.channel or "")


def _is_answer(message: ShownMessage, spelling: Spelling) -> bool:
    """True for a preamble if the other side has another format. Server formats write a preamble as the text of the
    message with the call."""
    is_preamble = message.visible and message.role == "assistant" and message.channel == "commentary"
    return is_preamble and not spelling.strict and not spelling.other_fields


def tool_of(item: ShownMessage | ShownStray) -> str:
    """Return the tool of a call or reply, without the prefix `functions.`, or an empty string for other messages."""
    if isinstance(item, ShownStray) or item.message_kind not in (CALL, REPLY):
        return ""
    name = item.recipient if item.message_kind == CALL else item.name
    return full_tool_name(name).removeprefix("functions.") if name else ""


def header_fields(message: ShownMessage, spelling: Spelling) -> dict[str, str | bool | None]:
    """Return the header fields to compare, without the call ID.

    Unless spelling matters, differences that are only in spelling are ignored."""
    is_linked = message.message_kind in (CALL, REPLY)
    type_given = message.content_type
    fields: dict[str, str | bool | None] = {"role": message.role, "intent": message.intent}
    if spelling.strict:
        fields |= {
            "name": message.name,
            "recipient": message.recipient,
            "channel": message.channel_given,
            "type": type_given and ("<|constrain|>" if message.constrained else "") + type_given,
            "ending": message.ending,
        }
    else:
        is_usual = message.recipient in _USUAL_RECIPIENTS
        fields |= {
            "name": None if message.message_kind == REPLY else message.name,
            "recipient": None if is_linked or is_usual else message.recipient,
            "channel": None if is_linked else message.channel,
            "type": None if message.message_kind == CALL and type_given == "json" else type_given,
            "ending": _SAME_ENDINGS.get(message.ending, message.ending),
        }
        if _is_answer(message, spelling):
            fields |= {"channel": "final", "intent": None}
    fields["cancelled"] = message.cancelled
    if spelling.other_fields:
        fields |= {f"{key}=": value for key, value in message.extra.items()}
    return fields


def _comparable(body: str, spelling: Spelling) -> str:
    """Return the body or, if it is JSON whose spelling does not matter, the canonical form of its value."""
    value = None if spelling.strict_json else json_container(body)
    return body if value is None else canonical(value)


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
