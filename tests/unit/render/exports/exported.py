"""Exports of samples and of other text for the tests, and the parts that an HTML page may have."""

from __future__ import annotations

import json
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from tempfile import NamedTemporaryFile

from tests.support.samples import Sample, samples
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.reading.format import ReadOptions
from viewer.render.exports import EXPORTERS
from viewer.sources.files import open_source

STRICT = Audience(strict=True)
AUDIENCES = {"safe": END_USER, "strict": STRICT, "debug": EVERYTHING}

TAGS = {
    "a", "article", "b", "bdi", "blockquote", "body", "code", "details", "div", "em", "footer", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "header", "hr", "html", "li", "main", "mark", "meta", "nav", "ol", "p", "pre", "s", "section",
    "span", "strong", "style", "summary", "table", "tbody", "td", "th", "thead", "time", "title", "tr", "ul",
}  # fmt: skip
ATTRIBUTES = {
    "aria-hidden", "aria-label", "charset", "class", "content", "dir", "http-equiv", "href", "id", "lang", "name",
    "open", "scope",
}  # fmt: skip
VOID = {"hr", "meta"}


def projected(sample: Sample, audience: Audience) -> Projection:
    document = Document(open_source(str(sample.path)), sample.asked, ReadOptions()).load()
    return document.project(audience)


def export(projection: Projection, form: str, title: str = "chat.ocml") -> str:
    return "".join(EXPORTERS[form].pieces(projection, title))


def project_text(path: Path, text: str, audience: Audience, format: str = "openchatml-2.2") -> Projection:
    """Write text to this file and return its projection."""
    path.write_text(text, "utf-8", "surrogatepass")
    return open_document(str(path), format=format, options=ReadOptions()).project(audience)


@cache
def own_words(form: str) -> str:
    """Return the text in every export of a format, and the keys of its lines: words and marks of the program itself."""
    with NamedTemporaryFile(suffix=".ocml") as file:
        empty = "".join(export(project_text(Path(file.name), "", each), form, "") for each in AUDIENCES.values())
    return "\n".join([empty, *(line_keys() if form == "jsonl" else ())])


def line_keys() -> list[str]:
    """Return the keys in the lines of a JSON Lines export, exactly as written."""
    tour = next(sample for sample in samples() if sample.name == "tour.ocml")
    exports = [export(projected(tour, audience), "jsonl") for audience in AUDIENCES.values()]
    keys = {key: None for made in exports for line in made.splitlines() for key in json.loads(line)}
    return [f'"{key}":' for key in keys]


class Page(HTMLParser):
    """A strict parser of a page: every tag and attribute must be allowed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.open: list[str] = []
        self.open_ids: list[str] = []
        self.texts_of: dict[str, list[str]] = {}
        self.style = ""
        self.meta: dict[str, str] = {}
        self.wrong: list[str] = []
        self.title = ""
        self.feed(text)
        self.close()
        if self.open:
            self.wrong.append(f"not closed: {self.open}")

    @property
    def text(self) -> str:
        """All readable text."""
        return "".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS:
            self.wrong.append(f"<{tag}>")
        for name, value in attrs:
            self._attribute(name, value or "")
        if tag == "meta":
            said = dict(attrs)
            self.meta[said.get("name") or said.get("http-equiv") or "charset"] = said.get("content") or ""
        if tag not in VOID:
            self.open.append(tag)
            self.open_ids.append(dict(attrs).get("id") or "")

    def _attribute(self, name: str, value: str) -> None:
        if name not in ATTRIBUTES:
            self.wrong.append(f"{name}={value}")
        if name == "id":
            self.ids.append(value)
        if name == "href":
            self.targets.append(value.removeprefix("#"))
            if not value.startswith("#") or not value[1:].replace("-", "").isalnum():
                self.wrong.append(f"href={value}")

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")
        if self.open_ids:
            self.open_ids.pop()

    def handle_data(self, data: str) -> None:
        if "title" in self.open:
            self.title += data
        elif "style" in self.open:
            self.style += data
        else:
            self.texts.append(data)
            for each in filter(None, self.open_ids):
                self.texts_of.setdefault(each, []).append(data)

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(f"declaration {data}")
