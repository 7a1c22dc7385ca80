"""Types of format tables: conditions, rules for records and their parts, and the format itself.

A path consists of dotted member names. `name[]` means each item of an array, `name[0]` one item, `name[-1]` the last
item, `name[1:]` each item after the first, `*` each member, `*#` each member whose name is an ID, and `*!` each other
member. `+name` means the value itself and, at every depth, the items of its member `name`. `a|b` is the first of two
paths that resolves, and `a&b`, for a body, is both. The empty path is the value itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from msgspec import Struct, field

from viewer.model.diagnostic import Rule
from viewer.model.messages import Channel, Fixed, Kind
from viewer.syntax.json_text import JsonKind


class Container(Enum):
    """How a file stores the records of a format."""

    JSON = "json"
    """One document, or one document per line."""
    LINES = "lines"
    """One record per line, or one after another."""
    SSE = "sse"
    """Server-sent events, or the same records on separate lines."""
    TEXT = "text"


class When(Struct, frozen=True):
    """A condition on a record or a part. A test that is not set always passes."""

    path: str
    equals: frozenset[str] = frozenset()
    not_equals: frozenset[str] = frozenset()
    starts: tuple[str, ...] = ()
    """The prefixes, one of which the string must have after any ASCII whitespace."""
    not_starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    """The suffixes, one of which the string must have."""
    only: frozenset[str] = frozenset()
    """The only members that the object may have, because any other member, or a repeated one, might change its
    meaning."""
    kind: JsonKind | None = None
    present: bool | None = None
    """True to require a value at the path, False to require that there is none. Null counts as absent."""
    printed: bool | None = None
    """True to require a string that a program printed from an object; False to require any other value."""
    true: bool | None = None
    """True to require the value true; False to require false, null, or absence. Any other value makes the record
    unknown."""


def is_(path: str, *words: str) -> When:
    """Return the condition that the value is one of these strings."""
    return When(path, equals=frozenset(words))


def is_not(path: str, *words: str) -> When:
    """Return the condition that the value is none of these strings."""
    return When(path, not_equals=frozenset(words))


def starts(path: str, *words: str) -> When:
    """Return the condition that the value begins with one of these strings."""
    return When(path, starts=words)


def ends(path: str, *words: str) -> When:
    """Return the condition that the value ends with one of these strings."""
    return When(path, ends=words)


def printed(path: str) -> When:
    """Return the condition that the value is text that a program printed from an object."""
    return When(path, printed=True)


def only(*members: str) -> When:
    """Return the condition that the object has no other members."""
    return When("", only=frozenset(members))


def has(path: str) -> When:
    """Return the condition that the path has a value."""
    return When(path, present=True)


def lacks(path: str) -> When:
    """Return the condition that the path has no value."""
    return When(path, present=False)


def flag(path: str) -> When:
    """Return the condition that the value is true."""
    return When(path, true=True)


def no_flag(path: str) -> When:
    """Return the condition that the value is false or absent."""
    return When(path, true=False)


class Words(Struct, frozen=True):
    """Maps the words at a path to channels."""

    path: str
    words: Mapping[str, Channel]
    missing: Channel = Channel.FINAL
    """The channel if there is no word. An unlisted word counts as an unknown channel and hides the message."""


class Outcomes(Struct, frozen=True):
    """Where a record indicates how a call ended. Each entry is a path whose value must be true or nonempty,
    `path=word`, or `path!=word`. Numbers compare as text, and `path=*word` tests the end of the value."""

    ok: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    cancelled: tuple[str, ...] = ()
    timeout: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Fault(Struct, frozen=True):
    """A diagnostic that depends on a value in a record: an error in the run, or an answer that ended early."""

    path: str
    codes: Mapping[str, tuple[Rule, str | None] | None] = field(default_factory=dict)
    """The rule and reason for each string or number; None for a normal value."""
    default: tuple[Rule, str | None] | None = None
    """The rule and reason for any other value that is not null, false, or empty."""
    message: str = ""
    """The path of the ID of the message, if consecutive records of one message repeat the value. It is then reported
    once."""


class Mode(Enum):
    """How records with the same key become one message."""

    PARTS = "parts"
    """The records add to one reply. A part that was already read is a copy, and longer text replaces shorter text."""
    APPEND = "append"
    """The text is appended."""
    REPLACE = "replace"
    """The text replaces the earlier text."""
    REPEAT = "repeat"
    """The record is a copy if a message of the same role has the same text. Otherwise, it is a message."""
    FINAL = "final"
    """Like `REPEAT`, for the last record of a run, which may contain text that no other record had."""


class Merge(Struct, frozen=True):
    """The rule that merges several records into one message."""

    mode: Mode
    key: str = ""
    """The path of the key. If it is empty, consecutive messages of this rule belong together."""
    done: When | None = None
    """The condition on the record that ends the message, even if that record adds nothing."""
    may_lack_end: bool = False
    """True if the message may be complete although no record ended it, because programs do not log that record."""
    begins: When | None = None
    """The condition on a record that begins another message, if there is no key."""
    consecutive: bool = False
    """True if any other message ends a message of this rule, even though it has a key."""


class Exchange(Enum):
    """The role of a record in a conversation with a server."""

    REQUEST = "request"
    RESPONSE = "response"


class History(Struct, frozen=True):
    """How requests repeat a conversation. A request that begins with the whole conversation continues it."""

    id: str
    """The path of the response ID."""
    previous: str
    """The path of the previous response ID."""


class Prefill(Enum):
    """The two parts of an answer that begins in its request."""

    BEGINS = "begins"
    """A message of a request. The last one may be the start of the answer."""
    GOES_ON = "goes on"
    """A response. Its first text continues the message right before it, if that may be the start of the answer."""


class Step(Enum):
    """The effect of a record on a reply that arrives in blocks."""

    REPLY = "reply"
    """A reply begins."""
    OPEN = "open"
    """A block begins. Its part decides the kind of the block."""
    GROW = "grow"
    """A block continues. A part of another kind is unknown."""
    ADD = "add"
    """A block begins or continues. The first part decides its kind."""
    CLOSE = "close"
    """A block is complete."""
    END = "end"
    """The reply is complete."""


class Stream(Struct, frozen=True):
    """The role of a record in a reply that arrives in blocks. The parts in the body of the record are the content."""

    step: Step
    block: str = ""
    """The path of the key of the block."""
    scope: str = ""
    """The path of the value that separates replies that arrive at the same time."""
    reply: str = ""
    """The path of the ID of the reply, which the other records of the reply use as their merge key."""
    by_chunks: bool = False
    """True if a reply consists of chunks. The first chunk decides the kind of the reply, even without text, and no
    chunk ends the reply. Without a scope, the record continues the reply of the chunk right before it."""


class Copies(Struct, frozen=True):
    """Membership in a group of records that repeat the same text."""

    group: str
    primary: bool = False
    """True for the occurrence with more data."""


class Alone(Enum):
    """The meaning of a primary record without a partner."""

    ITSELF = "itself"
    """A message of its own kind, because it needs no partner."""
    SAID_BEFORE_COPIES = "said before copies"
    """Said text, if no copy of the group has occurred yet and the text does not start with `<`; otherwise, injected
    text."""


class Narrowing(Struct, frozen=True):
    """A change of the kind of said text, beginning with a certain record."""

    kind: Kind
    until: tuple[When, ...] = ()
    """The conditions on the record that ends the narrowing."""
    time: str = ""
    """The path of the time. If it is set, only records close in time to the first one of the transcript are
    affected."""
    within_ms: int = 0
    fault: tuple[Rule, str] | None = None
    """The problem to report when the narrowing begins."""


class PartRule(Struct, frozen=True):
    """How a content part becomes a message or a piece of one. The first rule whose conditions hold applies."""

    when: tuple[When, ...]
    kind: Kind | None
    """The kind of the part; None for known data that is not a message."""
    body: str = ""
    call_id: str = ""
    name: str = ""
    default_name: str = ""
    """The name of the tool if the part does not name one."""
    channel: Channel | None = None
    label: bool = False
    """True for an attachment, whose part is shown as `[image/png, 40 KB]`."""
    opaque: bool = False
    """True for encrypted data, which is shown as `[encrypted, 2 KB]`."""
    outcome: Outcomes | None = None
    text: bool = False
    """True if the arguments of a call are text, not JSON."""
    refusal: bool = False
    """True if the text starts on a separate line."""
    intent: str = ""
    """The intent of a thought, such as `summary`."""
    reply: PartRule | None = None
    """The reply in the same part."""
    each: str = ""
    """The path of the parts inside this part."""
    also: tuple[PartRule, ...] = ()
    """Rules for further messages in the same part."""


class Lookup(Struct, frozen=True):
    """Text elsewhere in the record: a string `PREFIXname` is replaced with the member `name` at a path."""

    prefix: str
    at: str


class Branches(Struct, frozen=True):
    """How nested records form a tree with one newest branch."""

    id: str
    parent: str
    newest: str
    """The path, in the outer record, to the ID of the last record on the newest branch."""
    top: frozenset[str] = frozenset()
    """IDs that mean that there is no parent."""
    has_hidden_top: bool = False
    """True if the first record has a parent that is never stored."""


class RecordRule(Struct, frozen=True):
    """How a record becomes messages. The first rule whose conditions hold applies."""

    when: tuple[When, ...]
    kind: Kind | None = Kind.UNKNOWN
    """The kind of the record; None for known data that is not a message."""
    role: str = ""
    """A role, or `@path` to read it from the record."""
    body: str = ""
    """The path of the text or of the parts."""
    parts: tuple[PartRule, ...] = ()
    """Rules for each item of the body. A string counts as one text part."""
    each: str = ""
    """The path of nested records. A rule with this path does not end the evaluation."""
    rules: tuple[RecordRule, ...] = ()
    """The rules for nested records. Nested records inherit the thread, the time and, for replies, the call ID of this
    record."""
    branches: Branches | None = None
    """The tree of nested records. The records are read branch by branch, and records on older branches are
    superseded."""
    order: str = ""
    """The path of a number by which nested records are sorted, because the newest may come first."""
    place: int = 0
    """-1 if the messages of the rule go before everything else in the record, 1 if they go after it."""
    also: tuple[RecordRule, ...] = ()
    """Rules for further messages in the same record. Every rule whose conditions hold applies."""
    goes_on: bool = False
    """True if later rules can also apply to the record."""
    lookup: Lookup | None = None
    """Where to look up the text of nested records."""
    starts: bool = False
    """True if the record, even a nested one, starts a transcript, unless its session is already the current one."""
    session: str = ""
    """The path of the session ID of the transcript that the record starts."""
    narrows: Narrowing | None = None
    """The kind that said text gets in this record and later ones."""
    cancels: bool = False
    """True if the record ends all calls without a reply."""
    exchange: Exchange | None = None
    """The role of the record in a conversation with a server."""
    once: bool = False
    """True if text that the transcript already contains is a copy."""
    later: Kind | None = None
    """The kind of text after the first message of a transcript, if only the first may be said. Instructions and
    injected or replayed text do not count."""
    first_role: str = ""
    """The role of the first message of a transcript, if it is not the usual one."""
    orphan: Kind | None = None
    """The kind of a reply whose ID matches no call of the transcript, if an ID is not enough to make it a reply."""
    whole: bool = False
    """True if the record must be complete, because its conditions may test values that follow its content."""
    channel: Words | Channel | None = None
    call_id: str = ""
    typed_id: bool = False
    """True if the call ID 1 (a number) differs from "1" (a string)."""
    name: str = ""
    default_name: str = ""
    time: str = ""
    thread: str = ""
    """The path of the thread ID of another agent."""
    merge: Merge | None = None
    stream: Stream | None = None
    prefill: Prefill | None = None
    copy: Copies | None = None
    outcome: Outcomes | None = None
    faults: tuple[Fault, ...] = ()
    label: bool = False
    opaque: bool = False
    text: bool = False
    numbers: bool = False
    """True if said text may be a number."""
    html: bool = False
    """True if the text contains HTML character references."""
    split: bool = False
    """True if the hook `split` splits the text."""
    rewind: str = ""
    """The path of the ID of a record after which everything is superseded."""
    rewind_turns: str = ""
    """The path of a number: that many of the latest prompts, with everything after them, are superseded."""
    aside: bool = False
    """True if the record does not belong to the tree, so branches skip it."""
    classify: bool = False
    """True if the hook `classify` decides the kind of the text."""
    then: tuple[str, ...] = ()
    """Paths of additional text in a message without parts, each separated by an empty line."""
    repeats: tuple[str, ...] = ()
    """Paths of strings and message lists. Text, or items at the start of `each`, that repeat one of them are copies."""
    known_ids: tuple[str, str] | None = None
    """The path of IDs in the record, and the path of the ID in an item of `each`. Items with one of these IDs are
    copies."""
    unused: bool = False
    """True for an answer that no user received. Its text is of unknown kind, in a separate thread."""
    of_conversation: bool = False
    """True if the record is a whole conversation, so its flags apply to a conversation, not to a message."""


class Signature(Struct, frozen=True):
    """The properties by which a record of a format is recognized."""

    score: int
    need: tuple[str, ...] = ()
    """Paths that must have a value."""
    any_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """For each path, the words that the value may be. A word that ends in `*` is a prefix."""
    none_of: tuple[str, ...] = ()
    """Paths that must not have a value."""
    members: tuple[str, ...] = ()
    """Prefixes. At least one member must have a name that starts with one of them."""
    decides: bool = False
    """True if one matching record is enough to detect the format, because only records of one speaker match."""


class Threads(Struct, frozen=True):
    """How records form a tree."""

    id: str
    parent: str
    calls: frozenset[str] = frozenset()
    """The tools that start another agent."""


Run = tuple[Kind, int, int] | tuple[Kind, int, int, str]
"""A run of text: its kind, its offsets and, if one text has several speakers, its role."""
Split = Callable[[str], Sequence[Run] | None]
Classify = Callable[[str], Kind | None]
"""A function that returns the kind of the text, or None if the hook failed. In that case, the record is unknown."""


class Hooks(Struct, frozen=True):
    """The functions that a table may have. They return kinds and offsets, never text."""

    split: Split | None = None
    """A function that returns the runs of the text, in order, with the kind of each."""
    split_answer: Split | None = None
    """Like `split`, for the assistant's text, if it is split differently."""
    classify: Classify | None = None
    """A function that returns the kind of the whole text."""
    renew: Callable[[], Hooks] | None = None
    """A function that returns fresh hooks for one input, if the hooks keep state."""
    is_disabled: Callable[[], bool] = lambda: False
    """True if the hooks failed too often."""


