"""The page before the first page: the beginning of a file, painted before anything else is imported.

Every cell is either blank or the same as on the first page. This page is skipped unless everything that determines the
first page is known: one argument that names a regular file, no settings file or themes folder, a known terminal, and a
file that `first_reading` can read. `first_page` then draws the whole page in place, unless this one is complete."""

from __future__ import annotations

import os
import sys

from viewer.character_rows import character_rows
from viewer.first_paint import is_sane, painted
from viewer.first_reading import (
    ASSISTANT,
    HIDDEN,
    PLAN,
    UNKNOWN,
    USER,
    has_marks,
    hides_nothing,
    plain_lines,
    read_beginning,
    shown_text,
)
from viewer.held_screen import SCREEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Line = list[tuple[str, str]]
    """The parts of a line: style role and text."""

SIZE = 64 * 1024
"""How many bytes of a file to read: as many as for the first page."""
MARGIN, COLUMN = 2, 88
"""The minimum margin and the maximum width of the reading column."""
CERTAIN_ROWS = 30
"""The number of rows of a body that are always shown. Of a body with more than `MOST_ROWS` rows, only these are
shown."""
MOST_ROWS = 60
_LONGEST_NAME = 100
_ROOM_AFTER_NAME = 40
"""The number of cells that the title reserves for its right end."""
_TERMINALS = ("xterm-256color", "screen-256color", "tmux-256color", "xterm-kitty")
"""Terminals that are known to support 256 colors, although they do not set COLORTERM."""
_NO_TERMINALS = ("", "dumb", "unknown")
_TRUE_COLORS = ("truecolor", "24bit")
_LIGHT = ("7", "9", "10", "11", "12", "13", "14", "15")
_NAMES = {USER: "User", ASSISTANT: "Assistant", PLAN: "Assistant"}


def show_first(path: str) -> None:
    """Paint the page of a file if everything that determines its appearance is known. Otherwise, do nothing."""
    name = path.rpartition("/")[2]
    if not (name.isascii() and name.isprintable() and 0 < len(name) <= _LONGEST_NAME):
        return
    size, look = _size_of_terminal(), _look()
    if size is None or look is None or _has_own_files(path):
        return
    head = _head(path)
    if head is None:
        return
    page = beginning_of(head[0], name, size, is_whole=head[1])
    if page is not None:
        SCREEN.show(page.painted(size, look), is_complete=page.is_complete)


class Beginning:
    """The lines of the page, from the title to the footer."""

    def __init__(self, lines: list[Line], *, is_complete: bool) -> None:
        self.lines = lines
        self.is_complete = is_complete
        """True if the page is the whole first page."""

    def painted(self, size: tuple[int, int], look: tuple[str, bool]) -> str:
        """Return the terminal output that paints the page in a theme."""
        from viewer.first_looks import LOOKS

        page, title, codes = LOOKS[look]
        return painted([[(codes[role], text) for role, text in line] for line in self.lines], size, page, title)


def beginning_of(data: bytes, name: str, size: tuple[int, int], *, is_whole: bool) -> Beginning | None:
    """Return the page of a file that begins with `data`; None if no message text can be shown with certainty."""
    from viewer.first_looks import ALWAYS, FOOTERS

    found = read_beginning(data, is_whole=is_whole)
    width, room = size[0], size[1] - 3
    if found is None or len(name) > width - _ROOM_AFTER_NAME:
        return None
    view: list[Line] = []
    is_complete = False
    for line in _lines(found.messages, found.is_whole, width):
        if line is None or len(view) == room:
            is_complete = line is not None and not is_whole  # for a whole file, the first page has a fuller title
            break
        view.append(line)
    if not any(role == "said" for line in view for role, _ in line):
        return None
    ending: Line = [("safe-badge", "[SAFE]"), ("plain", " ")]
    title = _filled([("plain", " "), ("title", name)], ending, width)
    keys = next(keys for least, keys in reversed(FOOTERS) if width >= least)
    footer = _filled(_footer(keys), [*_footer(ALWAYS), ("plain", " ")], width)
    below: list[Line] = [[] for _ in range(room - len(view) + 1)]
    return Beginning([title, *view, *below, footer], is_complete=is_complete)


def _footer(keys: Sequence[tuple[str, str]]) -> Line:
    """Return the keys of a footer with their labels."""
    line: Line = []
    for key, label in keys:
        line += [("plain", "  " if line else " "), ("footer-key", key), ("footer-text", f" {label}")]
    return line


def _filled(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]], width: int) -> Line:
    gap = width - sum(len(text) for _, text in (*left, *right))
    return [*left, ("plain", " " * gap), *right]


