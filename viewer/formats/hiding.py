"""Flags that hide a text in some format: every reader of records hides by all of them."""

from __future__ import annotations

from viewer.syntax.json_lines import LazyNode
from viewer.syntax.json_text import JsonKind, JsonNode

FLAGS = frozenset(
    {
        *("isMeta", "isSidechain", "isSynthetic", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"),
        *("isSystemInitiated", "isThought", "is_copied_context", "is_demo", "isHidden", "is_hidden"),
        *("is_visually_hidden_from_conversation",),
    }
)
"""Hidden, unless the value is false or null."""
WORDS = frozenset({"thought", "synthetic", "ignored", "hidden", "redacted", "summary"})
"""Hidden by true or by a number. Any other value is no flag: some formats have texts under these names."""
SHOWN = frozenset({"userVisible", "user_visible"})
"""Hidden, unless the value is true or null."""

_ALL = FLAGS | WORDS | SHOWN


def is_flagged(node: JsonNode) -> bool:
    """True if a flag hides the text of an object."""
    if type(node) is LazyNode and (type(node.value) is not dict or _ALL.isdisjoint(node.value)):
        return False
    return any(member.key in _ALL and _hides(member.key, member.value) for member in node.members)


def _hides(name: str, value: JsonNode) -> bool:
    if value.kind is JsonKind.NULL:
        return False
    if name in WORDS:
        return value.kind in (JsonKind.TRUE, JsonKind.NUMBER)
    return value.kind is not (JsonKind.TRUE if name in SHOWN else JsonKind.FALSE)
