"""Frame of a pane: a border with a number, title, and counts. The focused frame is heavy and marked."""

from __future__ import annotations

from typing import Self

from textual import events
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.widget import Widget

from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.panes.panel import Panel
from viewer.tui.panes.plain_lines import EvenLines

_AROUND = 6
"""The total width of the corner, stroke, and space on each side of a title."""


class Frame(Vertical, EvenLines):
    """The border around a pane. The class `-focused` marks the focused pane, even while the prompt is open."""

    SCOPED_CSS = False  # the class `-ascii` belongs to an ancestor of the frame
    DEFAULT_CSS = """
    Frame {
        border: round $border; border-title-align: left; border-subtitle-align: right;
        border-title-color: $foreground; border-subtitle-color: $secondary;
    }
    Frame.-focused { border: heavy $primary; border-title-color: $primary; border-subtitle-color: $primary; }
    Frame.-bare, Frame.-bare.-focused { border: none; }
    .-ascii Frame { border: ascii $border; }
    .-ascii Frame.-focused { border: ascii $primary; }
    .-ascii Frame.-bare { border: none; }
    """

    class Mounted(Message):
        """A pane and everything in it have been mounted."""

        def __init__(self, panel: Panel) -> None:
            super().__init__()
            self.panel = panel

    def __init__(self, panel: Panel, printing: Style, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self.panel = panel
        self.printing = printing
        self._coming_width = 0
        """The width with the border in the next layout; 0 to use the current width of the frame."""
        self._title: Line = ()
        self._aside = trusted("")
        self._below = trusted("")
        self._captions: tuple[Line, SafeText] = ((), trusted(""))
        """The captions in the borders."""
        self._border: tuple[Region, ...] = ()
        """The region of the border with the caption that is being changed, relative to the content."""

    def caption(self, title: Line | SafeText, aside: SafeText | None = None, below: SafeText | None = None) -> None:
        """Set the title, the counts at the right end of the top border, and the text in the bottom border."""
        parts = title if isinstance(title, tuple) else (Part(title, StyleRole.STRONG),)
        shown = parts, aside or trusted(""), below or trusted("")
        if shown != (self._title, self._aside, self._below):
            self._title, self._aside, self._below = shown
            self._draw_captions()

    @property
    def has_focus_mark(self) -> bool:
        """True if this pane has the focus."""
        return self.has_class("-focused")

    def mark_focus(self, has_focus: bool) -> None:
        """Mark the pane as focused or not."""
        if has_focus != self.has_focus_mark:
            self.set_class(has_focus, "-focused", update=self.is_attached)
            self._draw_captions()

    def show_border(self, has_border: bool, coming_width: int = 0) -> None:
        """Show the border, or give its space to the content. `coming_width` is the frame's width in the next layout, if
        it is known."""
        self._coming_width = coming_width
        if has_border == self.has_class("-bare"):
            self.set_class(not has_border, "-bare", update=self.is_attached)
            self._draw_captions()

    @property
    def whole_width(self) -> int:
        """The width with the border. Right after a pane is opened, Textual knows the pane's region but not its size."""
        return self._coming_width or self.outer_size.width or self.region.width

    def on_mount(self) -> None:
        """Report that the pane can get the focus."""
        self.post_message(self.Mounted(self.panel))

    def on_resize(self, event: events.Resize) -> None:
        """Redraw the captions for the new width."""
        self._coming_width = 0
        self._draw_captions()

    def _draw_captions(self) -> None:
        captions = self._captions_of(self.whole_width)
        if captions == self._captions:
            return
        before, self._captions = self._captions, captions
        title, below = captions
        width, height = self.outer_size
        if title != before[0]:
            self._border = (Region(-1, -1, width, 1),)
            self.border_title = _content(title, "$primary" if self.has_focus_mark else "$border") if title else None
        if below != before[1]:
            self._border = (Region(-1, height - 2, width, 1),)
            self.border_subtitle = Content(below) if below else None
        self._border = ()

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Redraw the frame. For a new caption, redraw only the border that contains it; Textual would redraw the whole
        frame."""
        return super().refresh(*(regions or self._border), repaint=repaint, layout=layout, recompose=recompose)

    def _captions_of(self, width: int) -> tuple[Line, SafeText]:
        """Return the captions of the top and the bottom border."""
        room = max(width - _AROUND, 0)
        if self.has_class("-bare") or not room:
            return (), trusted("")
        ascii_only, has_focus = self.printing.ascii, self.has_focus_mark
        mark = (">" if ascii_only else "▸") if has_focus else ""
        dots = trusted(self.printing.signs.ellipsis)
        stroke = "-" if ascii_only else "━" if has_focus else "─"
        title = (Part(trusted(f"{mark}{self.panel.value} "), StyleRole.STRONG), *self._title)
        words = SafeText("".join(part.text for part in title))
        gap = room - cells(words) - cells(self._aside) - 2
        if self._aside and gap > 0:
            title = (*title, Part(trusted(f" {stroke * gap} "), StyleRole.RULE), Part(self._aside, StyleRole.QUIET))
        elif cells(words) > room:
            title = (Part(cut(words, room, dots), StyleRole.STRONG),)
        return title, cut(self._below, room, dots) if self._below else trusted("")


def _content(line: Line, stroke: str) -> Content:
    """Return a title for Textual, never interpreted as markup."""
    styles = {StyleRole.STRONG: "bold", StyleRole.QUIET: "$secondary", StyleRole.RULE: stroke}
    return Content.assemble(*((part.text, styles.get(part.look, "")) for part in line))