def _lines(messages: list[tuple[str, bytes]], is_whole: bool, width: int) -> Iterator[Line | None]:
    """Yield the lines of the view. A final None means that the next line and all after it are unknown."""
    column = max(1, min(COLUMN, width - 2 * MARGIN))
    margin: tuple[str, str] = ("plain", " " * max(MARGIN, (width - column) // 2))
    turn = last_turn = hidden = 0
    is_after_user = is_certain = False
    for kind, body in messages:
        if kind == HIDDEN:
            is_certain = hides_nothing(body) and (is_certain or not hidden)
            hidden += 1
            continue
        if kind == UNKNOWN:  # it may belong to the hidden messages before it
            yield None
            return
        if hidden:
            yield from _hidden_lines(hidden, is_certain, margin, column)
            hidden = 0
        turn += kind == USER and not is_after_user
        is_after_user = kind == USER
        text = shown_text(body)
        if text is None:
            yield None
            return
        if (turn or 1) != last_turn:
            last_turn = turn or 1
            words = f" turn {last_turn} "
            rule = "─" * (column - len(words) - 2)
            yield [margin, ("rule", rule), ("quiet", words), ("rule", "──")]
            yield []
        yield [margin, (kind, _NAMES[kind]), *([(kind, " · plan")] if kind == PLAN else [])]
        yield from _body_lines(text, margin, column)
        yield []
    if hidden and is_whole:
        yield from _hidden_lines(hidden, is_certain, margin, column)
    if not is_whole:
        yield None


def _hidden_lines(count: int, is_certain: bool, margin: tuple[str, str], column: int) -> Iterator[Line | None]:
    if not is_certain or count > 999:
        yield None
        return
    words = f"┄ {count} hidden message{'' if count == 1 else 's'} ┄"
    yield [margin, ("plain", " " * ((column - len(words)) // 2)), ("quiet", words)]
    yield []


def _body_lines(text: str, margin: tuple[str, str], column: int) -> Iterator[Line | None]:
    rows: list[Line] = []
    for line in plain_lines(text):
        if line is None:
            yield from rows[:CERTAIN_ROWS]
            yield None
            return
        rows += [[margin, *parts] for parts in _rows(line, column)]
    if len(rows) <= MOST_ROWS:
        yield from rows
        return
    yield from rows[:CERTAIN_ROWS]
    yield [margin, ("quiet", f"▸ {len(rows) - CERTAIN_ROWS} more lines")]


def _rows(line: str, column: int) -> list[Line]:
    """Wrap a line of a paragraph, and return the parts of each row."""
    shown, runs = line.replace("\t", " "), [(len(line), "said")]
    if has_marks(line):
        from viewer.render.blocks.inline_marks import InlineText, read_inline

        inline = InlineText()
        read_inline(line, 0, len(line), None, inline)
        shown = inline.characters.replace("\t", " ")
        runs = [(end, look.value if look else "said") for end, look in inline.runs]
    rows = character_rows(shown, column) if len(shown) > column else [(0, len(shown))]
    return [_parts(shown, runs, start, end) for start, end in rows]


def _parts(shown: str, runs: list[tuple[int, str]], start: int, end: int) -> Line:
    """Return the parts of a row, each in one style."""
    parts: Line = []
    begin = 0
    for stop, look in runs:
        low, high = max(begin, start), min(stop, end)
        if low < high:
            parts.append((look, shown[low:high]))
        begin = stop
    return parts


def _size_of_terminal() -> tuple[int, int] | None:
    """Return the size of the terminal; None if the standard streams are not all this terminal, if its size is
    uncertain, or if the page does not fit it."""
    if os.environ.get("COLUMNS") or os.environ.get("LINES"):
        return None
    try:
        name = os.ttyname(0)
        if not name == os.ttyname(1) == os.ttyname(2) or None in (sys.stdin, sys.stdout, sys.stderr):
            return None
        size = os.get_terminal_size(1)
    except OSError:
        return None
    return (size.columns, size.lines) if is_sane(*size) else None


def _look() -> tuple[str, bool] | None:
    """Return the theme, and whether the terminal has 24-bit color; None if either is uncertain."""
    variables = os.environ
    terminal, colors = variables.get("TERM", ""), variables.get("COLORTERM", "")
    is_exact = colors in _TRUE_COLORS
    if terminal in _NO_TERMINALS or not (is_exact or (not colors and terminal in _TERMINALS)):
        return None
    if variables.get("NO_COLOR") or sys.stdout.encoding.lower() != "utf-8":
        return None
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        if variables.get(name) and "utf" not in variables[name].lower():
            return None
    is_light = variables.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT
    return "light" if is_light else "dark", is_exact


def _has_own_files(path: str) -> bool:
    """True if settings, themes, or a remembered position in this file may change the page."""
    if sys.platform != "linux":
        return True
    home = os.environ.get("HOME", "")
    config = os.environ.get("XDG_CONFIG_HOME", "").strip() or f"{home}/.config"
    state = os.environ.get("XDG_STATE_HOME", "").strip() or f"{home}/.local/state"
    if not (config.startswith("/") and state.startswith("/")):
        return True
    if any(os.path.lexists(f"{config}/ocmlview/{name}") for name in ("config.yaml", "themes")):
        return True
    from viewer.remembered import may_remember

    return may_remember(f"{state}/ocmlview/state.json", path)


def _head(path: str) -> tuple[bytes, bool] | None:
    """Read the beginning of a file in one step. Return it, and whether it is the whole file; None if the file cannot be
    read, or changes while it is being read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        before = os.fstat(descriptor)
        if before.st_mode & 0o170000 != 0o100000:  # not a regular file
            return None
        data = os.pread(descriptor, SIZE + 1, 0)
        after = os.fstat(descriptor)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    if (before.st_size, before.st_mtime_ns, before.st_ctime_ns) != (
        after.st_size,
        after.st_mtime_ns,
        after.st_ctime_ns,
    ):
        return None
    return data[:SIZE], len(data) <= SIZE
