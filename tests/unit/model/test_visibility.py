"""The visibility rule: its reasons in words, and the view of each audience."""

from __future__ import annotations

from msgspec.structs import replace

from tests.support.cases import each
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Message, Piece
from viewer.model.visibility import (
    BRIEF,
    END_USER,
    EVERYTHING,
    Audience,
    Level,
    Reveal,
    is_listed_call,
    is_listed_reply,
    is_user_safe,
    kind_of,
    message_kind,
    reason_of,
)

FINAL = Header("assistant", channel=Channel.FINAL, channel_given="final")
ANALYSIS = Header("assistant", channel=Channel.ANALYSIS, channel_given="analysis")
PREAMBLE = Header("assistant", channel=Channel.COMMENTARY, channel_given="commentary", intent="preamble")
USER = Header("user", channel=Channel.FINAL)
BARE = Header("assistant", channel=Channel.FINAL)


def message(header: Header, ending: Ending = Ending.END, *, broke_out: bool = False) -> Message:
    return Message(1, 1, header, ending, (0, 9), (Piece(5, 8, Coding.PLAIN),), broke_out=broke_out)


SHOWN = "Visible: assistant answer"
TYPED = "Visible: user message"
CASES = [
    (message(FINAL), SHOWN, Reveal.UNCLEAR),
    (message(FINAL, Ending.OPEN), SHOWN, Reveal.UNCLEAR),
    (message(replace(FINAL, recipient="user")), SHOWN, Reveal.UNCLEAR),
    (message(BARE), SHOWN, Reveal.UNCLEAR),
    (message(USER), TYPED, Reveal.UNCLEAR),
    (message(replace(USER, recipient="assistant")), TYPED, Reveal.UNCLEAR),
    (message(PREAMBLE), "Visible: preamble", Reveal.COMMENTARY),
    (message(PREAMBLE, Ending.RETURN), "Visible: preamble", Reveal.COMMENTARY),
    (message(replace(PREAMBLE, recipient="user")), "Visible: preamble", Reveal.COMMENTARY),
    (message(PREAMBLE, Ending.OPEN), "Hidden: the preamble is not closed", Reveal.COMMENTARY),
    (message(PREAMBLE, Ending.CALL), "Hidden: the preamble is not closed", Reveal.COMMENTARY),
    (message(replace(FINAL, complete=False)), "Hidden: the header is incomplete", Reveal.UNCLEAR),
    (message(replace(FINAL, malformed=True)), "Hidden: the header is malformed", Reveal.UNCLEAR),
    (message(FINAL, broke_out=True), "Hidden: it starts inside an unclosed hidden message", Reveal.UNCLEAR),
    (message(replace(FINAL, kind=Kind.UNKNOWN)), "Hidden: unknown content", Reveal.UNCLEAR),
    (message(replace(USER, kind=Kind.UNKNOWN)), "Hidden: unknown content", Reveal.UNCLEAR),
    (message(Header("tool", kind=Kind.UNKNOWN)), "Hidden: unknown content", Reveal.UNCLEAR),
    (message(replace(FINAL, intent="debug")), "Hidden: the intent is `debug` or `status`", Reveal.UNCLEAR),
    (message(replace(USER, intent="status")), "Hidden: the intent is `debug` or `status`", Reveal.UNCLEAR),
    (message(Header("system", channel=Channel.FINAL)), "Hidden: the role is not shown to users", Reveal.SYSTEM),
    (
        message(Header("system:example_user", channel=Channel.FINAL)),
        "Hidden: the role is not shown to users",
        Reveal.SYSTEM,
    ),
    (message(Header("developer", channel=Channel.FINAL)), "Hidden: the role is not shown to users", Reveal.DEVELOPER),
    (message(Header("tool", channel=Channel.FINAL)), "Hidden: the role is not shown to users", Reveal.TOOL),
    (message(Header("User", channel=Channel.FINAL)), "Hidden: the role is not shown to users", Reveal.UNCLEAR),
    (message(Header("narrator", channel=Channel.ANALYSIS)), "Hidden: the role is not shown to users", Reveal.UNCLEAR),
    (message(replace(USER, channel=Channel.ANALYSIS)), "Hidden: the channel is not shown to users", Reveal.ANALYSIS),
    (message(replace(USER, channel=None)), "Hidden: the channel is not shown to users", Reveal.UNCLEAR),
    (message(replace(BARE, channel=Channel.ANALYSIS)), "Hidden: the channel is not shown to users", Reveal.ANALYSIS),
    (message(replace(BARE, channel=None)), "Hidden: the channel is not shown to users", Reveal.UNCLEAR),
    (message(ANALYSIS), "Hidden: the channel is not shown to users", Reveal.ANALYSIS),
    (message(replace(ANALYSIS, intent="preamble")), "Hidden: the channel is not shown to users", Reveal.ANALYSIS),
    (message(replace(PREAMBLE, intent=None)), "Hidden: the channel is not shown to users", Reveal.COMMENTARY),
    (
        message(replace(PREAMBLE, recipient="functions.f")),
        "Hidden: the channel is not shown to users",
        Reveal.COMMENTARY,
    ),
    (message(replace(FINAL, channel=None)), "Hidden: the channel is not shown to users", Reveal.UNCLEAR),
    (message(replace(FINAL, recipient="functions.f")), "Hidden: it is addressed to a tool", Reveal.UNCLEAR),
    (message(replace(BARE, recipient="user")), "Hidden: it is addressed to a tool", Reveal.UNCLEAR),
    (message(replace(USER, recipient="tool")), "Hidden: it is addressed to a tool", Reveal.UNCLEAR),
]

