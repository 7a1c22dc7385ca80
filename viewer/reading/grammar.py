"""The grammar of a text format: its tokens, its message headers, and the limits of what is read."""

from __future__ import annotations

from typing import NamedTuple

from viewer.model.messages import Ending, Header
from viewer.values import frozen

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
CHECKED_TYPES = frozenset({"json", "text", "markdown", "code"})
ALL_ATTRIBUTES = frozenset({"to", "call_id", "name", "intent", "content_type"})
SPACE = b" \t\r\n"
ENDINGS = {"end": Ending.END, "return": Ending.RETURN, "call": Ending.CALL}
"""The ending of a message by the name of its stop token."""
LONGEST_HEADER = 64 * 1024
LONGEST_LINE = 1024 * 1024
"""A longer line between messages is not read as an event."""


@frozen
class HeaderGrammar:
    """What the message headers of one text dialect may hold."""

    attributes: frozenset[str]
    """Attributes that the dialect defines."""
    channels: bool = True
    constrain: bool = True
    preambles: bool = False
    """`intent=preamble` has force."""
    harmony: bool = False
    """Bare words, tool names as roles and the strictness of the reference library."""
    assume_preambles: bool = False
    """Commentary that nothing marks as a call is a preamble; the dialect itself has none."""
    name_required: bool = False
    """The role `tool` must come with a name."""
    escapes: bool = False


@frozen
class TextGrammar:
    """The tokens and the header grammar of a text format with `<|start|>`."""

    name: str
    header: HeaderGrammar
    tokens: tuple[str, ...]
    document_header: bool = False
    literals: bool = False
    """A doubled `<` escapes a token, and literal blocks quote tokens."""
    closed_by_call: bool = False
    """A call must end with `<|call|>`."""


class Problem(NamedTuple):
    """A diagnostic whose place is relative to the header."""

    code: str
    reason: str | None
    start: int
    end: int


@frozen
class HeaderReading:
    """A header and all that is wrong with it."""

    header: Header
    problems: tuple[Problem, ...]
    rest: int
    """Where text that is no header begins, relative to the header; its length where all of it is header."""
