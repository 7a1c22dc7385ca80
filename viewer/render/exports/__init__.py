"""`EXPORTERS`, the table of all forms that a transcript can be exported in; each takes nothing but a projection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import PurePath

from viewer.document.projection import Projection
from viewer.model.visibility import Audience
from viewer.render.exports.view_words import badge
from viewer.render.sanitize import sanitize_line
from viewer.values import frozen


@frozen
class Exporter:
    """One row of the table."""

    name: str
    """As in `--to`."""
    ending: str
    """Of the names of its files."""
    says: str
    """What it is good for, in a few words."""
    pieces: Callable[[Projection, str], Iterator[str]]
    """The text of the file, piece by piece, from a projection and a title."""


def _made_by(name: str) -> Callable[[Projection, str], Iterator[str]]:
    """The function of the module of the same name, which is loaded when something is exported."""

    def pieces(projection: Projection, title: str) -> Iterator[str]:
        made: Iterator[str] = getattr(import_module(f"viewer.render.exports.{name}"), name)(projection, title)
        return made

    return pieces


EXPORTERS: dict[str, Exporter] = {
    exporter.name: exporter
    for exporter in (
        Exporter("html", ".html", "one page for a browser, offline, light and dark", _made_by("html_page")),
        Exporter("md", ".md", "Markdown, every body in a fence", _made_by("markdown_page")),
        Exporter("text", ".txt", "what `show` prints", _made_by("plain_text")),
        Exporter("jsonl", ".jsonl", "one JSON object a line", _made_by("json_lines")),
        Exporter("svg", ".svg", "one picture", _made_by("svg_picture")),
    )
}
FIRST = EXPORTERS["html"]
"""What is written where nobody says what."""
_ENDINGS = {exporter.ending: exporter for exporter in EXPORTERS.values()} | {
    ".htm": EXPORTERS["html"],
    ".markdown": EXPORTERS["md"],
    ".text": EXPORTERS["text"],
}
_KNOWN = (".gz", ".xz", ".zst")


def exporter_of(path: str) -> Exporter | None:
    """The exporter that writes files with this ending."""
    return _ENDINGS.get(PurePath(path).suffix.lower())


def default_name(document: str, audience: Audience, exporter: Exporter) -> str:
    """`tour.safe.html`, or `tour.DEBUG.html`: the name says which view it is."""
    name = PurePath(document).name
    for ending in _KNOWN:
        name = name.removesuffix(ending)
    stem = PurePath(name).stem.strip(".- ") or "transcript"
    view = "safe" if audience.is_safe else badge(audience)
    return f"{sanitize_line(stem, 100)}.{view}{exporter.ending}"
