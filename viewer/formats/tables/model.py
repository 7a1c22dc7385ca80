"""Types of a format table: conditions, rules for records and for their parts, and the format itself.

A path is dotted member names. `name[]` goes to each item of an array, `name[0]` to one item, `name[-1]` to the last
one, `name[1:]` to each after the first, `*` to each member, and `a|b` is the first of two paths that resolve. `a&b` is
both, for a body. The empty path is the value itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from msgspec import Struct, field

from viewer.model.diagnostic import Rule
from viewer.model.messages import Channel, Kind
from viewer.syntax.json_text import JsonKind


class Container(Enum):
    """How a file holds the records of a format."""

    JSON = "json"
    """One document, or one document per line."""
    LINES = "lines"
    """One record per line, or one after another."""
    SSE = "sse"
    """Server-sent events, or the same records as lines."""
    TEXT = "text"


class When(Struct, frozen=True):
    """A condition on a record or a part. Conditions that are not set hold."""

    path: str
    equals: frozenset[str] = frozenset()
    not_equals: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    """Beginnings of a string, after ASCII white space."""
    ends: tuple[str, ...] = ()
    """Endings of a string."""
    only: frozenset[str] = frozenset()
    """The members that the object may have. Another member, or a repeated one, may change its meaning."""
    kind: JsonKind | None = None
    present: bool | None = None
    """Null counts as absent."""
    true: bool | None = None
    """The JSON value true, or false, null, or no value. Any other value makes the record unknown."""


def is_(path: str, *words: str) -> When:
    """The value is one of these strings."""
    return When(path, equals=frozenset(words))


def is_not(path: str, *words: str) -> When:
    """The value is none of these strings."""
    return When(path, not_equals=frozenset(words))


def starts(path: str, *words: str) -> When:
    """The value begins with one of these strings."""
    return When(path, starts=words)


def ends(path: str, *words: str) -> When:
    """The value ends with one of these strings."""
    return When(path, ends=words)


def only(*members: str) -> When:
    """The object has no other members."""
    return When("", only=frozenset(members))


def has(path: str) -> When:
    """The path has a value."""
    return When(path, present=True)


def lacks(path: str) -> When:
    """The path has no value."""
    return When(path, present=False)


def flag(path: str) -> When:
    """The value is true."""
    return When(path, true=True)


def no_flag(path: str) -> When:
    """The value is false or absent."""
    return When(path, true=False)


class Words(Struct, frozen=True):
    """The channel that a word of the record names."""

    path: str
    words: Mapping[str, Channel]
    missing: Channel = Channel.FINAL
    """The channel if there is no word. Any unlisted word is an unknown channel, which is hidden."""


class Outcomes(Struct, frozen=True):
    """Where a record states how a call ended. Each entry is a path whose value is true or not empty, `path=word`, or
    `path!=word`; numbers compare as text, and `path=*word` is an ending."""

    ok: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    timeout: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Fault(Struct, frozen=True):
    """A diagnostic that a value of a record states: an error of the run, or an answer that ended early."""

    path: str
    codes: Mapping[str, tuple[Rule, str | None] | None] = field(default_factory=dict)
    """The rule and the reason for a text or a number; None for a normal value."""
    default: tuple[Rule, str | None] | None = None
    """The rule and the reason for any other value that is not null, false, or empty."""


class Mode(Enum):
    """How records with one key become one message."""

    PARTS = "parts"
    """The records add to one reply: a part that was read before is a copy, and a longer text replaces a shorter one."""
    APPEND = "append"
    """The text grows."""
    REPLACE = "replace"
    """The text replaces the earlier one."""
    REPEAT = "repeat"
    """A copy if a message of the same role has this text, otherwise a message."""
    FINAL = "final"
    """The same for the last record of a run, which may hold a text that no other record had."""


class Merge(Struct, frozen=True):
    """Which records belong to one message."""

    mode: Mode
    key: str = ""
    """The path of the key; if it is empty, consecutive messages of this rule belong together."""
    done: When | None = None
    """The condition on the record that ends the message, even if it adds nothing."""
    begins: When | None = None
    """The condition on the record that begins another message, if there is no key."""


class Exchange(Enum):
    """The role of a record in a conversation with a server."""

    REQUEST = "request"
    RESPONSE = "response"


class History(Struct, frozen=True):
    """How requests repeat a conversation: a request that begins with all of it continues it."""

    id: str
    """The path of the id of a response."""
    previous: str
    """The path of the id of the previous response."""


class Prefill(Enum):
    """The two halves of an answer that its request begins."""

    BEGINS = "begins"
    """A message of a request: the last one may be the beginning of the answer."""
    GOES_ON = "goes on"
    """A response: its first text continues the message right before it if that message may be its beginning."""


class Step(Enum):
    """What a record does to a reply that arrives in blocks."""

    REPLY = "reply"
    """A reply begins."""
    OPEN = "open"
    """A block begins. Its part decides the kind of the block, once."""
    GROW = "grow"
    """More of a block. A part of another kind is unknown."""
    ADD = "add"
    """More of a block, or its beginning: the first part decides the kind of the block."""
    CLOSE = "close"
    """A block is complete."""
    END = "end"
    """The reply is complete."""


class Stream(Struct, frozen=True):
    """Membership in a reply that arrives in blocks. The parts in the body of the record are its content."""

    step: Step
    block: str = ""
    """The path of the key of the block."""
    scope: str = ""
    """The path of the value that separates replies that arrive at the same time."""
    reply: str = ""
    """The path of the id of the reply, which its other records use as their merge key."""


class Copies(Struct, frozen=True):
    """Membership in a group of records that repeat one text."""

    group: str
    primary: bool = False
    """True for the occurrence with more facts."""


class Alone(Enum):
    """What a primary becomes without a partner."""

    ITSELF = "itself"
    """It never needs a partner."""
    SAID_BEFORE_COPIES = "said before copies"
    """It is said if the file has had no copy of the group yet and it does not begin with `<`, otherwise injected."""


class Narrowing(Struct, frozen=True):
    """The kind that said texts get from a record on."""

    kind: Kind
    until: tuple[When, ...] = ()
    """The conditions on the record that ends it."""
    time: str = ""
    """The path of the time of a record. If set, only records close in time to the first one of the transcript count."""
    within_ms: int = 0
    fault: tuple[Rule, str] | None = None
    """What to report when it begins."""


class PartRule(Struct, frozen=True):
    """How one content part becomes a message, or a piece of one. The first rule whose conditions hold wins."""

    when: tuple[When, ...]
    kind: Kind | None
    """None for known data that is not a message."""
    body: str = ""
    call_id: str = ""
    name: str = ""
    default_name: str = ""
    """The tool if the part has no name."""
    channel: Channel | None = None
    label: bool = False
    """True for an attachment: its part shows as `[image/png, 40 KB]`."""
    opaque: bool = False
    """True for encrypted data: it shows as `[encrypted, 2 KB]`."""
    outcome: Outcomes | None = None
    text: bool = False
    """True if the arguments of a call are text, not JSON."""
    refusal: bool = False
    """True if the text is on a separate line."""
    intent: str = ""
    """The intent of a thought: `summary`."""
    reply: PartRule | None = None
    """The reply that the same part carries."""
    each: str = ""
    """The path of the parts inside this part."""
    also: tuple[PartRule, ...] = ()
    """Rules for further messages in the same part."""


class Lookup(Struct, frozen=True):
    """Texts that are elsewhere in the record: a string `PREFIXname` is replaced by the member `name` at a path."""

    prefix: str
    at: str


class Branches(Struct, frozen=True):
    """How the records in a record form a tree, of which one branch is the newest."""

    id: str
    parent: str
    newest: str
    """The path, in the outer record, of the id of the last record of the newest branch."""


class RecordRule(Struct, frozen=True):
    """How one record becomes messages. The first rule whose conditions hold wins."""

    when: tuple[When, ...]
    kind: Kind | None = Kind.UNKNOWN
    """None for known data that is not a message."""
    role: str = ""
    """A word, or `@path`."""
    body: str = ""
    """The path of the text or of the parts."""
    parts: tuple[PartRule, ...] = ()
    """Rules for each item of the body; a string is one text part."""
    each: str = ""
    """The path of records in this record. Such a rule does not end the evaluation."""
    rules: tuple[RecordRule, ...] = ()
    """The rules for these records. They take the thread, the time, and for replies the call id of this record."""
    branches: Branches | None = None
    """The tree of these records: they are read branch by branch, and those of older branches are superseded."""
    order: str = ""
    """The path of a number in each of these records, if the newest one may come first."""
    also: tuple[RecordRule, ...] = ()
    """Rules for further messages in the same record: each one whose conditions hold applies."""
    goes_on: bool = False
    """True if the next rules apply to the record as well."""
    lookup: Lookup | None = None
    """Where to find texts of these records."""
    starts: bool = False
    """True if the record starts a transcript, unless its session is the current one; also a record in another one."""
    session: str = ""
    """The path of the id of the transcript that the record starts."""
    narrows: Narrowing | None = None
    """The kind that said texts of this record and the next ones get."""
    cancels: bool = False
    """True if the record ends all calls without a reply."""
    exchange: Exchange | None = None
    """The role of the record in a conversation with a server."""
    once: bool = False
    """True if a text that the transcript already has is a copy."""
    later: Kind | None = None
    """The kind of a text after the first message of a transcript, if only that one may be said. Instructions,
    injected, and replayed text do not count."""
    orphan: Kind | None = None
    """The kind of a reply whose id belongs to no call of the transcript, if ids alone do not make a reply."""
    whole: bool = False
    """True if the record must be complete, because its conditions may follow its content."""
    channel: Words | Channel | None = None
    call_id: str = ""
    typed_id: bool = False
    """True if a call id that is the number 1 is another one than the string 1."""
    name: str = ""
    default_name: str = ""
    time: str = ""
    thread: str = ""
    """The path of the thread of another agent."""
    merge: Merge | None = None
    stream: Stream | None = None
    prefill: Prefill | None = None
    copy: Copies | None = None
    outcome: Outcomes | None = None
    faults: tuple[Fault, ...] = ()
    label: bool = False
    opaque: bool = False
    text: bool = False
    split: bool = False
    """True if the hook `split` divides the text."""
    rewind: str = ""
    """The path of the id of a record: everything after that record is superseded."""
    rewind_turns: str = ""
    """The path of a number of prompts: the last ones, with everything after them, are superseded."""
    aside: bool = False
    """True if the record has no place in the tree, so that branches skip it."""
    classify: bool = False
    """True if the hook `classify` decides the kind of the text."""
    then: tuple[str, ...] = ()
    """Paths of further texts of a message without parts, each after an empty line."""
    repeats: tuple[str, ...] = ()
    """Paths of texts and lists of messages. What repeats them is a copy: a text, or the beginning of `each`."""
    unused: bool = False
    """True for an answer that no user got: its text is unknown, in its own thread."""


class Signature(Struct, frozen=True):
    """What the records of a format have in common."""

    score: int
    need: tuple[str, ...] = ()
    """Paths that must have a value."""
    any_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words, one of which the value of a path must be; a word that ends with `*` is a prefix."""
    none_of: tuple[str, ...] = ()
    """Paths that must not have a value."""
    members: tuple[str, ...] = ()
    """Prefixes, one of which the name of some member must have."""
    decides: bool = False
    """True if one record is enough, because only records of one speaker fit."""


