"""Data about the transcripts of a site: the row of the index, and the terms and text for the search."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.document.projection import Projection
from viewer.document.values import BriefCall, HiddenRun, ShownMessage
from viewer.formats import FORMATS
from viewer.render.exports.site.terms import normal_text, terms_of
from viewer.render.exports.steps import disclosed_problems
from viewer.render.number_format import one_line
from viewer.render.sanitize import normalize_newlines, sanitize, sanitize_line

MOST_CONTEXT = 100_000
"""How many characters of a message are stored for quotes in search results. The index covers all of its words."""
_LONGEST_STEM = 60
_MOST_NAMED = 3
"""How many formats or models of a transcript to list."""
_MINUTE = len("2026-01-31T12:34")
_PLAIN = lazy_regex(r"[^A-Za-z0-9._]+")


class SiteRow(Struct, frozen=True):
    """One row of the index. All strings are safe to show."""

    name: str
    page: str
    """The path of the page within the site."""
    format: str
    model: str
    messages: int
    hidden: int | None
    """The number of hidden messages; None for a strict audience."""
    problems: list[tuple[str, int]]
    """The problem codes with their counts."""
    date: str
    """The date and time in UTC, to the minute."""


class Searchable(Struct, frozen=True):
    """The search data of one transcript."""

    terms: dict[str, list[int]]
    """For each term, the messages that contain it; 0 for text outside any message and for call lines."""
    texts: dict[int, str]
    """The text of each message on one line, truncated to `MOST_CONTEXT` characters."""


def page_name(name: str) -> str:
    """Return the file name of a page without its extension: the last part of a transcript's relative name, with special
    characters replaced with hyphens, and a hash of the whole relative name."""
    stem = name.rpartition("/")[2]
    plain = _PLAIN.sub("-", stem)[:_LONGEST_STEM].strip(".-") or "transcript"
    return f"{plain}-{blake2b(name.encode('utf-8', 'surrogateescape'), digest_size=4).hexdigest()}"


def row_of(projection: Projection, name: str, page: str, modified: str) -> SiteRow:
    """Return the row of a transcript. If no shown message has a time, the row gets the date of the file."""
    rows, audience = projection.rows(), projection.audience
    transcripts = projection.transcripts()
    problems = Counter(found.code for found in disclosed_problems(projection))
    times = (item.time for item in projection.items() if isinstance(item, ShownMessage) and item.time)
    return SiteRow(
        sanitize_line(name, 200),
        page,
        _listed([FORMATS.title(each.format) for each in transcripts]),
        _listed([each.model for each in transcripts if each.model]),
        rows.shown_count,
        None if audience.strict else rows.hidden_count,
        sorted(problems.items()),
        next(times, modified)[:_MINUTE].replace("T", " "),
    )


def _listed(given: list[str]) -> str:
    names = list(dict.fromkeys(given))
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return sanitize_line(", ".join(names[:_MOST_NAMED] + more))


def searchable(projection: Projection) -> Searchable:
    """Collect the terms and the text that this audience sees."""
    terms: dict[str, list[int]] = {}
    texts: dict[int, str] = {}
    for item in projection.items():
        if isinstance(item, HiddenRun):
            continue
        number = item.number if isinstance(item, ShownMessage) else 0
        said = item.tool if isinstance(item, BriefCall) else item.body
        text = normal_text(one_line(sanitize(normalize_newlines(said))))
        texts[number] = f"{texts[number]} {text}"[:MOST_CONTEXT] if number in texts else text[:MOST_CONTEXT]
        for term in terms_of(text):
            numbers = terms.setdefault(term, [])
            if not numbers or numbers[-1] != number:
                numbers.append(number)
    return Searchable(terms, texts)
