"""Area of a transcript pane: its size, or the one that it is about to get when panes open or close."""

from __future__ import annotations

from textual.geometry import Size
from textual.widget import Widget


class Area:
    """The size for which blocks are built.

    Textual lays out panes only before the next frame. With the size that they are about to get, blocks and the scroll
    position are computed once, and the first frame after a switch is the last one."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._coming: Size | None = None

    @property
    def size(self) -> Size:
        """The size of the pane after the next layout."""
        return self._pane.size if self._coming is None else self._coming

    @property
    def is_changing(self) -> bool:
        """True if the next layout changes the size."""
        return self._coming is not None and self._coming != self._pane.size

    def expect(self, size: tuple[int, int] | None) -> None:
        """Set the width and height that the pane gets in the next layout, or None if its own size holds."""
        self._coming = None if size is None else Size(*size)