class Inner(Struct, frozen=True):
    """Strings that contain JSON, in objects that meet conditions."""

    holders: str
    """The path of the objects."""
    path: str
    """The path of the string in each object."""
    when: tuple[When, ...] = ()
    always: bool = False
    """True if the string may contain JSON other than an object or an array."""
    events: bool = False
    """True if the string may contain server-sent events or objects on separate lines, which become an array."""


class Family(Fixed):
    """Families of messages that arrive as deltas."""

    TEXT = "text"
    REASONING = "reasoning"
    SUMMARY = "summary"
    CALL = "call"
    OTHER = "other"
    """Text that no rule maps, which is always hidden."""


class Act(Fixed):
    """The effect of an event."""

    DELTA = "delta"
    DONE = "done"
    """A message closes."""
    FLUSH = "flush"
    """A segment ends."""
    CANCEL = "cancel"
    TOOL_CANCEL = "tool-cancel"
    ITEM = "item"
    """An item of the response begins. It may name a tool."""
    ITEM_DONE = "item-done"
    PART = "part"
    """A content part begins."""
    PART_DONE = "part-done"
    """A content part closes and repeats its text."""
    BEGINS = "begins"
    """A response begins."""
    ENDS = "ends"
    """A response and all its messages end."""
    ERROR = "error"
    BREAKS_OFF = "breaks-off"
    """A response ends, but its messages stay unfinished."""
    ASKED = "asked"
    """An item of the conversation, such as what the user typed."""
    TRANSCRIPT = "transcript"
    """Words that the user spoke."""
    SENT = "sent"
    """An item that a client adds. The server repeats it, often with another ID."""
    REQUESTED = "requested"
    """A client requests a response, possibly with its own instructions and items."""
    SESSION = "session"
    """The settings of the session, with instructions."""
    NOTHING = "nothing"
    """A known event without message text."""
    UNKNOWN = "unknown"
    """An event of the interface that this table does not list."""


