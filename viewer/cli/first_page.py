"""First page of the safe view, printed before the app is loaded.

Printing it enters the alternate screen, which the app takes over in place. Until then, every exit restores the
terminal: an exception, Ctrl-C, or a fatal signal."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from colorsys import rgb_to_hls
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.cli.output import has_many_colors
from viewer.document.document import Document
from viewer.document.projection import Projection
from viewer.document.rows import Folding, RowKind
from viewer.first_paint import is_sane, painted
from viewer.formats.detect import HEAD
from viewer.held_screen import SCREEN
from viewer.model.visibility import Audience, Level
from viewer.reading.format import ReadOptions
from viewer.render.blocks.block import BlockFacts, RowProblems
from viewer.render.blocks.empty import empty_facts, empty_sentences
from viewer.render.page import BlockMaker, centered_notes
from viewer.render.sanitize import SafeText
from viewer.render.strip_controls import strip_controls
from viewer.render.style import Glyphs, Line, Part, Style, StyleRole, trusted
from viewer.render.theme import Look, Theme, load_theme
from viewer.render.title import TitleFacts, title_parts
from viewer.render.width import cells, cut
from viewer.sources.head import head_of

if TYPE_CHECKING:
    from viewer.tui.settings.settings import Settings

_RGB = re.compile(r"#[0-9a-fA-F]{6}")
_FLAGS = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7", "strike": "9"}

Taken = Callable[[], None]
"""The function that the app calls when it takes over the terminal."""


class FirstPageRequest(Struct, frozen=True):
    """A request for the first page: the file, and the options that affect how it is read and shown."""

    path: str
    audience: Audience
    style: Style
    format: str | None
    reading: ReadOptions | None
    theme: str
    settings: Settings


@contextmanager
def first_screen(request: FirstPageRequest) -> Iterator[Taken | None]:
    """Context manager: print the first page, and yield the function with which the app takes over the terminal, or None
    if no page can be printed. The caller loads and runs the app inside the context."""
    if not SCREEN.is_complete:
        page = _page(request)
        if page is None:
            SCREEN.release()
            yield None
            return
        SCREEN.show(page, is_complete=True)
        del page
    try:
        yield SCREEN.take_over
    finally:
        SCREEN.release()


def _page(request: FirstPageRequest) -> str | None:
    """Return the terminal output that paints the page, or None if the app should start without a first page."""
    size = _size()
    if size is None or request.audience.level is not Level.SAFE:
        return None
    colors = colors_of(load_theme(request.theme, request.settings.theme_folders), exact=has_many_colors())
    lines = page_lines(request, size) if colors else None
    if colors is None or lines is None:
        return None
    parts = [colors.parts(line, request.style.ascii) for line in lines]
    return painted(parts, size, colors.page, colors.title)


def page_lines(request: FirstPageRequest, size: tuple[int, int]) -> list[Line] | None:
    """Return the lines of the page, or None if the beginning of the file cannot be read directly."""
    head = head_of(request.path, HEAD)
    if head is None:
        return None
    document = Document(head, request.format, request.reading, under=request.audience)
    if head.is_whole:
        document.load()
    else:
        document.read_some(HEAD)
    style = Style(color=True, ascii=request.style.ascii, wrapped=True)
    notes = _notes(document, request.audience, request.style.signs) if head.is_whole else []
    projection = document.project(request.audience)
    title = (
        _title(document, projection, size[1]) if head.is_whole else TitleFacts(PurePath(head.name).name or head.name)
    )
    lines = _lines(projection, title, size, style, request.settings, head.is_whole, notes)
    document.load()  # if the input was read to its end, this clears caches
    head.drop()
    return lines


def _lines(
    projection: Projection,
    title: TitleFacts,
    size: tuple[int, int],
    style: Style,
    settings: Settings,
    is_whole: bool,
    notes: Sequence[SafeText] = (),
) -> list[Line]:
    """Return the lines of the screen, with an empty status row.

    `is_whole` means that the whole input was read. `notes` appear in the middle of the empty space."""
    from viewer.tui.bars.footer_keys import FooterView, footer_spots

    width, height = size
    top = tuple(each.part for each in title_parts(title, width, style))
    footer = tuple(each.part for each in footer_spots(FooterView.SAFE, width, settings.actions))
    room = height - 3
    view = list(islice(view_lines(projection, width, style, settings, is_whole), room))
    rest = centered_notes(notes, width - 1, room - len(view)) if notes else []
    body = [_fitting(line, width, style) for line in [*view, *rest][:room]]
    return [top, *body, *[()] * (room - len(body) + 1), footer]


def _title(document: Document, projection: Projection, height: int) -> TitleFacts:
    """Return the title facts for a cursor on the first message, or on the first row if the first screen has no
    message."""
    from viewer.tui.bars.place_facts import place_facts

    rows = projection.rows(folding=Folding())
    near = range(min(len(rows), height))
    row = next((each for each in near if rows.kind(each) is RowKind.MESSAGE), 0 if near else None)
    number = rows.last_number(row) if row is not None else 0
    return place_facts(document, projection, rows, row, number)


def view_lines(projection: Projection, width: int, style: Style, settings: Settings, is_whole: bool) -> Iterator[Line]:
    """Yield the lines of the view, except for a final count of hidden messages that may still grow."""
    rows = projection.rows(folding=Folding())
    problems = RowProblems(rows, projection.problems(rows).extend(rows.settled_number))
    facts = BlockFacts(problems=problems, markdown=settings.markdown, rendered=settings.markdown)
    maker = BlockMaker(projection, rows, width, facts, style.signs, wrap=settings.wrap)
    count = len(rows)
    if count and not is_whole and rows.kind(count - 1) is RowKind.HIDDEN:
        count -= 1
    for row in range(count):
        yield from (line.parts for line in maker.make(row).lines)


def _notes(document: Document, audience: Audience, signs: Glyphs) -> list[SafeText]:
    """Return sentences that explain why the view is empty, or an empty list if it is not."""
    if document.project(audience).rows().shown_count:
        return []
    facts = empty_facts(document, strict=audience.strict, debug=False, sealed=audience.sealed)
    return empty_sentences(facts, signs)


def _fitting(line: Line, width: int, style: Style) -> Line:
    """Truncate a line to a width in cells."""
    kept = []
    for part in line:
        text = cut(part.text, width, trusted(style.signs.ellipsis))
        width -= cells(text)
        kept.append(Part(text, part.look))
    return tuple(kept)


class PageColors(Struct, frozen=True):
    """The terminal codes of a theme: for the page, its title line, and its style roles."""

    page: str
    title: str
    looks: Mapping[StyleRole, str]

    def parts(self, line: Line, ascii_only: bool) -> list[tuple[str, str]]:
        """Return the terminal codes and the text of each part of a line."""
        return [(self.looks.get(part.look, ""), strip_controls(part.text, ascii_only)) for part in line]


def colors_of(theme: Theme, *, exact: bool) -> PageColors | None:
    """Return the terminal codes of a theme, or None if it does not define the colors of the page. `exact` means that
    the terminal supports 24-bit color."""
    text, background, surface = (theme.colors[name] for name in ("text", "background", "surface"))
    page = [_code(text, 38, exact), _code(background, 48, exact)]
    title = _code(surface, 48, exact)
    if not all(page) or not title:
        return None
    return PageColors(
        ";".join(page), f"{page[0]};{title}", {role: _codes(look, exact) for role, look in theme.looks.items()}
    )


def _codes(look: Look, exact: bool) -> str:
    """Return the terminal codes to append to those of the line, each with a leading semicolon."""
    codes = [_code(look.color, 38, exact), _code(look.background, 48, exact)]
    codes += [code for name, code in _FLAGS.items() if look.flags.get(name)]
    return "".join(f";{code}" for code in codes if code)


def _code(color: str | None, layer: int, exact: bool) -> str:
    """Return the terminal code for `#rrggbb` as a text color (38) or background (48); empty for any other color
    name."""
    if color is None or not _RGB.fullmatch(color):
        return ""
    red, green, blue = bytes.fromhex(color[1:])
    return f"{layer};2;{red};{green};{blue}" if exact else f"{layer};5;{nearest_color(red, green, blue)}"


def nearest_color(red: int, green: int, blue: int) -> int:
    """Return the number of the nearest of the 256 terminal colors, computed as in the app."""
    _, lightness, saturation = rgb_to_hls(red / 255, green / 255, blue / 255)
    if saturation < 0.15:
        gray = round(lightness * 25.0)
        return 16 if gray == 0 else 231 if gray == 25 else 231 + gray
    steps = (part / 95 if part < 95 else 1 + (part - 95) / 40 for part in (red, green, blue))
    high, middle, low = map(round, steps)
    return 16 + 36 * high + 6 * middle + low


def _size() -> tuple[int, int] | None:
    """Return the size of the terminal; None if the first page does not fit it, or if the standard streams do not
    share a terminal."""
    if not all(map(os.isatty, (0, 1, 2))) or sys.__stderr__ is None or os.ttyname(1) != os.ttyname(2):
        return None
    size = shutil.get_terminal_size()  # as the app does
    return (size.columns, size.lines) if is_sane(*size) else None
