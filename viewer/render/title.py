"""Title lines of views and transcripts: `TitleFacts`, the badge of the level, and rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum

from msgspec import Struct

from viewer.document.values import Boundary
from viewer.formats import FORMATS
from viewer.render.number_format import byte_size, counted
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Glyphs, Line, Part, Style, StyleRole, trusted
from viewer.render.width import between, cells, cut, wrap

TITLE_WIDTH = 60
"""The maximum width of the title of a transcript, in columns."""
LEAST_NAME = 8
"""The minimum number of columns for the name of the file."""


class FollowState(Enum):
    """The follow state of the view."""

    STILL = "still"
    LIVE = "live"
    PAUSED = "paused"
    FROZEN = "frozen"
    WAITING = "waiting"
    """The file does not exist yet, or cannot be read at the moment."""
    LOST = "lost"
    """A file that has been read is gone or can no longer be read."""
    STALLED = "stalled"
    """The file ends inside a message and has not grown for a while."""
    ENDED = "ended"
    """The input was a pipe that has ended."""


_UNICODE_STATES = {
    FollowState.LIVE: "●", FollowState.PAUSED: "❚❚", FollowState.FROZEN: "❄",
    FollowState.WAITING: "", FollowState.LOST: "✖", FollowState.STALLED: "◌", FollowState.ENDED: "■",
}  # fmt: skip
_ASCII_STATES = {
    FollowState.LIVE: "*", FollowState.PAUSED: "||", FollowState.FROZEN: "=",
    FollowState.WAITING: "", FollowState.LOST: "x", FollowState.STALLED: "~", FollowState.ENDED: "=",
}  # fmt: skip


def follow_sign(state: FollowState, style: Style) -> tuple[str, StyleRole]:
    """Return the glyph of a follow state, which may be empty, and its color."""
    return (_ASCII_STATES if style.ascii else _UNICODE_STATES)[state], _LOOKS.get(state, StyleRole.QUIET)


class TitleFacts(Struct, frozen=True, gc=False):
    """Facts for the title line. External text is sanitized when the line is built."""

    name: str = ""
    """The name of the file."""
    format: str = ""
    """The title of the format, such as `OpenChatML 2.2`."""
    model: str = ""
    level: str = "safe"
    """How much the view reveals: `safe`, `brief`, or `debug`."""
    follow: FollowState = FollowState.STILL
    words: str = ""
    """The follow state in words. If empty, the name of the state is shown."""
    sources: str = ""
    """The position of this input among several followed ones, and how many are live."""
    busy: str = ""
    """Work in progress, such as `reading 41%`; shown instead of the format."""
    is_reading: bool = False
    """True if the position is not known yet."""
    agent: str = ""
    """The sub-agent whose transcript is open, preceded by the number of its call; empty for the whole transcript."""
    transcript: tuple[int, int] | None = None
    """The number of the transcript and the number of transcripts, if there are several."""
    turn: tuple[int, int] | None = None
    """The number of the turn at the cursor, and the number of the last turn."""
    errors: int = 0
    """The number of errors; shown only in the debug view."""
    warnings: int = 0
    calls: int = 0
    failed: int = 0
    tokens: int = 0
    size: int = 0
    """The size of the input in bytes; 0 if it is not shown."""

    @property
    def debug(self) -> bool:
        """True if the view is the debug view."""
        return self.level == "debug"


class TitlePart(Struct, frozen=True):
    """A part of the title line, and the action of a click on it."""

    part: Part
    action: str = ""


LEAST_FREE = 16
"""The minimum gap, in cells, that lower-ranked parts must leave between the two ends of the title line."""
LEVELS = {"safe": StyleRole.SAFE_BADGE, "brief": StyleRole.BRIEF_BADGE, "debug": StyleRole.DEBUG_BADGE}
"""The style of the badge of each level."""


def badge_part(level: str, gap: str = " ") -> Part:
    """Return the level in brackets, and a gap to the edge of the screen."""
    return Part(trusted(f"[{level.upper()}]{gap}"), LEVELS[level])


def title_parts(facts: TitleFacts, width: int, style: Style) -> list[TitlePart]:
    """Return the title line: name and facts at the left edge, position and level at the right edge."""
    return _TitleLine(facts, width, style).parts()


def screen_title(left: Sequence[Part], right: str, level: str, width: int, style: Style) -> Line:
    """Return the title line of a screen without a transcript. In the debug view, free cells are filled with slashes, as
    in the title line of a transcript."""
    badge = badge_part(level, "")
    aside = [Part(style.words(f"{right}  "), StyleRole.STRONG)] if right else []
    room = max(width - cells(badge.text) - 1, 0)
    if aside and room - cells(aside[0].text) < LEAST_NAME:
        aside = []
    room -= sum(cells(part.text) for part in aside)
    line = between([Part(trusted(" ")), *left], [], room - len(aside), style.signs)
    free = room - sum(cells(part.text) for part in line)
    return (*line, *_free_cells(free, level, style), *aside, badge, Part(trusted(" ")))


def _free_cells(free: int, level: str, style: Style) -> list[Part]:
    """Return the fill for unused cells: slashes in the debug view, to make it recognizable at a glance."""
    if level != "debug" or free < 3:
        return [Part(trusted(" " * free))]
    stroke = "/" if style.ascii else "╱"
    return [Part(trusted(" ")), Part(trusted(stroke * (free - 2)), StyleRole.RULE), Part(trusted(" "))]


def rule(words: SafeText, aside: SafeText, width: int, style: Style, *, heavy: bool = False) -> Line:
    """Return a rule such as `── turn 2 ───────── 10:02:41 ──`."""
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
    """Return the word for the beginning or the end of a superseded branch."""
    return "rewound" if is_rewound else "continued"


def folded_branch_words(messages: int) -> str:
    """Return the words of a folded superseded branch."""
    return f"rewound: {counted(messages, 'message')}"


def boundary_words(boundary: Boundary) -> list[str]:
    """Return the number, format, model, and title of the transcript that begins here. The words are not sanitized
    yet."""
    from viewer.render.blocks.inline import without_marks  # few inputs have several transcripts

    transcript = boundary.transcript
    number = f"transcript {transcript.number:,}" + (f" of {boundary.count:,}" if boundary.count > 1 else "")
    title = str(cut(without_marks(sanitize_line(boundary.title)), TITLE_WIDTH, trusted("…")))
    return [word for word in (number, FORMATS.title(transcript.format), transcript.model, title) if word]


def fitting_boundary_words(boundary: Boundary, width: int, signs: Glyphs) -> SafeText:
    """Return the words of a boundary on one line. If they are too wide, omit the model, then the format, so
    the title stays readable."""
    number, *facts = map(sanitize_line, boundary_words(boundary))
    title = [facts.pop()] if facts and boundary.title else []
    while True:
        words = SafeText(f" {signs.dot} ".join([number, *facts, *title]))
        if not facts or not title or cells(words) <= width:
            return words
        facts.pop()


def boundary_lines(boundary: Boundary, width: int, style: Style) -> Iterator[Line]:
    """Yield the first line of a transcript, and its header if revealed."""
    words = style.name(f" {style.signs.dot} ".join(boundary_words(boundary)))
    yield rule(words, trusted(""), width, style, heavy=True)
    for line in outline(boundary.transcript.header or {}, 0):
        text = style.name(line)
        for row in wrap(text, width) if style.wrapped else [text]:
            yield (Part(row, StyleRole.QUIET),)


def outline(value: object, depth: int) -> Iterator[str]:
    """Yield a document header as indented lines."""
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
    """The parts of one title line. Facts are added by rank as long as there is room."""

    def __init__(self, facts: TitleFacts, width: int, style: Style) -> None:
        self._facts = facts
        self._width = width
        self._style = style
        self._left: dict[str, list[TitlePart]] = {}
        self._right: dict[str, list[TitlePart]] = {}
        self._free = 0

    def parts(self) -> list[TitlePart]:
        """Return the whole line. The level is in its last cells at every width."""
        facts, style = self._facts, self._style
        badge = TitlePart(badge_part(facts.level, ""))
        ending = [badge, _part(" ")] if self._width > cells(badge.part.text) else [badge]
        self._free = self._width - _width_of(ending)
        if self._free < 2:
            return ending
        state = self._state()
        path = trusted(f" {'>' if style.ascii else '›'} {style.name(facts.agent)}" if facts.agent else "")
        whole = style.name(facts.name)
        reserved = cells(path) + 2 + sum(_width_of(part) + 2 for part in (state, self._turn(), self._transcript()))
        room = max(self._free - reserved - 2, min(cells(whole), LEAST_NAME, self._free - 2), 0)
        name = cut(whole, room, trusted(style.signs.ellipsis))
        self._add_left("name", _part(" "), _part(name, StyleRole.TITLE), _part(path, StyleRole.TITLE))
        self._free -= 1
        self._add_right("state", state, 1)
        self._add_right("sources", [_part(facts.sources, StyleRole.QUIET, "next_file")] if facts.sources else [], 1)
        self._add_right("turn", self._turn(), 1)
        self._add_right("transcript", self._transcript(), 1)
        self._add_right("problems", self._problems(), 1)
        self._add_left("format", *self._about(facts.busy or facts.format, "  "), keeps=1)
        self._add_right("calls", self._calls(), 2)
        if not facts.busy:
            self._add_left("model", *self._about(facts.model, self._dot, is_name=True), keeps=LEAST_FREE)
        if facts.failed and "calls" in self._right:
            self._add_right("failed", [_part(f", {facts.failed:,} failed", StyleRole.ERROR)], LEAST_FREE, gap=0)
        self._add_right("size", [_part(byte_size(facts.size), StyleRole.QUIET)] if facts.size else [], LEAST_FREE)
        tokens = [_part(f"{facts.tokens:,} tokens", StyleRole.QUIET)] if facts.tokens else []
        self._add_right("tokens", tokens, LEAST_FREE)
        if facts.turn and facts.turn[1] > 1 and not facts.transcript and not facts.busy:
            self._add_left("turns", *self._about(f"{facts.turn[1]:,} turns", self._dot), keeps=LEAST_FREE)
        return [*self._joined_left(), *self._filling(), *self._joined_right(), *ending]

    @property
    def _dot(self) -> str:
        return f" {self._style.signs.dot} "

    def _about(self, words: str, before: str, *, is_name: bool = False) -> list[TitlePart]:
        if not words:
            return []
        look = StyleRole.PENDING if words == self._facts.busy else StyleRole.QUIET
        shown = self._style.name(words) if is_name else self._style.words(words)
        return [_part(before, StyleRole.QUIET), TitlePart(Part(shown, look))]

    def _add_left(self, name: str, *parts: TitlePart, keeps: int = 0) -> None:
        size = _width_of(parts)
        if size and self._free - size >= keeps:
            self._left[name] = list(parts)
            self._free -= size

    def _add_right(self, name: str, parts: list[TitlePart], keeps: int, gap: int = 2) -> None:
        size = _width_of(parts) + gap
        if parts and self._free - size >= keeps:
            self._right[name] = parts
            self._free -= size

    def _joined_left(self) -> list[TitlePart]:
        order = ("name", "format", "model", "turns")
        return [part for name in order for part in self._left.get(name, ())]

    def _joined_right(self) -> list[TitlePart]:
        order = ("problems", "calls", "failed", "tokens", "size", "state", "sources", "transcript", "turn")
        shown = [name for name in order if name in self._right]
        parts: list[TitlePart] = []
        for place, name in enumerate(shown):
            parts += self._right[name]
            follows = shown[place + 1] if place + 1 < len(shown) else ""
            parts += [] if follows == "failed" else [_part("  ")]
        return parts

    def _filling(self) -> list[TitlePart]:
        """Return the content of free cells: slashes in the debug view, to make it recognizable at a glance."""
        return [TitlePart(part) for part in _free_cells(self._free + 1, self._facts.level, self._style)]

    def _state(self) -> list[TitlePart]:
        facts = self._facts
        if facts.is_reading:
            return [_part(self._style.signs.ellipsis, StyleRole.PENDING)]
        if facts.follow is FollowState.STILL:
            return []
        mark, look = follow_sign(facts.follow, self._style)
        words = self._style.words(" ".join(filter(None, (mark, facts.words or facts.follow.value))))
        return [TitlePart(Part(words, look), "follow")]

    def _turn(self) -> list[TitlePart]:
        facts = self._facts
        if facts.turn is None or facts.is_reading:
            return []
        here, last = facts.turn
        words = f"turn {here:,}/{last:,}" if facts.debug else f"turn {here:,} of {last:,}"
        return [_part(words, StyleRole.STRONG, "command")]

    def _transcript(self) -> list[TitlePart]:
        which = self._facts.transcript
        return [_part(f"transcript {which[0]:,} of {which[1]:,}", StyleRole.QUIET, "transcripts")] if which else []

    def _problems(self) -> list[TitlePart]:
        facts, signs = self._facts, self._style.signs
        if not facts.debug:
            return []
        found = [(signs.error, facts.errors, StyleRole.ERROR, "next_error")]
        found += [(signs.warning, facts.warnings, StyleRole.WARNING, "next_warning")]
        parts = [_part(f"{sign} {count:,}", look, action) for sign, count, look, action in found if count]
        return parts[:1] + [each for part in parts[1:] for each in (_part(" "), part)]

    def _calls(self) -> list[TitlePart]:
        calls = self._facts.calls
        return [_part(counted(calls, "call"), StyleRole.QUIET, "calls")] if calls and self._facts.debug else []


def _part(text: str, look: StyleRole = StyleRole.PLAIN, action: str = "") -> TitlePart:
    return TitlePart(Part(trusted(text), look), action)


def _width_of(parts: Iterable[TitlePart]) -> int:
    return sum(cells(each.part.text) for each in parts)


_LOOKS = {
    FollowState.LIVE: StyleRole.OK,
    FollowState.PAUSED: StyleRole.WARNING,
    FollowState.FROZEN: StyleRole.WARNING,
    FollowState.WAITING: StyleRole.PENDING,
    FollowState.LOST: StyleRole.ERROR,
    FollowState.STALLED: StyleRole.WARNING,
    FollowState.ENDED: StyleRole.QUIET,
}