class EventKind(Struct, frozen=True, gc=False):
    """The effect of an event of one type."""

    act: Act
    family: Family | None = None
    is_refusal: bool = False


UNLISTED = EventKind(Act.UNKNOWN)


class EventTable(Struct, frozen=True):
    """How events become messages that grow."""

    kinds: Mapping[str, EventKind]
    """The effects of events, by type."""
    items: tuple[RecordRule, ...] = ()
    """The rules for items of a response that a later event repeats. An item whose kind is said is a message."""
    parts: tuple[PartRule, ...] = ()
    """The rules for the content parts of messages and of chunks."""
    chunk_members: frozenset[str] = frozenset()
    """The members of a delta in a chunk that are read or contain no message text."""
    choice_members: frozenset[str] = frozenset()
    """The members of a choice that are read or contain no message text."""
    api: Mapping[str, EventKind] = field(default_factory=dict)
    """The effects of events that are only recognized in a stream of the Responses API, by type."""
    interface: str = ""
    """The prefix of an API's event types. An event whose type has this prefix but is not in `kinds` may contain text,
    which is hidden."""
    progress: frozenset[str] = frozenset()
    """Last words of unlisted types that only report the state of a tool."""
    deltas: tuple[str, ...] = ("delta",)
    """Members of a delta event. One of them may contain the added text."""
    wholes: tuple[str, ...] = ("text",)
    """Members of a closing event. One of them may repeat the whole text of the message."""
    errors: Mapping[str, str] = field(default_factory=dict)
    """The reasons for errors in the run, by error code."""
    incomplete: Mapping[str, tuple[Rule, str]] = field(default_factory=dict)
    """The problems to report, by the reason why an answer is incomplete."""
    is_api: bool = False
    """True for the Responses API, which announces its items and reports errors, instructions, and its end."""

    def kind_of(self, name: str) -> EventKind | None:
        """Return the effect of an event of this type, or None if no event has this type."""
        known = self.kinds.get(name)
        if known is not None or not self.interface or not name.startswith(self.interface):
            return known
        return UNLISTED

    def is_progress(self, name: str) -> bool:
        """True if an unlisted event only reports the state of a tool."""
        return name.rpartition(".")[2] in self.progress


