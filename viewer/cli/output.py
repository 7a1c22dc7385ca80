"""Standard output and the terminal: detect capabilities, take the keyboard, and write lines and tables."""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from viewer.errors import ViewerError
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Line, Part, Printable, Style, StyleRole, trusted
from viewer.render.width import cells, wrap

_BLOCK = 64 * 1024
_PIPE_WIDTH = 80
_NARROWEST = 20
_INSTEAD_OF_C = ("C.UTF-8", "C.utf8", "UTF-8")


class Output:
    """The destination of data. Everything else goes to standard error."""

    def __init__(self, style: Style, width: int) -> None:
        self.style = style
        self.width = width
        self.written = 0
        """The number of characters written."""

    def write(self, lines: Iterable[Printable]) -> None:
        """Write lines and their line endings, in blocks of about 64 KiB or, on a terminal, of at most 100 lines."""
        waiting: list[str] = []
        size, most = 0, 100 if self.style.wrapped else _BLOCK
        for line in lines:
            waiting.append(line)
            size += len(line)
            if size >= _BLOCK or len(waiting) >= most:
                self.written += size
                _write(waiting)
                waiting.clear()
                size = 0
        self.written += size
        _write(waiting)

    def write_styled(self, lines: Iterable[Line]) -> None:
        """Write lines of styled parts, with colors if they are enabled."""
        self.write(map(self.style.paint, lines))

    def write_parts(self, parts: Iterable[str]) -> None:
        """Write printable text immediately. The text includes its line endings and may end in the middle of a line."""
        text = "".join(parts)
        self.written += len(text)
        _write_text(text)


def standard_output(color: str = "auto", ascii_only: bool = False) -> Output:
    """Return standard output, with the colors, characters, and width that it supports."""
    terminal = _is_terminal()
    colored = color == "always" or (color == "auto" and terminal and _wants_color())
    style = Style(color=colored, ascii=ascii_only or _lacks_unicode(terminal), wrapped=terminal)
    return Output(style, _width() if terminal else _PIPE_WIDTH)


def _write(lines: list[str]) -> None:
    """Write lines as UTF-8 in any locale. If the locale is not UTF-8, the style has already converted them to ASCII."""
    if lines:
        _write_text("\n".join(lines) + "\n")


def _write_text(text: str) -> None:
    if text and sys.stdout is None:
        raise ViewerError("standard output is closed")
    if text:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()


def has_reader() -> bool:
    """True if the output still has a reader. Without this check, a waiting program would never notice a closed pipe."""
    if sys.stdout is None:
        return True
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # not backed by a file descriptor
        return True
    if not stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        return True
    ready = select.poll()
    ready.register(descriptor, 0)
    return not any(event & select.POLLERR for _, event in ready.poll(0))


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _wants_color() -> bool:
    return not os.environ.get("NO_COLOR") and color_count() > 0