class Threads(Struct, frozen=True):
    """How records form a tree."""

    id: str
    parent: str
    calls: frozenset[str] = frozenset()
    """The tools that start another agent."""


Split = Callable[[str], list[tuple[Kind, int, int]] | None]
Classify = Callable[[str], Kind | None]
"""None if the hook failed: the record is unknown."""


class Hooks(Struct, frozen=True):
    """The functions that a table may contain. They return kinds and offsets, never text."""

    split: Split | None = None
    """The runs of a text, in order, with the kind of each."""
    split_answer: Split | None = None
    """The same for a text of the assistant, if it is divided differently."""
    classify: Classify | None = None
    """The kind of a whole text."""
    renew: Callable[[], Hooks] | None = None
    """Makes the hooks for one input, if they keep a state."""
    is_disabled: Callable[[], bool] = lambda: False
    """True if the hooks failed too often."""


class Inner(Struct, frozen=True):
    """Strings that hold JSON, in objects that fulfill conditions."""

    holders: str
    """The path of the objects."""
    path: str
    """The path of the string in each of them."""
    when: tuple[When, ...] = ()
    always: bool = False
    """True if the JSON in the string may be something other than an object or an array."""


class Family(Enum):
    """Families of messages that arrive as deltas."""

    TEXT = "text"
    REASONING = "reasoning"
    SUMMARY = "summary"
    CALL = "call"
    OTHER = "other"
    """Text that no rule maps: always hidden."""