class MessageTable(Struct, frozen=True):
    """Where the messages of a document are. Each message determines its own header."""

    lists: tuple[str, ...]
    """Members with lists of messages."""
    inner: str = ""
    """The member that contains the message in an item of the last list."""
    requests: tuple[str, ...] = ()
    """Members with objects that contain a list of messages. The messages of a response follow the messages of its
    request."""
    responses: tuple[str, ...] = ()
    items: str = ""
    """The member with the items of a response without a list."""
    chosen: str = ""
    """The member with an answer that follows the list."""
    rejected: str = ""
    """The member with an answer that no user received."""


class Spans(Struct, frozen=True):
    """How the spans of traces become conversations."""

    each: str
    """The path of the spans in a record. A record that contains no spans is itself a span."""
    trace: str
    id: str
    parent: str
    start: str
    """The path of the time that orders the spans."""
    group: str = ""
    """The path of the conversation ID. A trace that contains no such ID is a conversation of its own."""
    attributes: str = "attributes"
    """The member that contains the attributes, if any. If a span lacks it, the members of the span are attributes."""
    agents: tuple[When, ...] = ()
    """Conditions, any one of which marks a span as belonging to an agent."""
    workflows: tuple[When, ...] = ()
    """Conditions on the root of a trace. A root that meets all of them is not an agent if there is only one agent below
    it."""
    tools: tuple[When, ...] = ()
    """Conditions, any one of which marks a span as belonging to a tool."""
    remote: tuple[When, ...] = ()
    """Conditions, any one of which shows that the parent of the span is in another process."""
    results: str = ""
    """The path of the value that the root of a trace returned to its caller."""
    outer_results: str = ""
    """The path of the value that the root of a trace returned, in the record that contains the spans."""
    asked: str = ""
    """The path of the value that the root of a trace received from its caller."""
    outer_asked: str = ""
    """The path of the value that the root of a trace received, in the record that contains the spans."""
    logs: bool = False
    """True if log records may serve as events of spans."""


