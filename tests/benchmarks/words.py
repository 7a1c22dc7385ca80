"""The seed, and the words of generated inputs that real text may not have, because they are searched."""

from __future__ import annotations

SEED = 20260101
FIRST, LAST = "Wherefore", "Thereafter"
"""Words that only the first and the last message of a transcript have."""
RARE, ABSENT = "Zanzibar", "thereabout"
"""A word with a capital that few messages have, and one that none has, although most have all of its letters."""
COMMON = "the"
"""A word that most messages have."""


def is_reserved(text: str) -> bool:
    """True if the text has a word that is searched."""
    lowered = text.lower()
    return any(word.lower() in lowered for word in (FIRST, LAST, RARE, ABSENT))
