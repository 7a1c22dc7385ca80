"""First page of the safe view, printed on the terminal before the app is loaded.

It enters the alternate screen, and the app takes it over in place. Until then any end of the program restores the
terminal: an exception, Ctrl-C, a fatal signal.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from viewer.cli.first_colors import FirstColors, colors_of
from viewer.cli.terminal import has_many_colors
from viewer.document.document import Document
from viewer.formats.detect import HEAD
from viewer.model.visibility import Audience
from viewer.reading.format import Options
from viewer.render.style import Line, Style
from viewer.signals import handled_signals
from viewer.sources.head import head_of
from viewer.values import frozen

if TYPE_CHECKING:
    from viewer.tui.settings.settings import Settings

ENTER = "\x1b[?1049h\x1b[?25l"
LEAVE = "\x1b[0m\x1b[?1049l\x1b[?25h"
_LARGEST = 400
"""The maximum number of columns and lines."""

Taken = Callable[[], None]
"""The app calls this when it takes over the terminal."""


@frozen
class FirstPageRequest:
    """The input of the first page, and its presentation."""

    path: str
    audience: Audience
    style: Style
    dialect: str | None
    reading: Options | None
    theme: str
    settings: Settings


@contextmanager
def first_screen(wish: FirstPageRequest) -> Iterator[Taken | None]:
    """Print the first page if possible; the app loads and runs inside."""
    page = _page(wish)
    if page is None:
        yield None
        return
    taking = _Taking()
    with taking.prepared():
        try:
            _write(ENTER + page)
        except OSError:  # the terminal is gone, but its signal has not arrived yet
            raise SystemExit(128 + signal.SIGHUP) from None
        del page
        yield taking.take_over


def _page(wish: FirstPageRequest) -> str | None:
    """The text to write; None if the app should start without a first page."""
    from viewer.tui.transcript.first_page import first_page

    size = _size()
    if size is None or not wish.audience.is_safe:
        return None
    colors = colors_of(wish.theme, wish.settings.theme_folders, exact=has_many_colors())
    head = head_of(wish.path, HEAD) if colors else None
    if colors is None or head is None:
        return None
    document = Document(head, wish.dialect, wish.reading)
    if head.is_whole:
        document.load()
    else:
        document.read_some(HEAD)
    style = Style(color=True, ascii=wish.style.ascii, wrapped=True)
    lines = first_page(document.project(wish.audience), head.name, size, style, wish.settings, head.is_whole)
    document.load()  # clears caches at the end of the input
    head.drop()
    return _painted(lines, size, colors, style.ascii)


def _painted(lines: list[Line], size: tuple[int, int], colors: FirstColors, ascii_only: bool) -> str:
    """Every line in its position, with the whole screen in the colors of the page."""
    rows = [f"\x1b[0;{colors.page}m\x1b[2J"]
    for number in range(size[1]):
        base = colors.page if number else colors.title
        blank = f"\x1b[{number + 1};1H\x1b[0;{base}m{' ' * size[0]}\x1b[{number + 1};1H"
        line = lines[number] if number < len(lines) else ()
        rows.append(blank + colors.paint(line, base, ascii_only=ascii_only))
    return "\x1b[?7l" + "".join(rows) + "\x1b[0m\x1b[?7h"


def _size() -> tuple[int, int] | None:
    """Columns and lines of a terminal that is used exclusively."""
    from viewer.tui.transcript.first_page import LOWEST, NARROWEST

    if not all(map(os.isatty, (0, 1, 2))) or sys.__stderr__ is None or os.ttyname(1) != os.ttyname(2):
        return None
    size = shutil.get_terminal_size()  # as the app does
    sane = NARROWEST <= size.columns <= _LARGEST and LOWEST <= size.lines <= _LARGEST
    return (size.columns, size.lines) if sane else None


def _write(text: str) -> None:
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(2, data) :]


class _Taking:
    """The terminal between shell and app."""

    def __init__(self) -> None:
        self._is_ours = False
        self._attributes = termios.tcgetattr(0)

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Keep typed keys for the app without echo, including Ctrl-Z; signals end the program in order."""
        before = {each: signal.signal(each, self._end) for each in handled_signals()}
        before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, signal.SIG_IGN)
        self._is_ours = True
        try:
            quiet = termios.tcgetattr(0)
            quiet[3] &= ~termios.ECHO
            quiet[6][termios.VSUSP] = b"\0"
            termios.tcsetattr(0, termios.TCSADRAIN, quiet)
            yield
        finally:
            self._give_back()
            for number, handler in before.items():
                signal.signal(number, handler)

    def take_over(self) -> None:
        """Hand the terminal to the app, in the state that the shell left."""
        self._is_ours = False
        with suppress(termios.error):
            termios.tcsetattr(0, termios.TCSADRAIN, self._attributes)

    def _give_back(self) -> None:
        if self._is_ours:
            with suppress(OSError):  # there may be no terminal anymore
                _write(LEAVE)
            self.take_over()

    def _end(self, number: int, frame: FrameType | None) -> None:
        """End at once: an exception cannot pass everywhere, for example through an import. Always restore the
        attributes: a guard that the app entered later knows only the quiet ones."""
        self._give_back()
        self.take_over()
        os._exit(128 + number)
