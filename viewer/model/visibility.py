"""The visibility rule: what an end user may see, what stays hidden, and what each audience reveals."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from viewer.model.messages import Channel, Ending, Header, Kind, Message

NEVER_DISPLAYED = frozenset({"debug", "status"})
PREAMBLE_ENDINGS = frozenset({Ending.END, Ending.RETURN})


def is_user_safe(message: Message) -> bool:
    """True if an end user may see this message (OpenChatML 2.2, sections 4 and 5). Anything not listed is hidden."""
    header = message.header
    if not header.complete or header.malformed or message.broke_out:
        return False
    if header.kind is not Kind.SAID or header.thread:
        return False
    if header.intent in NEVER_DISPLAYED:
        return False
    if header.role == "user":
        return header.channel is Channel.FINAL and header.recipient in (None, "assistant")
    if header.role != "assistant":
        return False
    if header.channel_given is None:
        return header.channel is Channel.FINAL and header.recipient is None
    if header.channel is Channel.FINAL:
        return header.recipient in (None, "user")
    return is_preamble(message) and message.ending in PREAMBLE_ENDINGS


def is_header_safe(header: Header, ending: Ending = Ending.END) -> bool:
    """True if an end user may see a message with this header and ending."""
    return is_user_safe(Message(0, 0, header, ending, (0, 0), ()))


def is_preamble(message: Message) -> bool:
    """True for a preamble: commentary with the intent `preamble`, addressed to the user or to no one. Formats without
    preambles never set that intent."""
    header = message.header
    is_flagged = header.channel is Channel.COMMENTARY and header.intent == "preamble"
    return is_flagged and header.recipient in (None, "user")


class Reveal(Enum):
    """The kinds of content that an operator can reveal beyond the safe view."""

    ANALYSIS = "analysis"
    COMMENTARY = "commentary"
    TOOL = "tool"
    SYSTEM = "system"
    DEVELOPER = "developer"
    STRAY = "stray"
    INJECTED = "injected"
    SUBAGENT = "subagent"
    REPLAYED = "replayed"
    NOTICE = "notice"
    UNCLEAR = "unclear"
    """Messages with an unknown role, channel, or content."""
    BRIEF = "brief"
    """One line per call: tool, state, and duration. It reveals no message, and cannot be combined with other kinds."""
    ALL = "all"


class Level(Enum):
    """How much a view reveals."""

    SAFE = "safe"
    BRIEF = "brief"
    DEBUG = "debug"


_LINES_ONLY = frozenset({Reveal.BRIEF})


class Audience(Struct, frozen=True):
    """The audience of a view: the end user, unless something is revealed."""

    revealed: frozenset[Reveal] = frozenset()
    strict: bool = False
    """True if the safe view must not even show that something is hidden."""
    thread: int | None = None
    """The only thread to show; None for all. This selects messages, but never reveals any."""
    sealed: bool = False
    """True if a document opened for this audience cannot be shown to an audience that is not sealed or sees more."""

    @property
    def is_safe(self) -> bool:
        """True if nothing about any hidden message is revealed, except call lines at the brief level."""
        return self.revealed <= _LINES_ONLY

    @property
    def level(self) -> Level:
        """How much is revealed."""
        if not self.is_safe:
            return Level.DEBUG
        return Level.BRIEF if self.revealed else Level.SAFE

    def admits(self, other: Audience) -> bool:
        """True if a document opened for this audience may be projected for the other audience. A sealed audience admits
        only sealed audiences that are at least as restricted: itself, a stricter one, or one limited to a thread."""
        if not self.sealed:
            return True
        is_stricter = other.strict or not self.strict
        return other.sealed and not other.revealed and is_stricter and self.thread in (None, other.thread)

    @property
    def sees_call_lines(self) -> bool:
        """True if each call is shown as one line: tool, state, and duration."""
        return self.level is Level.BRIEF and not self.strict and not self.thread

    def reveals(self, what: Reveal) -> bool:
        """True if this kind is revealed."""
        return Reveal.ALL in self.revealed or what in self.revealed

    @property
    def of_messages(self) -> Audience:
        """The audience that sees the same messages, without the lines of the brief level."""
        return replace(self, revealed=self.revealed - _LINES_ONLY)

    @property
    def sees_stray(self) -> bool:
        """True if text outside any message is revealed."""
        return self.reveals(Reveal.STRAY)

    @property
    def sees_thoughts(self) -> bool:
        """True if thought blocks are shown inside visible messages."""
        return self.reveals(Reveal.ANALYSIS)

    @property
    def sees_unlisted(self) -> bool:
        """True if fields and attributes that no rule lists are shown. Their content is unknown."""
        return self.reveals(Reveal.UNCLEAR)

    @property
    def sees_usage(self) -> bool:
        """True if token counts are shown. They reveal the amount of hidden text."""
        return self.sees_unlisted

    def sees(self, message: Message) -> bool:
        """True if this audience may see the message."""
        if self.thread is not None and message.header.thread != self.thread:
            return False
        if is_user_safe(message):
            return True
        return self.reveals(kind_of(message)) and (not message.header.thread or self.reveals(Reveal.SUBAGENT))


def is_listed_call(message: Message) -> bool:
    """True if the brief level has a line for this call. All other calls are counted as hidden."""
    header = message.header
    is_addressed = header.kind is Kind.CALL or header.recipient not in _NO_TOOLS
    is_call = header.role == "assistant" and is_addressed and message_kind(message) == Kind.CALL.value
    return is_call and _may_be_listed(message)


def is_listed_reply(message: Message) -> bool:
    """True if the line of a call may also represent this reply at the brief level."""
    is_reply = message.header.role == "tool" and message_kind(message) == Kind.REPLY.value
    return is_reply and _may_be_listed(message)


def _may_be_listed(message: Message) -> bool:
    """True for a message of the main agent whose header can be trusted and whose intent may be displayed. Callers have
    already excluded malformed headers, whose kind is `unknown`."""
    header = message.header
    is_trusted = header.complete and not message.broke_out
    return is_trusted and not header.thread and header.intent not in NEVER_DISPLAYED


_NO_TOOLS = (None, "user", "assistant", "all")


class Pane(Enum):
    """The panes of the layout with one pane per channel."""

    CONVERSATION = "conversation"
    ANALYSIS = "analysis"
    COMMENTARY = "commentary"


END_USER = Audience()
BRIEF = Audience(_LINES_ONLY)
EVERYTHING = Audience(frozenset({Reveal.ALL}))

_BY_KIND = {
    Kind.THOUGHT: Reveal.ANALYSIS,
    Kind.CALL: Reveal.COMMENTARY,
    Kind.REPLY: Reveal.TOOL,
    Kind.INJECTED: Reveal.INJECTED,
    Kind.SUBAGENT: Reveal.SUBAGENT,
    Kind.REPLAYED: Reveal.REPLAYED,
    Kind.NOTICE: Reveal.NOTICE,
    Kind.UNKNOWN: Reveal.UNCLEAR,
}
_BY_ROLE = {"system": Reveal.SYSTEM, "developer": Reveal.DEVELOPER, "tool": Reveal.TOOL}
_BY_CHANNEL = {Channel.ANALYSIS: Reveal.ANALYSIS, Channel.COMMENTARY: Reveal.COMMENTARY}


def kind_of(message: Message) -> Reveal:
    """Return the kind to reveal in order to show this message if it is hidden."""
    header = message.header
    if header.kind is Kind.INSTRUCTION:
        return Reveal.DEVELOPER if header.role == "developer" else Reveal.SYSTEM
    if header.kind in _BY_KIND:
        return _BY_KIND[header.kind]
    if header.role.startswith(("system:", "assistant:example_")):
        return Reveal.SYSTEM
    if header.role in _BY_ROLE:
        return _BY_ROLE[header.role]
    if header.role not in ("user", "assistant") or header.channel is None:
        return Reveal.UNCLEAR
    return _BY_CHANNEL.get(header.channel, Reveal.UNCLEAR)


_PANES = {Reveal.ANALYSIS: Pane.ANALYSIS, Reveal.COMMENTARY: Pane.COMMENTARY, Reveal.TOOL: Pane.COMMENTARY}


def pane_of(message: Message) -> Pane:
    """Return the pane of a message. Everything that the end user saw is in the conversation."""
    if is_user_safe(message):
        return Pane.CONVERSATION
    return _PANES.get(kind_of(message), Pane.CONVERSATION)


def message_kind(message: Message) -> str:
    """Return the kind of a message for machine-readable output; `said` for every shown message."""
    if is_user_safe(message):
        return Kind.SAID.value
    header = message.header
    if header.malformed or header.channel is None:
        return Kind.UNKNOWN.value
    if header.kind is not Kind.SAID:
        return str(header.kind.value)
    if header.role in ("system", "developer") or header.role.startswith(("system:", "assistant:example_")):
        return "instruction"
    if header.role == "tool":
        return "reply"
    if header.role not in ("user", "assistant"):
        return Kind.UNKNOWN.value
    if message.ending is Ending.CALL or header.recipient not in (None, "user", "assistant"):
        return "call"
    return "thought" if header.channel is Channel.ANALYSIS else Kind.SAID.value


def reason_of(message: Message) -> str:
    """Return why the end user does or does not see a message: the first of these fixed sentences that applies."""
    if is_user_safe(message):
        return _why_visible(message)
    header = message.header
    reasons = (
        (not header.complete, "Hidden: the header is incomplete"),
        (header.malformed, "Hidden: the header is malformed"),
        (message.broke_out, "Hidden: it starts inside an unclosed hidden message"),
        (header.kind is not Kind.SAID, _WHY_HIDDEN.get(header.kind, "Hidden: unknown content")),
        (header.thread != 0, "Hidden: sub-agent"),
        (header.intent in NEVER_DISPLAYED, "Hidden: the intent is `debug` or `status`"),
        (header.role not in ("user", "assistant"), "Hidden: the role is not shown to users"),
        (header.channel is not Channel.FINAL and not is_preamble(message), "Hidden: the channel is not shown to users"),
        (is_preamble(message), "Hidden: the preamble is not closed"),
    )
    return next((reason for applies, reason in reasons if applies), "Hidden: it is addressed to a tool")


_WHY_HIDDEN = {
    Kind.THOUGHT: "Hidden: reasoning",
    Kind.CALL: "Hidden: tool call",
    Kind.REPLY: "Hidden: tool result",
    Kind.INSTRUCTION: "Hidden: instructions",
    Kind.INJECTED: "Hidden: injected by the program",
    Kind.SUBAGENT: "Hidden: sub-agent",
    Kind.REPLAYED: "Hidden: repeated context",
    Kind.NOTICE: "Hidden: program notice",
}


def _why_visible(message: Message) -> str:
    if is_preamble(message):
        return "Visible: preamble"
    return "Visible: user message" if message.header.role == "user" else "Visible: assistant answer"
