"""Channel line of the debug view; a click switches a channel."""

from __future__ import annotations

from msgspec import Struct, field

from viewer.model.visibility import Reveal
from viewer.render.style import Line, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.bars.bar import ROOMY, Bar, Spot, apart, spot, width_of
from viewer.tui.terminal.paint import Painter

_FINAL = ("F", "final", None, "", StyleRole.ASSISTANT)
_CHANNELS = (
    _FINAL,
    ("C", "commentary", Reveal.COMMENTARY, "commentary", StyleRole.COMMENTARY),
    ("A", "analysis", Reveal.ANALYSIS, "analysis", StyleRole.ANALYSIS),
    ("S", "system/dev", Reveal.SYSTEM, "system", StyleRole.SYSTEM),
    ("T", "tools", Reveal.TOOL, "tools", StyleRole.TOOL),
)


class ToggleFacts(Struct, frozen=True):
    """The facts of the line."""

    channels: frozenset[Reveal] = field(default_factory=frozenset)
    filter: str = ""
    """The text of the filter, as typed."""
    shown: int = 0
    calls: int = 0
    open: int = 0
    """The number of calls without a reply."""
    letters: Line = ()
    """The right end of the short form: the message strip."""


class Toggles(Bar):
    """`show: [x]final [x]commentary …`, or `F✓ C✓ A✓ S· T✓`."""

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = "toggles") -> None:
        super().__init__(painter, printing, id=id)
        self.facts = ToggleFacts()

    def show(self, facts: ToggleFacts) -> None:
        """Show other facts."""
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """The channels at the left end, counts or the message strip at the right end."""
        return self._roomy(width) if width >= ROOMY else self._short(width)

    def _roomy(self, width: int) -> list[Spot]:
        facts = self.facts
        left = [spot(" show:", StyleRole.QUIET)]
        for _, word, channel, action, look in _CHANNELS:
            is_on = channel is None or channel in facts.channels
            left.append(spot(" "))
            left.append(spot(f"[{'x' if is_on else ' '}]{word}", look if is_on else StyleRole.QUIET, action))
        right = self._counts(width - width_of(left) - 2)
        left += self._filter(width - width_of(left) - width_of(right) - 2)
        return apart(left, right, width)

    def _counts(self, room: int) -> list[Spot]:
        """`17 shown · 3 calls · 0 open`, or the part of it that fits."""
        facts, dot = self.facts, self.printing.signs.dot
        calls = f"{facts.calls} call{'' if facts.calls == 1 else 's'}"
        counts = [f"{facts.shown} shown", calls, f"{facts.open} open"]
        while counts and len(f" {dot} ".join(counts)) + 2 > room:
            counts.pop()
        return [spot(f" {dot} ".join(counts), StyleRole.QUIET), spot("  ")] if counts else []

    def _filter(self, room: int) -> list[Spot]:
        words = self.printing.name(self.facts.filter) if self.facts.filter else trusted("none")
        look = StyleRole.MATCH if self.facts.filter else StyleRole.QUIET
        head = "   filter: "
        if room <= len(head) + 3:
            return []
        return [
            spot(head, StyleRole.QUIET, "filter"),
            spot(cut(words, room - len(head), trusted(self.printing.signs.ellipsis)), look, "filter"),
        ]

    def _short(self, width: int) -> list[Spot]:
        left = []
        for letter, _, channel, action, look in _CHANNELS:
            is_on = channel is None or channel in self.facts.channels
            mark = ("+" if is_on else "-") if self.printing.ascii else ("✓" if is_on else "·")
            left += [spot(" "), spot(f"{letter}{mark}", look if is_on else StyleRole.QUIET, action)]
        if self.facts.filter:
            left.append(spot(" &", StyleRole.WARNING, "filter"))
        letters = [Spot(part) for part in self.facts.letters]
        if sum(cells(part.text) for part in self.facts.letters) + width_of(left) + 2 > width:
            letters = []
        return apart(left, [*letters, spot(" ")], width)
