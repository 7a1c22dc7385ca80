"""The seed, and words for generated inputs that real text must not contain, because they are searched for."""

from __future__ import annotations

SEED = 20260101
FIRST, LAST = "Wherefore", "Thereafter"
"""Words that only the first and the last message of a transcript contain."""
RARE, ABSENT = "Zanzibar", "thereabout"
"""A capitalized word that few messages contain, and one that none contains, although most have all of its letters."""
COMMON = "the"
"""A word that most messages contain."""


def is_reserved(text: str) -> bool:
    """True if the text contains one of the words that the benchmarks rely on being rare or absent."""
    lowered = text.lower()
    return any(word.lower() in lowered for word in (FIRST, LAST, RARE, ABSENT))