KIND_CASES = [
    (message(replace(FINAL, kind=Kind.THOUGHT)), "Hidden: reasoning", Reveal.ANALYSIS),
    (message(replace(FINAL, kind=Kind.CALL)), "Hidden: tool call", Reveal.COMMENTARY),
    (message(replace(FINAL, kind=Kind.REPLY)), "Hidden: tool result", Reveal.TOOL),
    (message(replace(FINAL, kind=Kind.INSTRUCTION)), "Hidden: instructions", Reveal.SYSTEM),
    (
        message(Header("developer", channel=Channel.FINAL, kind=Kind.INSTRUCTION)),
        "Hidden: instructions",
        Reveal.DEVELOPER,
    ),
    (
        message(replace(USER, kind=Kind.INJECTED)),
        "Hidden: injected by the program",
        Reveal.INJECTED,
    ),
    (message(replace(USER, kind=Kind.SUBAGENT)), "Hidden: sub-agent", Reveal.SUBAGENT),
    (message(replace(USER, kind=Kind.REPLAYED)), "Hidden: repeated context", Reveal.REPLAYED),
    (message(replace(FINAL, kind=Kind.NOTICE)), "Hidden: program notice", Reveal.NOTICE),
]
"""Messages that get their kind from a record."""
OF_ANOTHER_AGENT = message(replace(FINAL, thread=1))

MESSAGE_KINDS = [
    *(
        "said",
        "said",
        "said",
        "said",
        "said",
        "said",
        "said",
        "said",
    ),
    *(
        "said",
        "said",
        "call",
        "said",
        "unknown",
        "said",
        "unknown",
        "unknown",
    ),
    *(
        "unknown",
        "said",
        "said",
        "instruction",
        "instruction",
        "instruction",
        "reply",
        "unknown",
    ),
    *(
        "unknown",
        "thought",
        "unknown",
        "thought",
        "unknown",
        "thought",
        "thought",
        "said",
    ),
    *(
        "call",
        "unknown",
        "call",
        "said",
        "call",
    ),
]
"""The name of each message in machine-readable output."""
MORE_KINDS = [
    (message(Header("assistant:example_answer", channel=Channel.FINAL)), "instruction"),
    (message(FINAL, Ending.CALL), "said"),
    (message(replace(USER, channel=Channel.ANALYSIS, recipient="assistant")), "thought"),
]
CALL = Header("assistant", channel=Channel.COMMENTARY, channel_given="commentary", recipient="functions.f")
REPLY = Header("tool", channel=Channel.COMMENTARY, channel_given="commentary")
UNLISTED = (
    *({"complete": False}, {"malformed": True}, {"thread": 1}, {"intent": "debug"}, {"intent": "status"}),
    *({"channel": None}, {"role": "user"}, {"kind": Kind.UNKNOWN}, {"kind": Kind.SUBAGENT}, {"kind": Kind.REPLAYED}),
)
"""The properties that keep a call or a reply out of the lines of the brief level."""
LISTED = [
    (message(CALL), True, False),
    (message(CALL, Ending.OPEN), True, False),
    (message(replace(CALL, kind=Kind.CALL, recipient=None)), True, False),
    (message(replace(CALL, channel=Channel.ANALYSIS)), True, False),
    (message(CALL, broke_out=True), False, False),
    *(
        (message(replace(CALL, recipient=name), Ending.CALL), False, False)
        for name in (None, "user", "assistant", "all")
    ),
    *((message(replace(CALL, recipient=name)), False, False) for name in (None, "user", "assistant", "all")),
    *((message(replace(CALL, **facts)), False, False) for facts in UNLISTED),
    (message(replace(FINAL, kind=Kind.REPLY)), False, False),
    (message(replace(REPLY, kind=Kind.CALL)), False, False),
    (message(REPLY), False, True),
    (message(replace(REPLY, kind=Kind.REPLY)), False, True),
    (message(REPLY, broke_out=True), False, False),
    *((message(replace(REPLY, **facts)), False, False) for facts in UNLISTED),
]
"""Messages, whether the brief level has a line for the call, and whether the line of its call may represent the
reply."""
LEVELS = [
    (Audience(), Level.SAFE, True, False),
    (Audience(strict=True), Level.SAFE, True, False),
    (BRIEF, Level.BRIEF, True, True),
    (replace(BRIEF, thread=0), Level.BRIEF, True, True),
    (replace(BRIEF, thread=1), Level.BRIEF, True, False),
    (replace(BRIEF, strict=True), Level.BRIEF, True, False),
    (Audience(frozenset({Reveal.BRIEF, Reveal.TOOL})), Level.DEBUG, False, False),
    (Audience(frozenset({Reveal.NOTICE})), Level.DEBUG, False, False),
    (EVERYTHING, Level.DEBUG, False, False),
]
"""Audiences, their levels, whether they see no more messages than the end user, and whether they see one line per
call."""


