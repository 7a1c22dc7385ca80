"""`EXPORTERS`, the table of all export formats. An exporter gets only a projection and a title."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import PurePath

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.model.visibility import Audience, Level
from viewer.render.exports.view_words import badge
from viewer.render.sanitize import sanitize_line


class Exporter(Struct, frozen=True):
    """One export format: a row of the table."""

    name: str
    """The name in `--to`."""
    ending: str
    """The suffix of exported files."""
    says: str
    """A short description."""
    pieces: Callable[[Projection, str], Iterator[str]]
    """Yields the text of the file in pieces, given a projection and a title."""


def _made_by(name: str) -> Callable[[Projection, str], Iterator[str]]:
    """Return a function that calls the export function with this name. Its module, which has the same name, is loaded
    on first use."""

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
        Exporter("jsonl", ".jsonl", "one JSON object per line", _made_by("json_lines")),
        Exporter("svg", ".svg", "one picture", _made_by("svg_picture")),
    )
}
FIRST = EXPORTERS["html"]
"""The default export format."""
_ENDINGS = {exporter.ending: exporter for exporter in EXPORTERS.values()} | {
    ".htm": EXPORTERS["html"],
    ".markdown": EXPORTERS["md"],
    ".text": EXPORTERS["text"],
}
_LEVELS = (Level.SAFE, Level.BRIEF, Level.DEBUG)
"""The levels, starting with the one that shows least."""
_KNOWN = (".gz", ".xz", ".zst")


def exporter_of(path: str) -> Exporter | None:
    """Return the exporter for the suffix of this path, or None if there is none."""
    return _ENDINGS.get(PurePath(path).suffix.lower())


def default_name(document: str, audience: Audience, exporter: Exporter) -> str:
    """Return the default file name, which includes the view, such as `tour.safe.html` or `tour.brief.html`."""
    return f"{stem_of(document)}.{view_name(audience)}{exporter.ending}"


def stem_of(document: str) -> str:
    """Return the file name of a document without its suffixes, as the base for names of exported files."""
    name = PurePath(document).name
    for ending in _KNOWN:
        name = name.removesuffix(ending)
    return sanitize_line(PurePath(name).stem.strip(".- ") or "transcript", 100)


def misnamed(path: str, audience: Audience) -> str:
    """Return why a file may not have this name; empty if it may. The last level in a name must not be lower than the
    level of the view."""
    name = PurePath(path)
    named = [each for suffix in name.suffixes for each in Level if suffix.lower() == f".{each.value}"]
    if not named or _LEVELS.index(named[-1]) >= _LEVELS.index(audience.level):
        return ""
    return f"the name says {named[-1].value}, but this is the {badge(audience)} view"


def view_name(audience: Audience) -> str:
    """Return the name of the view in file names and notices."""
    return badge(audience) if audience.level is Level.DEBUG else audience.level.value