class Act(Enum):
    """The action of an event."""

    DELTA = "delta"
    DONE = "done"
    """A message closes."""
    FLUSH = "flush"
    """A segment ends."""
    CANCEL = "cancel"
    TOOL_CANCEL = "tool-cancel"
    ITEM = "item"
    """An item of the response begins; it may name a tool."""
    ITEM_DONE = "item-done"
    PART = "part"
    """A content part begins."""
    PART_DONE = "part-done"
    """A content part closes and repeats its text."""
    BEGINS = "begins"
    """A response begins."""
    ENDS = "ends"
    """A response ends with all its messages."""
    ERROR = "error"
    BREAKS_OFF = "breaks-off"
    """A response ends; its messages stay unfinished."""
    ASKED = "asked"
    """An item of the conversation, such as what the user typed."""
    TRANSCRIPT = "transcript"
    """What the user said."""
    SENT = "sent"
    """An item that a client adds; the server repeats it, often under an id of its own."""
    REQUESTED = "requested"
    """A client asks for a response, possibly with instructions and items of its own."""
    SESSION = "session"
    """The settings of the session, with instructions."""
    NOTHING = "nothing"
    """A known event without message text."""
    UNKNOWN = "unknown"
    """An event of the interface that this table does not list."""


class EventKind(Struct, frozen=True, gc=False):
    """What an event of one type does."""

    act: Act
    family: Family | None = None
    is_refusal: bool = False