class Counting(Enum):
    """How several reports of token usage combine."""

    EACH = "each"
    """All reports are added up."""
    LAST = "last"
    """Only the last report counts: for each key or, without keys, for each message."""
    COUNTER = "counter"
    """The numbers are session-wide counters, so only their increases are used."""
    OPENS = "opens"
    """The usage belongs to the reply that begins."""
    JOINS = "joins"
    """The usage replaces numbers of the current reply."""
    TOTAL = "total"
    """The usage is the total of the transcript."""


class Tokens(Struct, frozen=True):
    """Where a record indicates how many tokens a reply used. Numbers at several paths are added."""

    at: str
    """The path of the object with the numbers."""
    input: tuple[str, ...] = ()
    output: tuple[str, ...] = ()
    cached: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    when: tuple[When, ...] = ()
    each: str = ""
    """The path of the items that report usage. The other paths start there."""
    key: str = ""
    """The path of the reply ID."""
    counts: Counting = Counting.EACH


class Recall(Struct, frozen=True):
    """A value that one record assigns to an ID, and that later records need although they only name the ID.

    The value is added to each of these later records as a member. If the ID is unknown, no member is added; if the ID
    has two values, the member is `?`."""

    name: str
    """The name of the member that is added. No record in a file has a member with this name."""
    needed_by: str
    """The path of the ID in the records that need the value."""
    id: str
    """The path of the ID in the record that assigns the value."""
    value: str
    missing: str = ""
    """The value if the record contains none."""
    when: tuple[When, ...] = ()
    """The conditions on the record that assigns the value."""


