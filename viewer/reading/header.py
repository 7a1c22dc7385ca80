"""One message header: role, recipient, channel, type and attributes, its problems, and the stop it expects."""

from __future__ import annotations

from dataclasses import replace

from viewer.cache import bounded_cache, lazy_regex
from viewer.model.messages import Channel, Ending, Header
from viewer.reading.grammar import CHECKED_TYPES, ROLES, HeaderGrammar, HeaderReading, Problem, TextGrammar
from viewer.reading.header_meaning import HeaderMeaning, is_tool_name
from viewer.reading.header_words import ITEM, HeaderWords

__all__ = [
    "CHECKED_TYPES",
    "ROLES",
    "HeaderGrammar",
    "HeaderReading",
    "Problem",
    "is_stop_expected",
    "is_tool",
    "is_tool_name",
    "looks_like_channel",
    "looks_like_header",
    "read_header",
    "split_words",
]

NOT_TOOLS = frozenset({"user", "assistant", "all"})
LONGEST_PLAUSIBLE = 512

_ROLE_WORD = rb"(?:system|developer|user|assistant|tool|python|(?:functions|browser)\.[^ \t\r\n<]+)"
_PLAUSIBLE = lazy_regex(rb"[ \t\r\n]*" + _ROLE_WORD + rb"(?![^ \t\r\n<])[ \t\r\n]*[^\r\n]*")
_PLAUSIBLE_CHANNEL = lazy_regex(rb"[ \t]*(?:analysis|commentary|final)(?:[ \t<][^\r\n]*)?")


def is_tool(recipient: str | None) -> bool:
    """True if a recipient names a tool."""
    return recipient is not None and recipient not in NOT_TOOLS


def is_stop_expected(header: Header, ending: Ending, grammar: TextGrammar) -> bool:
    """True if a message with this header may end with this stop; a malformed header allows every stop."""
    if header.malformed:
        return True
    is_call = header.role == "assistant" and is_tool(header.recipient)
    if ending is Ending.CALL:
        return is_call
    if ending is Ending.RETURN:
        return header.role == "assistant" and header.channel is Channel.FINAL and not is_call
    return not (is_call and grammar.closed_by_call)


def looks_like_header(words: bytes) -> bool:
    """Whether these bytes before a `<|message|>` are plausible as a header, so that they may end an open message."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE.fullmatch(words) is not None


def looks_like_channel(words: bytes) -> bool:
    """Whether these bytes between `<|channel|>` and `<|message|>` are plausible as the rest of a header."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE_CHANNEL.fullmatch(words) is not None


def split_words(words: bytes) -> list[bytes]:
    """The words and markers of a header."""
    return ITEM.findall(words)


def read_header(words: bytes, grammar: HeaderGrammar, *, implied: bool = False, partial: bool = False) -> HeaderReading:
    """Read the bytes between `<|start|>` and `<|message|>`.

    `implied`: there was no `<|start|>`, the author is the assistant.
    `partial`: there is no `<|message|>`; what is not understood begins the rest.
    """
    if len(words) <= LONGEST_PLAUSIBLE:
        return _read_remembered(words, grammar, implied, partial)
    return _read(words, grammar, implied, partial)


@bounded_cache(4096)
def _read_remembered(words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> HeaderReading:
    return _read(words, grammar, implied, partial)


def _read(words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> HeaderReading:
    gathered = HeaderWords(words, grammar, implied, partial)
    gathered.collect()
    header = HeaderMeaning(gathered).header()
    malformed = any(problem.code == "E-PARSE-HEADER" for problem in gathered.problems)
    rest = len(words) if gathered.rest is None else gathered.rest
    return HeaderReading(replace(header, malformed=malformed), tuple(gathered.problems), rest)
