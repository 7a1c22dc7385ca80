"""Checks of headers: the channel, calls in the wrong channel, preambles without effect, and parser reports."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.checks.check import Check, HeaderIs, Noted, Scope
from viewer.checks.context import CheckContext, TranscriptFacts
from viewer.index.calls import is_function
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import Channel, Ending, Message
from viewer.reading.header import is_stop_expected, is_tool, read_header
from viewer.rules.calls import W_CALL_CHANNEL, W_TOOL_NAME_MISSING
from viewer.rules.errors import E_PARSE_CHANNEL_MISSING, E_PARSE_HEADER, E_PERM_VISIBILITY
from viewer.rules.notes import I_TYPE_BARE, I_TYPE_UNKNOWN
from viewer.rules.structure import W_ATTRIBUTE_UNKNOWN, W_STOP_UNEXPECTED

_START, _MESSAGE = b"<|start|>", b"<|message|>"


def repeat_header_problems(case: CheckContext) -> Iterator[Diagnostic]:
    """Report what the parser would have reported about the header and stop of a message that the scanner read."""
    message = case.message
    assert case.grammar is not None and message.body_span is not None and message.stop is not None
    first, last = message.span[0] + len(_START), message.body_span[0] - len(_MESSAGE)
    for problem in read_header(case.read(first, last), case.grammar.header).problems:
        yield case.diagnose(problem.rule, problem.reason, (first + problem.start, first + problem.end))
    if not is_stop_expected(message.header, message.ending, case.grammar):
        yield case.diagnose(W_STOP_UNEXPECTED, None, message.stop)


REPEATED = Check(
    (
        E_PARSE_HEADER,
        W_ATTRIBUTE_UNKNOWN,
        W_TOOL_NAME_MISSING,
        I_TYPE_BARE,
        I_TYPE_UNKNOWN,
        W_STOP_UNEXPECTED,
    ),
    Scope.HEADER,
    Noted(),
    repeat_header_problems,
)


def check_channel(case: CheckContext) -> Iterator[Diagnostic]:
    """E-PARSE-CHANNEL-MISSING: the header lacks a channel that the format or the profile requires."""
    if lacks_channel(case.message, case.transcript):
        yield case.diagnose(E_PARSE_CHANNEL_MISSING, None, case.before_mark(b"<|constrain|>", b"<|message|>"))


def lacks_channel(message: Message, transcript: TranscriptFacts) -> bool:
    """True if the header lacks a channel that the format or the profile requires."""
    header = message.header
    if header.channel_given is not None or header.malformed or not header.complete:
        return False
    by_format = transcript.format.channel_required and header.role == "assistant"
    return by_format or (transcript.profile.require_channels and header.role in ("assistant", "tool"))


CHANNEL = Check((E_PARSE_CHANNEL_MISSING,), Scope.MESSAGE, HeaderIs(lacks_channel), check_channel)


def check_call_channel(case: CheckContext) -> Iterator[Diagnostic]:
    """W-CALL-CHANNEL: a function is called outside the channel for calls."""
    if is_call_elsewhere(case.message, case.transcript):
        given = case.message.header.channel_given
        place = case.place(f"<|channel|>{given}") if given else case.before_mark(b"<|constrain|>", b"<|message|>")
        lead = len("<|channel|>") if given and place[0] < place[1] else 0
        yield case.diagnose(W_CALL_CHANNEL, None, (place[0] + lead, place[1]))


def is_call_elsewhere(message: Message, transcript: TranscriptFacts) -> bool:
    """True if a function is called outside the channel for calls."""
    header = message.header
    if header.role != "assistant" or not is_tool(header.recipient) or transcript.format.name == "openchatml-1.x":
        return False
    channel = header.channel.value if header.channel else None
    return is_function(header.recipient or "") and channel != transcript.profile.tool_calls_in


CALL_CHANNEL = Check((W_CALL_CHANNEL,), Scope.MESSAGE, HeaderIs(is_call_elsewhere), check_call_channel)


def check_preamble(case: CheckContext) -> Iterator[Diagnostic]:
    """E-PERM-VISIBILITY: a message has `intent=preamble` but cannot be a preamble."""
    reason = _powerless_preamble(case.message)
    if reason:
        yield case.diagnose(E_PERM_VISIBILITY, reason, case.place("intent=preamble", '"preamble"'))


def is_powerless_preamble(message: Message, _: TranscriptFacts) -> bool:
    """True if the message is marked as a preamble but cannot be one."""
    return _powerless_preamble(message) is not None


def _powerless_preamble(message: Message) -> str | None:
    header = message.header
    if header.role != "assistant":
        return None
    if header.intent != "preamble" and dict(header.extra).get("intent") != "preamble":
        return None
    if header.channel is Channel.ANALYSIS:
        return "preamble-on-analysis"
    return "preamble-on-call" if is_tool(header.recipient) or message.ending is Ending.CALL else None


PREAMBLE = Check((E_PERM_VISIBILITY,), Scope.MESSAGE, HeaderIs(is_powerless_preamble), check_preamble)
