"""An animated SVG of several frames: CSS keyframes, no script, each distinct row drawn once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from viewer.render.exports.svg import CELL_HEIGHT, CELL_WIDTH

_HEAD = re.compile(r'<svg[^>]*viewBox="([^"]*)">\s*<rect [^>]*fill="([^"]*)"/>\s*<g ([^>]*)>\n(.*)</g>', re.DOTALL)
_RECT = re.compile(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)" height="\d+" fill="([^"]*)"/>')
_TEXT = re.compile(r'<text x="([\d.]+)" y="(\d+)" ([^>]*?) textLength="([\d.]+)" lengthAdjust="[^"]*">([^<]*)</text>')
_MARGIN, _BASELINE = 12, 14
_USE = re.compile(r'<use href="#(r\d+)" y="(\d+)"/>')


@dataclass(frozen=True)
class Shot:
    """A still picture, and how long it is shown."""

    svg: str
    seconds: float


def moving_picture(shots: Sequence[Shot]) -> str:
    """Return the shots in an endless loop. With reduced motion, only the first one is shown."""
    box, page, fonts, _ = _parts(shots[0].svg)
    total = sum(shot.seconds for shot in shots)
    rows: dict[str, str] = {}
    frames, rules, begun = [], [], 0.0
    for number, shot in enumerate(shots):
        uses = []
        for place, row in _rows(shot.svg, page):
            name = rows.setdefault(row, f"r{len(rows)}")
            uses.append(f'<use href="#{name}" y="{_MARGIN + place * CELL_HEIGHT}"/>')
        frames.append(f'<g class="f" id="f{number}">{"".join(uses)}</g>')
        ended = begun + shot.seconds
        start, end = (f"{100 * each / total:.2f}%" for each in (begun, ended))
        before = "" if not number else "0%{visibility:hidden}"
        after = "" if number == len(shots) - 1 else f"{end}{{visibility:hidden}}"
        rules.append(f"@keyframes k{number}{{{before}{start}{{visibility:visible}}{after}}}")
        rules.append(f"#f{number}{{animation-name:k{number}}}")
        begun = ended
    style = (
        f".f{{visibility:hidden;animation:{total:g}s step-end infinite}}#f0{{visibility:visible}}"
        + "".join(rules)
        + "@media (prefers-reduced-motion:reduce){.f{animation:none !important}}"
    )
    drawn = "\n".join(f'<g id="{name}">{row}</g>' for row, name in rows.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">\n<style>{style}</style>\n'
        f'<rect width="100%" height="100%" rx="8" fill="{page}"/>\n<g {fonts}>\n<defs>\n{drawn}\n</defs>\n'
        + "\n".join(frames)
        + "\n</g>\n</svg>\n"
    )


def texts_of(picture: str, height: int) -> list[str]:
    """Return the screens of the frames as text, without trailing spaces."""
    rows = dict(re.findall(r'<g id="(r\d+)">(.*?)</g>', picture, re.DOTALL))
    screens = []
    for frame in re.findall(r'<g class="f" id="f\d+">(.*?)</g>', picture):
        lines = [""] * height
        for name, top in _USE.findall(frame):
            lines[(int(top) - _MARGIN) // CELL_HEIGHT] = _line(rows[name])
        screens.append("\n".join(lines) + "\n")
    return screens


def _line(row: str) -> str:
    """Return the text of a row, with each word in its cell."""
    line = ""
    for left, _, _, _, word in _TEXT.findall(row):
        cell = round((float(left) - _MARGIN) / CELL_WIDTH)
        line += " " * (cell - _cells(line)) + unescape(word)
    return line


def _cells(text: str) -> int:
    from viewer.render.sanitize import SafeText
    from viewer.render.width import cells

    return cells(SafeText(text))


def _parts(svg: str) -> tuple[str, str, str, str]:
    found = _HEAD.match(svg)
    assert found, "not one of our pictures"
    return found[1], found[2], found[3], found[4]


def _rows(svg: str, page: str) -> list[tuple[int, str]]:
    """Return the nonempty rows, each drawn at the top. Areas in the color of the page are left out."""
    content = _parts(svg)[3]
    areas: dict[int, list[tuple[float, float, str]]] = {}
    texts: dict[int, list[str]] = {}
    for left, top, width, color in _RECT.findall(content):
        row = areas.setdefault((int(top) - _MARGIN) // CELL_HEIGHT, [])
        x, size = float(left), float(width)
        if row and row[-1][2] == color and abs(row[-1][0] + row[-1][1] - x) < 0.2:
            row[-1] = row[-1][0], row[-1][1] + size, color
        else:
            row.append((x, size, color))
    for left, top, looks, length, word in _TEXT.findall(content):
        place = (int(top) - _MARGIN - _BASELINE) // CELL_HEIGHT
        texts.setdefault(place, []).append(
            f'<text x="{left}" y="{_BASELINE}" {looks} textLength="{length}" '
            f'lengthAdjust="spacingAndGlyphs">{word}</text>'
        )
    rows = []
    for place in sorted({*areas, *texts}):
        drawn = [
            f'<rect x="{x:.1f}" width="{size:.1f}" height="{CELL_HEIGHT}" fill="{color}"/>'
            for x, size, color in areas.get(place, [])
            if color != page
        ]
        drawn += texts.get(place, [])
        if drawn:
            rows.append((place, "".join(drawn)))
    return rows
