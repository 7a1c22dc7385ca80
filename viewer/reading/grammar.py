"""What the message headers of a text dialect may hold, and what reading one gives."""

from __future__ import annotations

from typing import NamedTuple

from viewer.model.messages import Header
from viewer.values import frozen

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
CHECKED_TYPES = frozenset({"json", "text", "markdown", "code"})
ALL_ATTRIBUTES = frozenset({"to", "call_id", "name", "intent", "content_type"})


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
