"""Title lines: of the view, with `TitleFacts` and the badge SAFE or DEBUG, and of each transcript; rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct

from viewer.document.values import Boundary
from viewer.formats import FORMATS
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut, wrap

TITLE_WIDTH = 60
"""Columns of the title of a transcript."""
BADGES = {True: " [DEBUG]", False: "  [SAFE]"}
ROOMY = 100
"""From this width on there is room for more words."""
LEAST_NAME = 8
"""The minimum number of columns for the name next to the number of the transcript."""
_SHORT_FORMATS = {"OpenChatML": "OCM", "JSON": "JSON", "interchange": "", "event": "", "stream": ""}


class FollowState(Enum):
    """The follow state of the view."""

    STILL = "still"
    FOLLOWING = "LIVE"
    PAUSED = "paused"
    FROZEN = "frozen"
    WAITING = "waiting"
    """The file is not there yet, or cannot be read now."""
    STALLED = "stalled"
    """The file ends inside a message and has not grown for a while."""
    ENDED = "ended"
    """The input was a pipe that has ended."""


_UNICODE_STATES = {
    FollowState.FOLLOWING: "▶", FollowState.PAUSED: "❚❚", FollowState.FROZEN: "■",
    FollowState.WAITING: "◌", FollowState.STALLED: "◌", FollowState.ENDED: "■",
}  # fmt: skip
_ASCII_STATES = {
    FollowState.FOLLOWING: ">", FollowState.PAUSED: "||", FollowState.FROZEN: "=",
    FollowState.WAITING: "~", FollowState.STALLED: "~", FollowState.ENDED: "=",
}  # fmt: skip


class TitleFacts(Struct, frozen=True, gc=False):
    """Facts of the title line. External text is sanitized when the line is made."""

    name: str = ""
    """The name of the file."""
    format: str = ""
    """The title of the format, such as `OpenChatML 2.2`."""
    model: str = ""
    turns: int | None = None
    debug: bool = False
    follow: FollowState = FollowState.STILL
    behind: int = 0
    """Messages that arrived while it was paused."""
    errors: int = 0
    warnings: int = 0
    message: int | None = None
    messages: int = 0
    percent: int | None = None
    busy: str = ""
    """Work in progress, such as `indexing 41 %`; shown instead of the follow state."""
    words: str = ""
    """The follow state in more words, such as `stalled 12 s`, if there is room."""
    transcript: tuple[int, int] | None = None
    """The number of the transcript and the count, if there are several."""


class TitlePart(Struct, frozen=True):
    """A part of the title line, and the action of a click on it."""

    part: Part
    action: str = ""


def title_parts(facts: TitleFacts, width: int, style: Style) -> list[TitlePart]:
    """The title line: name and format, the badge always in the same column, and the state at the right edge."""
    return _TitleLine(facts, width, style).spots()


def badge_room() -> int:
    """Cells of the widest badge."""
    return len(BADGES[True])


def state_room(width: int) -> int:
    """Cells to the right of the badge."""
    if width >= ROOMY:
        return 46
    if width >= 70:
        return 27
    return max(min(width - 34, 20), 0)


def rule(words: SafeText, aside: SafeText, width: int, style: Style, *, heavy: bool = False) -> Line:
    """A rule such as `── turn 2 ───────── 10:02:41 ──`."""
    stroke = style.signs.heavy if heavy else style.signs.rule
    if style.wrapped:
        words = cut(words, max(width - 8, 8), trusted(style.signs.ellipsis))
    right = f" {aside} {stroke * 2}" if aside else ""
    filling = max(width - cells(words) - 4 - cells(right), 2)
    return (
        Part(trusted(stroke * 2 + " "), StyleRole.RULE),
        Part(words, StyleRole.STRONG if heavy else StyleRole.QUIET),
        Part(trusted(f" {stroke * filling}{right}"), StyleRole.RULE),
    )


def branch_words(is_rewound: bool) -> str:
    """The words at the beginning and at the end of a branch that the user left behind."""
    return "rewound" if is_rewound else "continued"


def boundary_words(boundary: Boundary) -> list[str]:
    """Number, format, model and title of the transcript that begins. Not yet safe for a terminal."""
    transcript = boundary.transcript
    number = f"transcript {transcript.number}" + (f" of {boundary.count}" if boundary.count > 1 else "")
    title = str(cut(sanitize_line(boundary.title), TITLE_WIDTH, trusted("…")))
    return [word for word in (number, FORMATS.title(transcript.format), transcript.model, title) if word]


def boundary_lines(boundary: Boundary, width: int, style: Style) -> Iterator[Line]:
    """The first line of a transcript, and its header if revealed."""
    words = style.name(f" {style.signs.dot} ".join(boundary_words(boundary)))
    yield rule(words, trusted(""), width, style, heavy=True)
    for line in outline(boundary.transcript.header or {}, 0):
        text = style.name(line)
        for row in wrap(text, width) if style.wrapped else [text]:
            yield (Part(row, StyleRole.QUIET),)


def outline(value: object, depth: int) -> Iterator[str]:
    """A document header as indented lines."""
    if isinstance(value, dict):
        pairs = [(f"{key}:", inner) for key, inner in value.items()]
    elif isinstance(value, list):
        pairs = [("-", inner) for inner in value]
    else:
        yield f"{'  ' * depth}{value}"
        return
    for label, inner in pairs:
        if isinstance(inner, dict | list):
            yield f"{'  ' * depth}{label}"
            yield from outline(inner, depth + 1)
        else:
            yield f"{'  ' * depth}{label} {inner}"


class _TitleLine:
    """The parts of one title line."""

    def __init__(self, facts: TitleFacts, width: int, style: Style) -> None:
        self.facts = facts
        self.printing = style
        self._width = width

    def spots(self) -> list[TitlePart]:
        """Name and format, the badge, and the state at the right edge."""
        width = self._width
        room = state_room(width)
        state = self._state(width >= ROOMY, room)
        badge = self._badge()
        left = self._left(width, max(width - room - badge_room() - 1, 0))
        return [*left, *badge, *state, _part(" ")]

    def _badge(self) -> list[TitlePart]:
        words = BADGES[self.facts.debug]
        shown = words.lstrip()
        look = StyleRole.DEBUG_BADGE if self.facts.debug else StyleRole.SAFE_BADGE
        return [_part(words[: len(words) - len(shown)]), _part(shown, look)]

    def _left(self, width: int, room: int) -> list[TitlePart]:
        """The name and the format, exactly as wide as the room."""
        ellipsis = trusted(self.printing.signs.ellipsis)
        gap = "   " if width >= ROOMY else "  "
        kept = len(gap) + len(self._where()) + 2 if self.facts.transcript else 1
        whole = self.printing.name(self.facts.name)
        name = cut(whole, max(room - 1 - kept, min(cells(whole), LEAST_NAME), 0), ellipsis)
        spots = [_part(" "), _part(name, StyleRole.TITLE), _part(gap)]
        about = self._about(width >= ROOMY)
        left = room - _width_of(spots)
        if left >= min(cells(about), 8):
            spots.append(_part(cut(about, left, ellipsis), StyleRole.QUIET))
        filled = trusted("".join(each.part.text for each in spots))
        return _apart(spots, [], room) if cells(filled) <= room else [_part(filled[:room], StyleRole.TITLE)]

    def _where(self) -> str:
        transcript = self.facts.transcript
        return f"transcript {transcript[0]} of {transcript[1]}" if transcript else ""

    def _about(self, roomy: bool) -> SafeText:
        """`OpenChatML 2.2 · gpt-oss-120b · 3 turns`, or `OCM 2.2`."""
        facts = self.facts
        where = self._where()
        if not roomy:
            words = (_SHORT_FORMATS.get(word, word) for word in facts.format.split())
            return self.printing.words(where or " ".join(filter(None, words)))
        said = [trusted(where), self.printing.words(facts.format), self.printing.name(facts.model)]
        if facts.turns is not None and not where:
            said.append(trusted(f"{facts.turns} turn{'' if facts.turns == 1 else 's'}"))
        return trusted(f" {self.printing.signs.dot} ".join(filter(None, said)))

    def _state(self, roomy: bool, room: int) -> list[TitlePart]:
        """The follow state next to the badge, the rest at the right edge; if there is no room, percent goes first."""
        gap = "  " if roomy else " "
        blocks = [self._follow(roomy), self._counts(roomy), self._place(roomy), self._percent(roomy)]
        shorter = [(3, []), (0, self._follow(False, short=True)), (0, []), (2, []), (1, [])]
        for index, block in shorter:
            shown = [block for block in blocks if block]
            if sum(map(_width_of, shown)) + len(gap) * len(shown) <= room:
                break
            blocks[index] = block
        state, *others = ([_part(gap), *block] if block else [] for block in blocks)
        return _apart(state, [each for other in others for each in other], room)

    def _follow(self, roomy: bool, *, short: bool = False) -> list[TitlePart]:
        facts = self.facts
        if facts.busy:
            return [_part(self.printing.words(facts.busy), StyleRole.PENDING)]
        if facts.follow is FollowState.STILL:
            return []
        mark = (_ASCII_STATES if self.printing.ascii else _UNICODE_STATES)[facts.follow]
        behind = f" +{facts.behind:,}" if facts.behind else ""
        is_clear = facts.follow is FollowState.PAUSED and behind and not roomy
        word = "" if is_clear else f" {facts.follow.value if short else facts.words or facts.follow.value}"
        return [_part(self.printing.words(f"{mark}{word}{behind}"), _LOOKS[facts.follow], "follow")]

    def _counts(self, roomy: bool) -> list[TitlePart]:
        signs, between = self.printing.signs, " " if roomy else ""
        counts = []
        if self.facts.errors:
            counts.append(_part(f"{signs.error}{between}{self.facts.errors}", StyleRole.ERROR, "next_error"))
        if self.facts.warnings:
            counts.append(_part(f"{signs.warning}{between}{self.facts.warnings}", StyleRole.WARNING, "next_warning"))
        return counts[:1] + [each for count in counts[1:] for each in (_part(" "), count)]

    def _place(self, roomy: bool) -> list[TitlePart]:
        facts = self.facts
        if facts.message is None:
            return []
        return [_part(f"{'msg ' if roomy else ''}{facts.message}/{facts.messages}", StyleRole.STRONG, "goto")]

    def _percent(self, roomy: bool) -> list[TitlePart]:
        return [] if self.facts.percent is None or not roomy else [_part(f"{self.facts.percent}%", StyleRole.QUIET)]


def _part(text: str, look: StyleRole = StyleRole.PLAIN, action: str = "") -> TitlePart:
    return TitlePart(Part(trusted(text), look), action)


def _width_of(parts: Iterable[TitlePart]) -> int:
    return sum(cells(each.part.text) for each in parts)


def _apart(left: list[TitlePart], right: list[TitlePart], width: int) -> list[TitlePart]:
    gap = max(width - _width_of(left) - _width_of(right), 0)
    return [*left, _part(" " * gap), *right]


_LOOKS = {
    FollowState.FOLLOWING: StyleRole.OK,
    FollowState.PAUSED: StyleRole.WARNING,
    FollowState.FROZEN: StyleRole.WARNING,
    FollowState.WAITING: StyleRole.PENDING,
    FollowState.STALLED: StyleRole.WARNING,
    FollowState.ENDED: StyleRole.QUIET,
}
