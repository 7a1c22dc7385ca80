"""HTML index of a site: a table of transcripts that works without scripts, and a search that needs one."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256

from msgspec import Struct

from viewer import __version__
from viewer.insight.words import UNSPACED
from viewer.model.visibility import Audience
from viewer.render.exports.html_page import style_sheet
from viewer.render.exports.html_text import NOTHING, Html, element, joined, opening, text, words
from viewer.render.exports.site.data import encoded
from viewer.render.exports.site.rows import SiteRow
from viewer.render.exports.site.terms import LONGEST_TERM
from viewer.render.exports.view_words import badge, revealed_names, view_sentence
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText
from viewer.resources import bundled

ROWS_A_PAGE = 1000
LARGEST_PAGE = 300_000
"""The maximum size of an index page in bytes, before the script loads the other rows."""
_COLUMNS = ("Name", "Format", "Model", "Messages", "Problems", "Date")


class Totals(Struct, frozen=True):
    """Counts of the whole site."""

    transcripts: int
    messages: int
    hidden: int | None
    """The number of hidden messages; None for a strict audience."""
    problems: int


def totals_of(rows: Sequence[SiteRow]) -> Totals:
    """Return the totals of all rows."""
    hidden = [row.hidden for row in rows if row.hidden is not None]
    problems = sum(count for row in rows for _, count in row.problems)
    return Totals(len(rows), sum(row.messages for row in rows), sum(hidden) if hidden or not rows else None, problems)


def index_pages(rows: Sequence[SiteRow], audience: Audience) -> Iterator[tuple[str, str]]:
    """Yield the index pages by file name: each has 1,000 rows, or fewer if they are long."""
    parts = list(_parts([row_html(row) for row in rows]))
    names = [index_name(number) for number in range(len(parts))]
    frame = Frame(audience, totals_of(rows))
    for number, part in enumerate(parts):
        yield names[number], "".join(frame.page(part, pager(names, number)))


def index_name(number: int) -> str:
    """Return the file name of an index page."""
    return f"index-{number + 1}.html" if number else "index.html"


def _parts(rows: list[Html]) -> Iterator[list[Html]]:
    """Divide the rows among pages."""
    room = LARGEST_PAGE - 60_000  # for the style sheet, the script, and the links
    part: list[Html] = []
    size = 0
    for row in rows:
        length = len(row.encode("utf-8", "replace"))
        if part and (len(part) == ROWS_A_PAGE or size + length > room):
            yield part
            part, size = [], 0
        part.append(row)
        size += length
    yield part


def row_html(row: SiteRow) -> Html:
    """Return one row of the table. The script builds the same cells from `rows.js`."""
    hidden = element("span", words(f" +{row.hidden:,} hidden"), class_="quiet") if row.hidden else NOTHING
    problems = ", ".join(f"{code} ×{count:,}" if count > 1 else code for code, count in row.problems)
    return element(
        "tr",
        element("td", element("a", _safe(row.name), href=row.page)),
        element("td", _safe(row.format)),
        element("td", _safe(row.model)),
        element("td", words(f"{row.messages:,}"), hidden, class_="figure"),
        element("td", words(problems)),
        element("td", words(row.date), class_="figure"),
        Html("\n"),
    )


def _safe(shown: str) -> Html:
    """Escape the text of a row, which is already sanitized."""
    return text(SafeText(shown))


def pager(names: Sequence[str], number: int) -> Html:
    """Return links to all pages of the table, or nothing if there is only one."""
    if len(names) < 2:
        return NOTHING
    links = [
        element("b", words(f"{at + 1:,}")) if at == number else element("a", words(f"{at + 1:,}"), href=name)
        for at, name in enumerate(names)
    ]
    return joined([words("Page "), joined(links, " ")])


class Frame:
    """The frame of every page with a table: the head with its policy, the banner, the search, and the script."""

    def __init__(self, audience: Audience, totals: Totals) -> None:
        self._audience = audience
        self._totals = totals
        self._style = Html(f"{style_sheet(audience)}{bundled('render', 'exports', 'site', 'site.css').read_text()}")
        self._script = script()

    def page(self, rows: Sequence[Html], links: Html, after: Iterable[Html] = (), data: str = "") -> Iterator[str]:
        """Yield the page in pieces. `after` follows the table. `data` contains the data for a page that loads no other
        file."""
        yield "<!doctype html>\n"
        yield opening("html", lang="en", class_=badge(self._audience).lower())
        yield self._head(data)
        yield opening("body", class_="index")
        yield self._banner()
        yield opening("main", id="top")
        yield element("p", words(view_sentence(self._audience)), class_="view")
        yield element(
            "form",
            opening("input", type="search", id="query", placeholder="Search shown text", aria_label="Search"),
            id="search",
            hidden="",
        )
        yield element("p", id="status", role="status")
        yield element("ol", id="results")
        head = element("tr", *(element("th", words(title), scope="col") for title in _COLUMNS))
        yield joined([opening("table", id="table"), element("thead", head), opening("tbody", id="rows"), Html("\n")])
        yield from rows
        yield Html("</tbody></table>\n")
        yield element("p", links, id="pager", class_="quiet")
        said = f"{badge(self._audience)} view. {view_sentence(self._audience)} Made by ocmlview {__version__}."
        yield joined([element("footer", words(said)), Html("</main>\n")])
        yield from after
        if data:
            yield Html(f'<script type="application/json" id="data">{data}</script>\n')
        yield joined([element("script", self._script), Html("</body></html>\n")])

    def _head(self, data: str) -> Html:
        view = " ".join([badge(self._audience), *revealed_names(self._audience)])
        return element(
            "head",
            opening("meta", charset="utf-8"),
            opening("meta", http_equiv="Content-Security-Policy", content=policy(self._style, self._script)),
            opening("meta", name="viewport", content="width=device-width, initial-scale=1"),
            opening("meta", name="color-scheme", content="light dark"),
            opening("meta", name="referrer", content="no-referrer"),
            opening("meta", name="robots", content="noindex, nofollow"),
            opening("meta", name="generator", content=f"ocmlview {__version__}"),
            opening("meta", name="ocmlview-view", content=view),
            element("title", words(f"{badge(self._audience)} · Transcripts")),
            element("style", self._style),
            Html("\n"),
        )

    def _banner(self) -> Html:
        revealed, totals = revealed_names(self._audience), self._totals
        hidden = f", {totals.hidden:,} hidden" if totals.hidden else ""
        counts = f"{counted(totals.messages, 'message')}{hidden} · {counted(totals.problems, 'problem')}"
        return element(
            "header",
            element("strong", words(badge(self._audience)), class_="badge"),
            element("span", words(f"reveals {', '.join(revealed)}"), class_="reveals") if revealed else NOTHING,
            element("h1", words(counted(totals.transcripts, "transcript"))),
            element("span", class_="gap"),
            element("span", words(counts), class_="counts"),
            class_="banner",
        )


def policy(style: Html, script: Html) -> str:
    """Return a policy that allows only this style, this script, and the site's data files."""
    sheet, code = (f"'sha256-{b64encode(sha256(each.encode()).digest()).decode()}'" for each in (style, script))
    return (
        f"default-src 'none'; style-src {sheet}; script-src 'self' {code}; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def script() -> Html:
    """Return the script with the constants that it shares with the index."""
    shared = encoded({"unspaced": UNSPACED, "longest": LONGEST_TERM, "page": ROWS_A_PAGE})
    code = bundled("render", "exports", "site", "site.js").read_text("utf-8")
    return Html(code.replace("/*TERMS*/", shared))