UNLISTED = EventKind(Act.UNKNOWN)


class EventTable(Struct, frozen=True):
    """How events become messages that grow."""

    kinds: Mapping[str, EventKind]
    """What an event does, by its type."""
    items: tuple[RecordRule, ...] = ()
    """The rules for an item of a response that a later event repeats. One that says is a message."""
    parts: tuple[PartRule, ...] = ()
    """The rules for the content parts of messages and of chunks."""
    chunk_members: frozenset[str] = frozenset()
    """The members of a delta in a chunk that are read, or hold no text of a message."""
    choice_members: frozenset[str] = frozenset()
    """The same for a choice."""
    api: Mapping[str, EventKind] = field(default_factory=dict)
    """The same for events of the Responses API whose types `kinds` lacks."""
    interface: str = ""
    """The beginning of the types of an interface. One that `kinds` lacks may have text, which is hidden."""
    progress: frozenset[str] = frozenset()
    """Last words of unlisted types that report only the state of a tool."""
    deltas: tuple[str, ...] = ("delta",)
    """The members of an event, one of which holds more of a text."""
    wholes: tuple[str, ...] = ("text",)
    """The members of an event that closes a message, one of which may repeat its whole text."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """The reasons of errors of the run by their codes."""
    incomplete: Mapping[str, tuple[Rule, str]] = field(default_factory=dict)
    """The reports by the reason why an answer is incomplete."""
    is_api: bool = False
    """True for the Responses API: it announces its items, and states errors, instructions, and its end."""

    def kind_of(self, name: str) -> EventKind | None:
        """What an event of a type does; None if it is not an event."""
        known = self.kinds.get(name)
        if known is not None or not self.interface or not name.startswith(self.interface):
            return known
        return UNLISTED

    def is_progress(self, name: str) -> bool:
        """True if an unlisted event only reports the state of a tool."""
        return name.rpartition(".")[2] in self.progress


class MessageTable(Struct, frozen=True):
    """The paths of the messages of a document, each of which states its own header."""

    lists: tuple[str, ...]
    """Members with lists of messages."""
    inner: str = ""
    """The member that holds the message in an item of the last list."""
    requests: tuple[str, ...] = ()
    """Members with objects that hold such a list: the messages of a response follow those of its request."""
    responses: tuple[str, ...] = ()
    items: str = ""
    """The member with the items of a response without a list."""
    chosen: str = ""
    """The member with an answer that follows the list."""
    rejected: str = ""
    """The member with an answer that no user got."""


class Spans(Struct, frozen=True):
    """How the spans of traces become conversations."""

    each: str
    """The path of the spans in a record. A record without any is a span itself."""
    trace: str
    id: str
    parent: str
    start: str
    """The path of the time that orders the spans."""
    group: str = ""
    """The path of the conversation; without one, each trace is a conversation."""
    attributes: str = "attributes"
    """The member that holds the attributes, if there are any. A span without it is one object of attributes."""
    agents: tuple[When, ...] = ()
    """Conditions, one of which holds for the span of an agent."""
    tools: tuple[When, ...] = ()
    """The same for the span of a tool."""
    remote: tuple[When, ...] = ()
    """The same for a span whose parent is in another process."""
    logs: bool = False
    """True if log records may be the events of spans."""


class Counting(Enum):
    """What several statements about usage have in common."""

    EACH = "each"
    """Each counts."""
    LAST = "last"
    """The last one counts for a key; without one, for a message."""
    COUNTER = "counter"
    """A counter of the whole session: its changes count."""
    OPENS = "opens"
    """It belongs to the reply that begins."""
    JOINS = "joins"
    """It replaces numbers of the reply that began."""
    TOTAL = "total"
    """It is the sum of the transcript."""


class Tokens(Struct, frozen=True):
    """Where a record states how many tokens a reply used. The numbers at several paths are added."""

    at: str
    """The path of the object with the numbers."""
    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    when: tuple[When, ...] = ()
    each: str = ""
    """The path of the items that state usage; the other paths begin there."""
    key: str = ""
    """The path of the id of the reply."""
    counts: Counting = Counting.EACH


class RecordFormat(Struct, frozen=True):
    """A format as a table."""

    name: str
    title: str
    container: Container
    signatures: tuple[Signature, ...]
    records: tuple[RecordRule, ...]
    session: str = ""
    """The path of the session in a record: another session starts another transcript."""
    inner: tuple[str | Inner, ...] = ()
    """The paths of strings that hold JSON: they are read in place before the rules apply."""
    spans: Spans | None = None
    usage: tuple[Tokens, ...] = ()
    """How records state the number of tokens."""
    alternates: bool = False
    """True if answers alternate with other messages, and the last message is an answer."""
    keeps_fields: bool = False
    """True if the members that no rule reads describe the transcript that the record starts."""
    model: str = ""
    version: str = ""
    threads: Threads | None = None
    alone: Mapping[str, Alone] = field(default_factory=dict)
    """What the primaries of a copy group become without a partner."""
    history: History | None = None
    replays: Narrowing | None = None
    """The kind of the texts of a session that starts right after the first one: they are its history."""
    preambles: bool = False
    """True if commentary without a recipient was shown to the user."""
    hooks: Hooks = Hooks()
    messages: MessageTable | None = None
    """Where the messages are, if the format has no rules."""
    events: EventTable | None = None
    """What the events of a stream do, if the format has no rules."""
