"""Standard output: its capabilities, and writing lines to it."""

from __future__ import annotations

import os
import select
import stat
import sys
from collections.abc import Iterable

from viewer.cli.terminal import color_count
from viewer.errors import ViewerError
from viewer.render.sanitize import normalize_newlines, sanitize
from viewer.render.style import Line, Printable, Style
from viewer.values import mutable

_BLOCK = 64 * 1024
_PIPE_WIDTH = 80
_NARROWEST = 20
_INSTEAD_OF_C = ("C.UTF-8", "C.utf8", "UTF-8")


@mutable
class Output:
    """The destination of data; everything else goes to standard error."""

    style: Style
    width: int
    written: int = 0
    """The number of characters written."""

    def write(self, lines: Iterable[Printable]) -> None:
        """Write lines without their ends; a terminal shows each at once."""
        waiting: list[str] = []
        size = 0
        for line in lines:
            waiting.append(line)
            size += len(line)
            if size >= _BLOCK or (self.style.wrapped and len(waiting) >= 100):
                self.written += size
                _write(waiting)
                waiting.clear()
                size = 0
        self.written += size
        _write(waiting)

    def write_styled(self, lines: Iterable[Line]) -> None:
        """Write lines made of parts, in the available colors."""
        self.write(map(self.style.paint, lines))

    def write_parts(self, parts: Iterable[str]) -> None:
        """Write printable text with its own line ends, possibly inside a line, at once."""
        text = "".join(parts)
        self.written += len(text)
        _write_text(text)


def standard_output(color: str = "auto", ascii_only: bool = False) -> Output:
    """Detect standard output: a terminal or not, with which colors, characters and width."""
    terminal = _is_terminal()
    colored = color == "always" or (color == "auto" and terminal and _wants_color())
    style = Style(color=colored, ascii=ascii_only or _lacks_unicode(terminal), wrapped=terminal)
    return Output(style, _width() if terminal else _PIPE_WIDTH)


def _write(lines: list[str]) -> None:
    """Write UTF-8 for any locale: if the locale cannot show it, the style has converted it to ASCII."""
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
    """True if the output still has a reader; waiting would never detect that."""
    if sys.stdout is None:
        return True
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # not a file at all
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
    """True if the encoding of the stream, or on a terminal a configured locale, is not UTF-8."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding.lower().replace("-", "") != "utf8":
        return True
    locale = _locale()
    return terminal and bool(locale) and "utf" not in locale.lower()


def _locale() -> str:
    """The locale from before Python replaced C with UTF-8; empty if none is set."""
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
    """Write a whole text unchanged to a file or a program; sanitize it for a terminal."""
    if _is_terminal():
        text = sanitize(normalize_newlines(text))
    _write_text(text)