def test_the_brief_level_lists_calls_of_the_main_agent() -> None:
    assert [(each, is_listed_call(each), is_listed_reply(each)) for each, _, _ in LISTED] == LISTED


def test_the_level_follows_from_what_is_revealed() -> None:
    assert [(each, each.level, each.is_safe, each.sees_call_lines) for each, *_ in LEVELS] == LEVELS


def test_machine_output_names_the_kind() -> None:
    assert [message_kind(case) for case, _, _ in CASES] == MESSAGE_KINDS
    assert [message_kind(case) for case, _ in MORE_KINDS] == [name for _, name in MORE_KINDS]
    assert [message_kind(case) for case, _, _ in KIND_CASES] == [case.header.kind.value for case, _, _ in KIND_CASES]


def test_a_message_of_another_agent_needs_two_reveals() -> None:
    assert not is_user_safe(OF_ANOTHER_AGENT)
    assert reason_of(OF_ANOTHER_AGENT) == "Hidden: sub-agent"
    assert EVERYTHING.sees(OF_ANOTHER_AGENT)
    for asked in ({Reveal.SUBAGENT}, {Reveal.UNCLEAR}):
        assert not Audience(frozenset(asked)).sees(OF_ANOTHER_AGENT)
    assert Audience(frozenset({Reveal.SUBAGENT, Reveal.UNCLEAR})).sees(OF_ANOTHER_AGENT)


def test_a_thread_selects_and_reveals_nothing() -> None:
    main, other = message(FINAL), OF_ANOTHER_AGENT
    assert [Audience(thread=thread).sees(main) for thread in (None, 0, 1)] == [True, True, False]
    assert [Audience(thread=thread).sees(other) for thread in (None, 0, 1)] == [False, False, False]
    everything = frozenset({Reveal.ALL})
    assert [Audience(everything, thread=thread).sees(other) for thread in (None, 0, 1)] == [True, False, True]


@each("case, reason, kind", [*CASES, *KIND_CASES])
def test_the_reason_agrees_with_the_rule(case: Message, reason: str, kind: Reveal) -> None:
    assert reason_of(case) == reason
    assert is_user_safe(case) == reason.startswith("Visible")
    assert kind_of(case) is kind


@each("case, reason, kind", [*CASES, *KIND_CASES])
def test_an_audience_sees_shown_messages_and_what_it_revealed(case: Message, reason: str, kind: Reveal) -> None:
    shown = reason.startswith("Visible")
    assert END_USER.sees(case) == shown
    assert EVERYTHING.sees(case)
    for asked in Reveal:
        assert Audience(frozenset({asked})).sees(case) == (shown or asked in (kind, Reveal.ALL))


def test_text_outside_messages_and_thoughts_must_be_revealed() -> None:
    assert END_USER.is_safe
    assert not END_USER.sees_stray
    assert not END_USER.sees_thoughts
    assert Audience(frozenset({Reveal.STRAY})).sees_stray
    assert Audience(frozenset({Reveal.ANALYSIS})).sees_thoughts
    assert EVERYTHING.sees_stray
    assert EVERYTHING.sees_thoughts
    assert not EVERYTHING.is_safe