def _lacks_unicode(terminal: bool) -> bool:
    """True if the encoding of the stream or, on a terminal, of the configured locale is not UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding.lower().replace("-", "") != "utf8":
        return True
    locale = _locale()
    return terminal and bool(locale) and "utf" not in locale.lower()


def _locale() -> str:
    """Return the configured locale, as it was before Python replaced C with UTF-8; empty if none is set."""
    said, language = os.environ.get("LC_CTYPE", ""), os.environ.get("LANG", "")
    if said in _INSTEAD_OF_C and language in ("C", "POSIX"):
        said = language
    return os.environ.get("LC_ALL") or said or language


def _width() -> int:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return max(int(columns), _NARROWEST)
    try:
        return max(os.get_terminal_size(1).columns, _NARROWEST)
    except OSError:
        return _PIPE_WIDTH


def write_text(text: str) -> None:
    """Write text. If the output is a terminal, sanitize the text first."""
    if _is_terminal():
        text = sanitize(normalize_newlines(text))
    _write_text(text)


Cell = SafeText | int | None
_GAP = 2


def table_lines(heads: Sequence[str], rows: Sequence[Sequence[Cell]], width: int, style: Style) -> Iterator[Line]:
    """Lay out a table: the column heads in bold, then the rows."""
    texts = [[_text(cell) for cell in row] for row in rows]
    widths = [max([len(head), *(cells(row[column]) for row in texts)]) for column, head in enumerate(heads)]
    numeric = [any(isinstance(row[column], int) for row in rows) for column in range(len(heads))]
    yield from _laid_out(heads, texts, widths, numeric, width, style)


def _laid_out(
    heads: Sequence[str],
    texts: Iterable[Sequence[SafeText]],
    widths: Sequence[int],
    numeric: Sequence[bool],
    width: int,
    style: Style,
) -> Iterator[Line]:
    yield (Part(_aligned([trusted(head) for head in heads], widths, numeric), StyleRole.STRONG),)
    indent = sum(widths[:-1]) + _GAP * (len(heads) - 1)
    for row in texts:
        first, *rest = _last_column(row[-1], width - indent, style) if not numeric[-1] else [row[-1]]
        yield (Part(_aligned([*row[:-1], first], widths, numeric)),)
        for more in rest:
            yield (Part(SafeText(" " * indent + more)),)


def _last_column(text: SafeText, width: int, style: Style) -> list[SafeText]:
    return list(wrap(text, max(width, 20))) if style.wrapped else [text]


def _aligned(row: Sequence[SafeText], widths: Sequence[int], numeric: Sequence[bool]) -> SafeText:
    padded = [
        " " * (width - cells(text)) + text if right else text + " " * (width - cells(text))
        for text, width, right in zip(row, widths, numeric, strict=True)
    ]
    return SafeText((" " * _GAP).join(padded).rstrip(" "))


def _text(cell: Cell) -> SafeText:
    if cell is None:
        return trusted("")
    return trusted(f"{cell:,}") if isinstance(cell, int) else cell


TERMINAL = "/dev/tty"
NO_SCREEN = ("dumb", "unknown")
"""Values of TERM for terminals that can only print."""
_MANY = ("256color", "kitty", "direct")
"""Endings of terminal names that indicate more than sixteen colors."""
_LIGHT = ("7", "9", "10", "11", "12", "13", "14", "15")
"""The background values of COLORFGBG that editors treat as light."""


def take_keyboard() -> bool:
    """Make standard input the keyboard: if the data comes from a pipe, use the controlling terminal instead. Return
    True if the app can run."""
    if os.environ.get("TERM", "dumb") in NO_SCREEN or not all(map(_is_terminal_stream, (sys.stdout, sys.__stderr__))):
        return False
    if sys.stdin is not None and sys.stdin.isatty():
        return True
    try:
        keyboard = os.open(TERMINAL, os.O_RDWR)
    except OSError:
        return False
    if sys.stdin is not None:
        data = os.dup(0)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(data)), encoding="utf-8")
    os.dup2(keyboard, 0)
    os.close(keyboard)
    if sys.__stdin__ is None:  # standard input was closed; Textual needs its descriptor
        sys.__stdin__ = open(0, closefd=False)  # type: ignore[misc]  # noqa: SIM115
    return True


def _is_terminal_stream(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def color_count() -> int:
    """Return the number of colors of the terminal, from its name and the terminal database: 0, 16, or 256."""
    if os.environ.get("COLORTERM") in ("truecolor", "24bit"):
        return 256
    name = os.environ.get("TERM", "dumb")
    if name in NO_SCREEN or _is_colorless(name):
        return 0
    return 256 if name.endswith(_MANY) else 16


def has_many_colors() -> bool:
    """True if the terminal declares 24-bit color; otherwise at most 256 colors are used."""
    return os.environ.get("COLORTERM", "").strip().lower() in ("truecolor", "24bit")


def _is_colorless(name: str) -> bool:
    """True if the terminal database lists no colors; unknown terminals are assumed to have colors."""
    import curses

    try:
        curses.setupterm(name, 1)
    except (curses.error, OSError, ValueError, io.UnsupportedOperation):
        return False
    return curses.tigetnum("colors") <= 0


def theme_of_terminal() -> str:
    """Return the theme to use if the user chose none; empty if the terminal can show any theme."""
    count = color_count()
    if count < 256:
        return "ansi" if count else "plain"
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return "light" if background in _LIGHT else ""
