"""The grammar of a text format: tokens, message headers, and limits."""

from __future__ import annotations

from msgspec import Struct

from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Ending, Header

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
CHANNELS = {channel.value: channel for channel in Channel}
"""The channels by name."""
CHECKED_TYPES = frozenset({"json", "text", "markdown", "code"})
ALL_ATTRIBUTES = frozenset({"to", "call_id", "name", "intent", "content_type"})
SPACE = b" \t\r\n"
ENDINGS = {"end": Ending.END, "return": Ending.RETURN, "call": Ending.CALL}
"""The ending of a message by the name of its stop token."""
LONGEST_HEADER = 64 * 1024
LONGEST_LINE = 1024 * 1024
"""The maximum length in bytes of a line between messages that is read as an event."""


class HeaderGrammar(Struct, frozen=True):
    """The allowed content of message headers in a text format."""

    attributes: frozenset[str]
    """Attributes that the format defines."""
    channels: bool = True
    constrain: bool = True
    preambles: bool = False
    """True if `intent=preamble` makes a message visible."""
    harmony: bool = False
    """True if Harmony's rules apply: bare words, tool names as roles, and notes about its reference library."""
    assume_preambles: bool = False
    """True if commentary without any sign of a call counts as a preamble, because the format has no intents."""
    name_required: bool = False
    """True if the role `tool` needs a name."""
    escapes: bool = False
    ignored: frozenset[str] = frozenset()
    """Attributes that are dropped without a report, because the format does not define them."""


class TextGrammar(Struct, frozen=True):
    """The tokens and the header grammar of a text format with `<|start|>`."""

    name: str
    header: HeaderGrammar
    tokens: tuple[str, ...]
    document_header: bool = False
    literals: bool = False
    """True if a doubled `<` escapes a token and literal blocks quote tokens."""
    closed_by_call: bool = False
    """True if a call must end with `<|call|>`."""


class HeaderReading(Struct, frozen=True):
    """A header and its problems."""

    header: Header
    problems: tuple[Problem, ...]
    """The problems, with positions relative to the header."""
    rest: int
    """The offset in the header where other text begins, or its length if there is none."""
