"""Values for views, created for one audience. They provide no access to hidden content."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set

from msgspec import Struct

from viewer.columns.api import Column
from viewer.model.diagnostic import fill_in
from viewer.model.messages import Header, Span, Usage
from viewer.rules import RULES

LATE_BY = "The reply arrived {seconds:.1f} s after the deadline."


class ShownTranscript(Struct, frozen=True):
    """One transcript of the input. `header` is None unless system messages are revealed."""

    number: int
    format: str
    version: str | None
    model: str | None
    header: dict[str, object] | None


class Boundary(Struct, frozen=True):
    """The start of a transcript, as an audience sees it."""

    transcript: ShownTranscript
    count: int = 0
    """The number of transcripts; 0 if there may be more."""
    title: str = ""
    """The beginning of the first shown user message, on one line. Not yet safe for a terminal."""


class ShownMessage(Struct, frozen=True):
    """A message that the audience may see. For the end user, positions are None."""

    transcript: int
    number: int
    turn: int
    role: str
    name: str | None
    recipient: str | None
    channel: str | None
    channel_given: str | None
    intent: str | None
    call_id: str | None
    content_type: str | None
    constrained: bool
    ending: str
    body: str
    """The decoded body without the spans that are cut for this audience. Not yet safe for a terminal."""
    span: Span | None
    body_span: Span | None
    line: int | None
    time: str | None
    visible: bool
    """True if the safe view shows the message."""
    cancelled: bool
    extra: dict[str, str]
    message_kind: str = "said"
    """The kind of the message, one of the values of `Kind`."""
    is_value: bool = False
    """True if the body is the source text of JSON values that are not strings."""
    has_stop_token: bool = False
    """True if the format ends messages with control tokens."""
    thread: int = 0
    """The thread number of another agent; 0 for the main agent."""
    is_superseded: bool = False
    """True if the message is on a superseded branch."""
    usage: Usage | None = None
    """The token usage of the model reply to which the message belongs, as the input reports it."""
    source_text: str | None = None
    """The body with its escapes and literal blocks, in OpenChatML 2.2."""


class MessageText(Struct, frozen=True, gc=False):
    """The text of a message that the audience may see. Messages of one kind differ only in these properties."""

    row: int
    number: int
    transcript: int
    turn: int
    kind: int
    """A number shared by all messages with equal headers, ignoring call IDs."""
    call_id: str | None
    body: str


class Layout(Struct, frozen=True):
    """Where the messages of an input are, as columns. Only for an audience that sees everything."""

    kinds: Column
    """The kind of each message. Messages of a kind share a header, except for the values of some attributes."""
    examples: Mapping[int, Header]
    """The header of each kind, without the attribute values that differ between its messages."""
    alike: Set[int]
    """The kinds of messages that agree in all attribute values."""
    shown: Set[int]
    """The kinds that the safe view shows."""
    whole: Set[int]
    """The kinds of messages with bodies that are single runs of bytes and do not grow."""
    escaped: Set[int]
    """The kinds of messages with bodies that may have escapes."""
    verbatim: bytearray
    """A mask of the messages with bodies that are known to have no escapes."""
    bounds: Callable[[int, int], tuple[Column, Column]]
    """Returns where the messages begin and end, from the first to the last of these numbers."""
    bodies: Callable[[int, int], tuple[Column, Column]]
    """Returns where the bodies begin and end, for the messages from the first to the last of these numbers."""
    header: Callable[[int], Header]
    """Returns the header of the message with this number, without its call ID."""


class ShownStray(Struct, frozen=True, gc=False):
    """Text outside any message. Only for an audience that revealed it."""

    transcript: int
    after: int
    span: Span
    body: str


class HiddenRun(Struct, frozen=True, gc=False):
    """A run of hidden messages. Never created for a strict audience."""

    transcript: int
    count: int


class BriefCall(Struct, frozen=True, gc=False):
    """A call as one line of the brief level. It has no body, no ID, and no arguments."""

    transcript: int
    number: int
    """The number of the message that contains the call."""
    tool: str
    """The tool name if it has only plain characters; otherwise `tool`."""
    state: str
    latency_ms: int | None
    observed_ms: int | None = None
    """The time from call to reply, observed while following; not in machine-readable output."""

    @property
    def taken_ms(self) -> int | None:
        """The time from call to reply: as stated, or else as observed; None if neither is known."""
        return self.latency_ms if self.latency_ms is not None else self.observed_ms

    @property
    def is_pending(self) -> bool:
        """True if the call awaits its reply."""
        return self.state == "pending"


class FoldedBranch(Struct, frozen=True, gc=False):
    """A superseded branch, folded into one row."""

    transcript: int
    messages: int
    """The number of messages that this audience sees."""


class FoldedAgent(Struct, frozen=True, gc=False):
    """Adjacent messages of another agent. Never created for an end user."""

    transcript: int
    thread: int
    first: int
    """The number of the first message."""
    last: int
    calls: int
    tokens: int | None
    """The number of tokens; None if the input reports none or the audience may not see them."""

    @property
    def messages(self) -> int:
        """The number of messages."""
        return self.last - self.first + 1


class ShownDiagnostic(Struct, frozen=True, gc=False):
    """A diagnostic as disclosed to an audience. For hidden content, it has only the code, severity, and message
    number."""

    code: str
    reason: str | None
    severity: str
    message: int | None
    hidden: bool
    """True if the diagnostic belongs to content hidden from this audience."""
    span: Span | None
    line: int | None
    column: int | None
    count: int | None
    value: str | None = None
    """The offending value, only if everything is revealed. Not yet safe for a terminal."""
    delay_ms: int | None = None
    """The time from the deadline to the reply."""

    @property
    def sentence(self) -> str:
        """The text without the offending value; for an end user, the safe sentence."""
        return fill_in(self.template)

    @property
    def template(self) -> str:
        """The text, which may contain placeholders; for an end user or hidden content, the safe sentence."""
        rule = RULES[self.code]
        if self.hidden or self.span is None:
            return rule.safe
        if self.delay_ms is not None:
            return LATE_BY.format(seconds=self.delay_ms / 1000)
        return rule.template(self.reason)


class MessageColumns(Struct, frozen=True):
    """Many shown messages as columns, with one entry per message."""

    numbers: list[int]
    transcripts: list[int]
    turns: list[int]
    times: list[int | None]
    kinds: list[int]
    """Keys into `examples`."""
    examples: dict[int, ShownMessage]
    """One message of each kind, without its body. Messages of a kind differ only in their position, time, call ID, and
    body."""


class MessagePlaces(Struct, frozen=True):
    """The positions and call IDs of many messages as columns. Not for an end user."""

    starts: list[int]
    sizes: list[int | None]
    """The size of each body in bytes, or None if the body has several parts."""
    lines: list[int]
    call_ids: list[str | None]
    values: set[int]
    """The indices of the messages with a JSON value as their body."""


class ShownCall(Struct, frozen=True, gc=False):
    """A call and its reply. Only for an audience that sees tools."""

    transcript: int
    call_id: str | None
    tool: str
    call: int | None
    reply: int | None
    state: str
    inferred: bool
    latency_ms: int | None
    deadline_ms: int | None
    observed_ms: int | None = None
    """The time from call to reply, observed while following. Not in machine-readable output."""
    relinked: bool = False
    """True if the call was reported earlier with another reply, while following."""

    @property
    def taken_ms(self) -> int | None:
        """The time from call to reply: as stated, or else as observed; None if neither is known."""
        return self.latency_ms if self.latency_ms is not None else self.observed_ms


class Skipped(Struct, frozen=True):
    """Facts about the skipped beginning of an input that is read from a later point on."""

    messages: int = 0
    turns: int = 0
    lines: int = 0
    codes: frozenset[str] = frozenset()
    """The codes of which no more diagnostics are kept, because there are too many."""
    transcripts: int = 0
    """The number of transcripts before the one in which reading begins, in the audience's numbering."""
    columns: int = 0
    """The number of columns skipped in the line in which reading begins."""
    line: int = 0
    """The number of the line in which reading begins, not counting `lines`."""


NOTHING_SKIPPED = Skipped()

Item = ShownMessage | ShownStray | HiddenRun | BriefCall


class Headline(Struct, frozen=True, gc=False):
    """One entry of a message list, without the body."""

    number: int
    turn: int
    seen: bool
    """True if this audience sees the message. Otherwise, a developer gets only the role, and an end user gets
    nothing."""
    role: str
    name: str | None = None
    recipient: str | None = None
    channel: str | None = None
    intent: str | None = None
    call_id: str | None = None
    ending: str | None = None
    visible: bool = False
    """True if the safe view shows the message."""
    body_bytes: int = 0
    time: str | None = None
