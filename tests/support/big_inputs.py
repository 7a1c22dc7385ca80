"""Inputs of 4 MB around the messages of a small transcript. The findings of the checks must not depend on the size."""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from viewer.model.diagnostic import Diagnostic

BIG = 4 * 1024 * 1024
PLAIN = b"<|start|>user<|message|>What is it?<|end|>\n<|start|>assistant<|channel|>final<|message|>A plum.<|end|>\n"
"""Two messages without a problem."""
FIRST_MESSAGE = b"<|start|>"
_COMPLETE = (b"<|end|>\n", b"<|return|>\n", b"<|call|>\n")


class BigInput(NamedTuple):
    """A transcript with messages inserted before its first one, and possibly others appended."""

    text: bytes
    place: int
    """The offset of the inserted messages."""
    size: int
    """The size of the inserted messages in bytes."""
    messages: int

    def moved(self, found: Diagnostic) -> Diagnostic:
        """Return a diagnostic of the small transcript, moved to its place in the big one."""
        place, size = self.place, self.size
        start = found.start + size * (found.start >= place)
        end = found.end + size * (found.end >= place if found.start == found.end else found.end > place)
        number = found.message + self.messages if found.message is not None else None
        return replace(found, message=number, start=start, end=end)


def big_input(small: bytes, size: int = BIG, *, filler: bytes = PLAIN, before: int | None = None) -> BigInput | None:
    """Surround the messages of a transcript with copies of `filler`. Return None if there is no
    message, or if a control token comes before the first one.

    Nothing is appended after an incomplete message, or after calls, which may still get a reply. `before` is the number
    of copies before the first message, half of all by default."""
    place, copies = small.find(FIRST_MESSAGE), size // len(filler)
    if place < 0 or b"<|" in small[:place]:
        return None
    before = copies // 2 if before is None else before
    has_more = (
        small.endswith(_COMPLETE)
        and b"<|call|>" not in small
        and small.count(b"<|literal|>") == small.count(b"<|endliteral|>")
    )
    text = small[:place] + filler * before + small[place:] + filler * (copies - before) * has_more
    return BigInput(text, place, before * len(filler), before * filler.count(FIRST_MESSAGE))
