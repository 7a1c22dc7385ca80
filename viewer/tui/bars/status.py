"""Status row: the problem at the cursor, the search or filter, and the position. A notice replaces it until the next
key."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Style, StyleRole, trusted
from viewer.tui.bars.bar import Bar
from viewer.tui.bars.spots import Spot
from viewer.tui.bars.status_lines import StatusFacts, notice_line, status_line
from viewer.tui.host import Notice, PromptKind
from viewer.tui.terminal.paint import Painter

LONGEST_NOTICE = 400

_LOOKS = {
    Notice.DONE: StyleRole.OK,
    Notice.NOTE: StyleRole.STRONG,
    Notice.WARNING: StyleRole.WARNING,
    Notice.ERROR: StyleRole.ERROR,
}


class StatusLine(Bar):
    """One row of facts. A notice replaces them until it is cleared."""

    def __init__(
        self,
        painter: Painter,
        printing: Style | None = None,
        *,
        filter_keys: str = "& edit · esc clear",
        id: str | None = "status",
    ) -> None:
        super().__init__(painter, printing, id=id)
        self.facts = StatusFacts()
        self._filter_keys = filter_keys
        self._search = self._search_note = ""
        """The search or filter with its sign, and a note such as its count."""
        self._kind = Notice.NOTE
        self._aside = ""
        self.notice: SafeText = trusted("")
        """The current notice; empty if there is none."""

    def show(self, facts: StatusFacts) -> None:
        """Replace the facts."""
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def show_search(self, text: str, note: str) -> None:
        """Show a search or filter with its sign and a note such as `2 of 3`; pass empty strings to clear it."""
        if (text, note) != (self._search, self._search_note):
            self._search, self._search_note = text, note
            self.refresh()

    def show_notice(self, sentence: str, kind: Notice = Notice.NOTE, aside: str = "") -> None:
        """Show a notice, replacing an earlier one. `aside` replaces the position."""
        self._kind, self._aside = kind, aside
        self.notice = self.printing.spell(sanitize_line(sentence, LONGEST_NOTICE))
        self.refresh()

    def clear_notice(self) -> None:
        """Remove the notice."""
        self.notice = trusted("")
        self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """Return the notice, or the facts."""
        facts = self._with_search()
        if self.notice:
            aside = self._aside or facts.place
            line = notice_line(self.notice, _LOOKS[self._kind], aside, width, self.printing)
        else:
            line = status_line(facts, width, self.printing)
        action = "problems" if self.facts.problem and not self.notice else ""
        return [Spot(part, action if part.text.strip() else "") for part in line]

    def _with_search(self) -> StatusFacts:
        """Return the facts with the search or filter, if there is one. The count of a search replaces the position."""
        text, note = self._search, self._search_note
        if not text:
            return self.facts
        if text.startswith(PromptKind.FILTER.value):
            words = f"{text[1:]} · {note}" if note else text[1:]
            return replace(self.facts, filter=words, filter_keys=self._filter_keys)
        return replace(self.facts, search=text, place=note)
