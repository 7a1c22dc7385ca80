"""Data files of a site: rows, message text, and shards of the inverted index. Each file assigns one JSON constant."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from viewer.render.exports.site.rows import SiteRow
from viewer.render.exports.site.terms import SHARDS, shard_of

_SAFE_IN_HTML = {"<": "\\u003c", "\u2028": "\\u2028", "\u2029": "\\u2029"}


class SearchIndex:
    """The inverted index over shown text: for each term, the rows and messages that contain it."""

    def __init__(self) -> None:
        self._shards: list[dict[str, list[list[int]]]] = [{} for _ in range(SHARDS)]
        self._shard_of: dict[str, dict[str, list[list[int]]]] = {}

    def add(self, row: int, terms: dict[str, list[int]]) -> None:
        """Add the terms of a row. Rows must be added in order."""
        for term, numbers in terms.items():
            shard = self._shard_of.get(term)
            if shard is None:
                shard = self._shard_of[term] = self._shards[shard_of(term)]
            shard.setdefault(term, []).append([row, *numbers])

    def shards(self) -> Iterator[tuple[str, dict[str, list[list[int]]]]]:
        """Yield each shard with its name and its sorted terms, including empty shards."""
        for number, shard in enumerate(self._shards):
            yield shard_name(number), dict(sorted(shard.items()))


def shard_name(number: int) -> str:
    """Return the name of a shard: `search/00` to `search/ff`."""
    return f"search/{number:02x}"


def row_values(row: SiteRow) -> list[object]:
    """Return the values of a row for the script, in the order of its columns."""
    return [row.name, row.page, row.format, row.model, row.messages, row.hidden, row.problems, row.date]


def rows_json(rows: Sequence[SiteRow]) -> str:
    """Return all rows as JSON, for the script."""
    return encoded([row_values(row) for row in rows])


def script_file(name: str, value: str) -> str:
    """Return a file that assigns one JSON constant. A page opened from disk may load data only as a script."""
    return f"site[{json.dumps(name)}]={value};\n"


def encoded(value: object) -> str:
    """Encode a value as JSON that is safe inside a script and inside an HTML page."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _SAFE_IN_HTML.items():
        text = text.replace(character, escape)
    return text
