"""A site in one file: the index, and the body of each page, with unique IDs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.model.visibility import Audience
from viewer.render.exports.html_text import NOTHING, Html, closing, joined, opening
from viewer.render.exports.site.data import encoded, row_values
from viewer.render.exports.site.index_page import Frame, row_html, totals_of
from viewer.render.exports.site.rows import SiteRow

_TAG = lazy_regex(r"<[^>]*>")
"""An HTML tag. Text and attribute values never contain unescaped angle brackets."""
_NAMED = lazy_regex(r' (id="|href="#)')
TOP = "#top"


def anchor_of(number: int) -> str:
    """Return the ID of a page in the file."""
    return f"r{number}"


def single_page(
    rows: Sequence[SiteRow], pages: Iterator[str], data: dict[str, object], audience: Audience
) -> Iterator[str]:
    """Return the file in pieces. `pages` are the exported pages of the rows, in order."""
    listed = [replace(row, page=f"#{anchor_of(number)}") for number, row in enumerate(rows)]
    held = encoded({"rows": [row_values(row) for row in listed], **data})
    bodies = (_page(anchor_of(number), page) for number, page in enumerate(pages))
    frame = Frame(audience, totals_of(rows))
    return frame.page([row_html(row) for row in listed], NOTHING, bodies, held)


def _page(anchor: str, page: str) -> Html:
    """Return the body of a page with unique IDs. Only the program's tags change, never text."""
    start, end = page.index("<body>") + len("<body>"), page.rindex("</body>")
    body = _TAG.sub(lambda tag: _NAMED.sub(lambda name: f" {name[1]}{anchor}-", tag[0]), page[start:end])
    body = body.replace(f'href="#{anchor}-{TOP[1:]}"', f'href="{TOP}"', 1)
    return joined([opening("div", class_="page", id=anchor), Html(body), closing("div"), Html("\n")])
