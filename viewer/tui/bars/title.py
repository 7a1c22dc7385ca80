"""Title line: file, safe or debug (always in the same column), follow state, problems, and position."""

from __future__ import annotations

from dataclasses import dataclass

from viewer.render.badge import BADGES, badge_room, state_room
from viewer.render.line import cells, cut
from viewer.render.sanitize import SafeText
from viewer.render.style import Style, StyleRole, trusted
from viewer.tui.bars.bar import ROOMY, Bar, Spot, apart, spot, width_of
from viewer.tui.main.follow import FollowState
from viewer.tui.terminal.paint import Painter

_SHORT_DIALECTS = {"OpenChatML": "OCM", "JSON": "JSON", "interchange": "", "event": "", "stream": ""}


_UNICODE_STATES = {
    FollowState.FOLLOWING: "▶", FollowState.PAUSED: "❚❚", FollowState.FROZEN: "■",
    FollowState.WAITING: "◌", FollowState.STALLED: "◌", FollowState.ENDED: "■",
}  # fmt: skip
_ASCII_STATES = {
    FollowState.FOLLOWING: ">", FollowState.PAUSED: "||", FollowState.FROZEN: "=",
    FollowState.WAITING: "~", FollowState.STALLED: "~", FollowState.ENDED: "=",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class TitleFacts:
    """The facts of the title line. Text from outside is raw; the bar sanitizes it."""

    name: str = ""
    """The name of the file."""
    dialect: str = ""
    """The title of the format, such as `OpenChatML 2.2`."""
    model: str = ""
    turns: int | None = None
    debug: bool = False
    follow: FollowState = FollowState.STILL
    behind: int = 0
    """The number of messages that arrived while the view was paused."""
    errors: int = 0
    warnings: int = 0
    message: int | None = None
    messages: int = 0
    percent: int | None = None
    busy: str = ""
    """Work in progress: `indexing 41 %`. It replaces the follow state."""
    words: str = ""
    """Replaces the name of the follow state if there is room: `stalled 12 s`."""
    transcript: tuple[int, int] | None = None
    """The number of the transcript and the number of transcripts, if there are several."""


LEAST_NAME = 8
"""Columns of the name that stay next to the number of the transcript."""


class TitleBar(Bar):
    """One line; the badge always ends in the same column."""

    def __init__(self, painter: Painter, printing: Style | None = None, *, id: str | None = "title") -> None:
        super().__init__(painter, printing, id=id)
        self.facts = TitleFacts()

    def show(self, facts: TitleFacts) -> None:
        """Show other facts."""
        if facts != self.facts:
            self.facts = facts
            self.set_class(facts.debug, "-debug")
            self.refresh()

    def spots(self, width: int) -> list[Spot]:
        """Name and format, the badge, and the state at the right end."""
        room = state_room(width)
        state = self._state(width >= ROOMY, room)
        badge = self._badge()
        left = self._left(width, max(width - room - badge_room() - 1, 0))
        return [*left, *badge, *state, spot(" ")]

    def _badge(self) -> list[Spot]:
        words = BADGES[self.facts.debug]
        shown = words.lstrip()
        look = StyleRole.DEBUG_BADGE if self.facts.debug else StyleRole.SAFE_BADGE
        return [spot(words[: len(words) - len(shown)]), spot(shown, look)]

    def _left(self, width: int, room: int) -> list[Spot]:
        """The left part, exactly as wide as the room."""
        ellipsis = trusted(self.printing.signs.ellipsis)
        gap = "   " if width >= ROOMY else "  "
        kept = len(gap) + len(self._where()) + 2 if self.facts.transcript else 1
        whole = self.printing.name(self.facts.name)
        name = cut(whole, max(room - 1 - kept, min(cells(whole), LEAST_NAME), 0), ellipsis)
        spots = [spot(" "), spot(name, StyleRole.TITLE), spot(gap)]
        about = self._about(width >= ROOMY)
        left = room - width_of(spots)
        if left >= min(cells(about), 8):
            spots.append(spot(cut(about, left, ellipsis), StyleRole.QUIET))
        filled = trusted("".join(each.part.text for each in spots))
        return apart(spots, [], room) if cells(filled) <= room else [spot(filled[:room], StyleRole.TITLE)]

    def _where(self) -> str:
        transcript = self.facts.transcript
        return f"transcript {transcript[0]} of {transcript[1]}" if transcript else ""

    def _about(self, roomy: bool) -> SafeText:
        """`OpenChatML 2.2 · gpt-oss-120b · 3 turns`, or `OCM 2.2`."""
        facts = self.facts
        where = self._where()
        if not roomy:
            words = (_SHORT_DIALECTS.get(word, word) for word in facts.dialect.split())
            return self.printing.words(where or " ".join(filter(None, words)))
        said = [trusted(where), self.printing.words(facts.dialect), self.printing.name(facts.model)]
        if facts.turns is not None and not where:
            said.append(trusted(f"{facts.turns} turn{'' if facts.turns == 1 else 's'}"))
        return trusted(f" {self.printing.signs.dot} ".join(filter(None, said)))

    def _state(self, roomy: bool, room: int) -> list[Spot]:
        """The follow state next to the badge, the rest at the right end; without room, the percentage goes first."""
        gap = "  " if roomy else " "
        blocks = [self._follow(roomy), self._counts(roomy), self._place(roomy), self._percent(roomy)]
        shorter = [(3, []), (0, self._follow(False, short=True)), (0, []), (2, []), (1, [])]
        for index, block in shorter:
            shown = [block for block in blocks if block]
            if sum(map(width_of, shown)) + len(gap) * len(shown) <= room:
                break
            blocks[index] = block
        state, *others = ([spot(gap), *block] if block else [] for block in blocks)
        return apart(state, [each for other in others for each in other], room)

    def _follow(self, roomy: bool, *, short: bool = False) -> list[Spot]:
        facts = self.facts
        if facts.busy:
            return [spot(self.printing.words(facts.busy), StyleRole.PENDING)]
        if facts.follow is FollowState.STILL:
            return []
        mark = (_ASCII_STATES if self.printing.ascii else _UNICODE_STATES)[facts.follow]
        behind = f" +{facts.behind:,}" if facts.behind else ""
        is_clear = facts.follow is FollowState.PAUSED and behind and not roomy
        word = "" if is_clear else f" {facts.follow.value if short else facts.words or facts.follow.value}"
        return [spot(self.printing.words(f"{mark}{word}{behind}"), _LOOKS[facts.follow], "follow")]

    def _counts(self, roomy: bool) -> list[Spot]:
        signs, between = self.printing.signs, " " if roomy else ""
        counts = []
        if self.facts.errors:
            counts.append(spot(f"{signs.error}{between}{self.facts.errors}", StyleRole.ERROR, "next_error"))
        if self.facts.warnings:
            counts.append(spot(f"{signs.warning}{between}{self.facts.warnings}", StyleRole.WARNING, "next_warning"))
        return counts[:1] + [each for count in counts[1:] for each in (spot(" "), count)]

    def _place(self, roomy: bool) -> list[Spot]:
        facts = self.facts
        if facts.message is None:
            return []
        return [spot(f"{'msg ' if roomy else ''}{facts.message}/{facts.messages}", StyleRole.STRONG, "goto")]

    def _percent(self, roomy: bool) -> list[Spot]:
        return [] if self.facts.percent is None or not roomy else [spot(f"{self.facts.percent}%", StyleRole.QUIET)]


_LOOKS = {
    FollowState.FOLLOWING: StyleRole.OK,
    FollowState.PAUSED: StyleRole.WARNING,
    FollowState.FROZEN: StyleRole.WARNING,
    FollowState.WAITING: StyleRole.PENDING,
    FollowState.STALLED: StyleRole.WARNING,
    FollowState.ENDED: StyleRole.QUIET,
}
