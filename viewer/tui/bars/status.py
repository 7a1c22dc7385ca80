"""Status line: names the view and what it hides, and shows notices for a few seconds."""

from __future__ import annotations

from textual.timer import Timer

from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.bars.bar import Bar, Spot, spot
from viewer.tui.host import Notice
from viewer.tui.terminal.paint import Painter

SAFE_SENTENCE = "SAFE view: only what the end user saw."
SAFE_HIDES = "  Hidden: analysis, commentary, tools, system, developer."
DEBUG_SENTENCE = "DEBUG view: includes hidden messages. Copies, exports and screenshots are marked DEBUG."
SECONDS = 4.0
"""How long a notice stays."""
LONGEST_NOTICE = 400


_LOOKS = {
    Notice.DONE: StyleRole.OK,
    Notice.NOTE: StyleRole.STRONG,
    Notice.WARNING: StyleRole.WARNING,
    Notice.ERROR: StyleRole.ERROR,
}


class StatusLine(Bar):
    """A sentence about the view. With a notice it has the class `-notice`, so that a narrow layout can show it."""

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = "status") -> None:
        super().__init__(painter, printing, id=id)
        self._sentence = SAFE_SENTENCE + SAFE_HIDES
        self._debug = False
        self._source = ""
        self._kind = Notice.NOTE
        self.notice: SafeText = trusted("")
        """The current notice, or empty."""
        self._timer: Timer | None = None

    def show(self, debug: bool, strict: bool = False, source: str = "") -> None:
        """Name the view; `source` adds where the text comes from (`spooled from a pipe`)."""
        self._debug = debug
        self._sentence = DEBUG_SENTENCE if debug else SAFE_SENTENCE + ("" if strict else SAFE_HIDES)
        self._source = source
        self.set_class(debug, "-debug")
        self.refresh()

    def show_notice(self, sentence: str, kind: Notice = Notice.NOTE, seconds: float = SECONDS) -> None:
        """Show a notice for a while; it replaces an earlier one."""
        self.clear_notice()
        self._kind = kind
        self.notice = self.printing.spell(sanitize_line(sentence, LONGEST_NOTICE))
        self.add_class("-notice")
        self._timer = self.set_timer(seconds, self.clear_notice)
        self.refresh()

    def clear_notice(self) -> None:
        """Remove the notice."""
        if self._timer:
            self._timer.stop()
        self._timer = None
        self.notice = trusted("")
        self.remove_class("-notice")
        self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The notice, or the sentence."""
        ellipsis = trusted(self.printing.signs.ellipsis)
        if self.notice:
            return [spot(" "), spot(cut(self.notice, max(width - 2, 0), ellipsis), _LOOKS[self._kind])]
        source = f"  [{self.printing.name(self._source)}]" if self._source else ""
        words = self.printing.words(self._sentence + source)
        if source and cells(words) > width - 2:
            words = self.printing.words(self._sentence.partition("  ")[0].partition(". ")[0] + source)
        name, colon, rest = cut(words, max(width - 2, 0), ellipsis).partition(":")
        strong = StyleRole.WARNING if self._debug else StyleRole.OK
        return [spot(" "), spot(name + colon, strong), spot(rest, StyleRole.QUIET)]