class Asides(Struct, frozen=True):
    """Where a log has model calls, some of which make no answer for the user."""

    each: str
    """The path of the calls in a record; empty if the record is a call."""
    asked: str
    """The path of the request in a call."""


class RecordFormat(Struct, frozen=True, eq=False):
    """A format, defined by a table. A format is equal only to itself, so results that depend on it can be cached."""

    name: str
    title: str
    container: Container
    signatures: tuple[Signature, ...]
    records: tuple[RecordRule, ...]
    session: str = ""
    """The path of the session ID in a record. A new session starts a new transcript."""
    inner: tuple[str | Inner, ...] = ()
    """The paths of strings that contain JSON, which is parsed in place before the rules apply."""
    spans: Spans | None = None
    recalls: tuple[Recall, ...] = ()
    usage: tuple[Tokens, ...] = ()
    """How records report token usage."""
    alternates: bool = False
    """True if answers should alternate with other messages, and the last message should be an answer."""
    batches: bool = False
    """True if a list may contain lists of records."""
    keeps_fields: bool = False
    """True if members that no rule reads describe the transcript that the record starts."""
    model: str = ""
    version: str = ""
    threads: Threads | None = None
    alone: Mapping[str, Alone] = field(default_factory=dict)
    """The meaning of primary records without a partner, by copy group."""
    history: History | None = None
    asides: Asides | None = None
    replays: Narrowing | None = None
    """The kind of text in a session that starts right after the first one, because this text is history."""
    preambles: bool = False
    """True if commentary without a recipient was shown to the user."""
    hooks: Hooks = Hooks()
    messages: MessageTable | None = None
    """Where the messages are, if the format has no rules."""
    events: EventTable | None = None
    """The effects of the events in a stream, if the format has no rules."""
    unasked_replies: bool = False
    """True if the program may run tools without a call, or answer a call several times. Replies then need no call."""
