"""Output guard below the sanitizer: removes control characters from every drawn line."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from viewer.render.strip_controls import NOT_ASCII, OBEYED

_DRAWN = str.maketrans({"│": "|", "─": "-", **dict.fromkeys(map(chr, range(0x2580, 0x25A0)), "#")})
"""ASCII replacements for characters that Textual itself draws."""


class OutputGuard(LineFilter):
    """Replaces control characters in every composited segment and counts them. Each one means a bug.

    On an ASCII terminal, other characters become `?`, because their bytes may be control characters there."""

    caught = 0

    def __init__(self, ascii_only: bool = False) -> None:
        super().__init__()
        self._ascii_only = ascii_only

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without control characters."""
        if any(OBEYED.search(segment.text) for segment in segments):
            segments = [self._harmless(segment) for segment in segments]
        return [_in_ascii(segment) for segment in segments] if self._ascii_only else segments

    def _harmless(self, segment: Segment) -> Segment:
        text, count = OBEYED.subn("\ufffd", segment.text)
        OutputGuard.caught += count
        return Segment(text, segment.style, segment.control) if count else segment


def _in_ascii(segment: Segment) -> Segment:
    """Return ASCII text of the same width."""
    text = NOT_ASCII.sub(lambda found: "?" * cell_len(found[0]), segment.text.translate(_DRAWN))
    return segment._replace(text=text.ljust(cell_len(segment.text)))
