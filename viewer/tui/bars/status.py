"""The line that says which view this is and what it holds back, and for a few seconds what just happened."""

from __future__ import annotations

from enum import Enum

from textual.timer import Timer

from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.bars.bar import Bar, Spot, spot
from viewer.tui.terminal.paint import Painter

SAFE_SENTENCE = "SAFE view: user + final + flagged preambles only."
SAFE_HIDES = "  Hidden here: analysis, commentary, tools, system, developer."
DEBUG_SENTENCE = "DEBUG view: contains private reasoning and tool data. Copy, export and screenshots are marked DEBUG."
SECONDS = 4.0
"""How long a notice stays."""
LONGEST_NOTICE = 400


class Notice(Enum):
    """What kind of thing a notice says."""

    DONE = "done"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


_LOOKS = {
    Notice.DONE: StyleRole.OK,
    Notice.NOTE: StyleRole.STRONG,
    Notice.WARNING: StyleRole.WARNING,
    Notice.ERROR: StyleRole.ERROR,
}


class StatusLine(Bar):
    """A sentence about the view; with a notice it has the class `-notice`, so that a layout without it can show it."""

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = "status") -> None:
        super().__init__(painter, printing, id=id)
        self._sentence = SAFE_SENTENCE + SAFE_HIDES
        self._debug = False
        self._source = ""
        self._kind = Notice.NOTE
        self.notice: SafeText = trusted("")
        """What is said just now; empty most of the time."""
        self._timer: Timer | None = None

    def show(self, debug: bool, strict: bool = False, source: str = "") -> None:
        """Say which view this is; `source` adds a word about where the text comes from (`spooled from a pipe`)."""
        self._debug = debug
        self._sentence = DEBUG_SENTENCE if debug else SAFE_SENTENCE + ("" if strict else SAFE_HIDES)
        self._source = source
        self.set_class(debug, "-debug")
        self.refresh()

    def say(self, sentence: str, kind: Notice = Notice.NOTE, seconds: float = SECONDS) -> None:
        """Say one sentence for a while; a new one takes its place at once."""
        self.hush()
        self._kind = kind
        self.notice = self.printing.spell(sanitize_line(sentence, LONGEST_NOTICE))
        self.add_class("-notice")
        self._timer = self.set_timer(seconds, self.hush)
        self.refresh()

    def hush(self) -> None:
        """Forget the notice."""
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
