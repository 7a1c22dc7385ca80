"""SVG pictures of styled lines: one cell grid, without external fonts or scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style

from viewer.render.sanitize import SafeText
from viewer.render.width import cells, cluster_cells, clusters_at

Cells = Iterable[Segment]
"""The segments of one line."""
CELL_WIDTH, CELL_HEIGHT = 8.4, 19
_MARGIN = 12
_FONTS = "'DejaVu Sans Mono', ui-monospace, Menlo, Consolas, 'Noto Sans Mono CJK JP', monospace"
_DEFAULT = ColorTriplet(224, 228, 236)
_BACKGROUND = ColorTriplet(16, 20, 26)


def svg_of(lines: Sequence[Cells], width: int) -> str:
    """Draw lines as a picture. The input is safe text, escaped here for SVG."""
    return "".join(svg_pieces(lines, width))


def svg_pieces(lines: Sequence[Cells], width: int, title: SafeText | None = None) -> Iterator[str]:
    """Yield the picture in pieces, with the title if there is one."""
    full_width = width * CELL_WIDTH + 2 * _MARGIN
    full_height = len(lines) * CELL_HEIGHT + 2 * _MARGIN
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full_width:.0f} {full_height:.0f}">\n'
    if title:
        yield f"<title>{escape(title)}</title>\n"
    yield f'<rect width="100%" height="100%" rx="8" fill="{_page(lines).hex}"/>\n'
    yield f'<g font-family="{_FONTS}" font-size="14" xml:space="preserve">\n'
    for draw in (_backdrop, _text):
        for number, line in enumerate(lines):
            yield _line(line, number, draw)
    yield "</g>\n</svg>\n"


def _page(lines: Sequence[Cells]) -> ColorTriplet:
    """Return the background color of the picture: the most common background of the text."""
    areas: Counter[ColorTriplet] = Counter()
    for line in lines:
        for segment in line:
            areas[_colors(segment.style)[1] or _BACKGROUND] += cells(segment.text)
    return max(areas, key=areas.__getitem__, default=_BACKGROUND)


def _line(line: Cells, number: int, draw: Callable[[int, int, Segment], str]) -> str:
    top = _MARGIN + number * CELL_HEIGHT
    column = 0
    parts = []
    for segment in line:
        if not segment.control:
            parts.append(draw(column, top, segment))
            column += cells(segment.text)
    return "".join(parts)


def _backdrop(column: int, top: int, segment: Segment) -> str:
    _, background = _colors(segment.style)
    if background is None:
        return ""
    left, width = _MARGIN + column * CELL_WIDTH, cells(segment.text) * CELL_WIDTH
    return f'<rect x="{left:.1f}" y="{top}" width="{width:.1f}" height="{CELL_HEIGHT}" fill="{background.hex}"/>\n'


def _text(column: int, top: int, segment: Segment) -> str:
    """Return the words of a segment, each at the position of its cell so that no font can shift them."""
    foreground, _ = _colors(segment.style)
    style = segment.style or Style()
    marks = ' font-weight="bold"' if style.bold else ""
    marks += ' font-style="italic"' if style.italic else ""
    marks += ' text-decoration="underline"' if style.underline else ""
    marks += ' opacity="0.6"' if style.dim else ""
    out = []
    for at, word in _words(segment.text):
        left = _MARGIN + (column + at) * CELL_WIDTH
        out.append(
            f'<text x="{left:.1f}" y="{top + 14}" fill="{foreground.hex}"{marks} '
            f'textLength="{cells(word) * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs">{escape(word)}</text>\n'
        )
    return "".join(out)


def _words(text: str) -> list[tuple[int, str]]:
    """Split text at two or more spaces and around wide characters; return each run with its start cell."""
    words: list[tuple[int, str]] = []
    cell = 0
    gap = 2
    for _, cluster in clusters_at(text):
        size = cluster_cells(cluster)
        if cluster == " ":
            gap += 1
        elif gap > 1 or size > 1 or not words or cells(words[-1][1][-1]) > 1:
            words.append((cell, cluster))
            gap = 0
        else:
            words[-1] = words[-1][0], words[-1][1] + " " * gap + cluster
            gap = 0
        cell += size
    return words


def _colors(style: Style | None) -> tuple[ColorTriplet, ColorTriplet | None]:
    if style is None:
        return _DEFAULT, None
    foreground = style.color.get_truecolor() if style.color and not style.color.is_default else _DEFAULT
    backdrop = style.bgcolor
    background = backdrop.get_truecolor(foreground=False) if backdrop and not backdrop.is_default else None
    return (background or _BACKGROUND, foreground) if style.reverse else (foreground, background)
