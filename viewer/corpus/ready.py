"""Ready-made queries: files in `queries/` with a title, requirements, and parameters with default values."""

from __future__ import annotations

import os
import re
from functools import cache

from msgspec import Struct

from viewer.corpus.tables import Contents
from viewer.errors import ViewerError
from viewer.model.visibility import Reveal

_HEAD = re.compile(r"^-- (title|needs|parameters): *(.*?) *$", re.MULTILINE)
_FOLDER, _SUFFIX = os.path.join(os.path.dirname(__file__), "queries"), ".sql"
SIGN = "@"
"""The prefix that marks a query as the name of a ready-made query."""


class Query(Struct, frozen=True):
    """A ready-made query."""

    name: str
    title: str
    text: str
    needs: str = ""
    """The content that the tables must have: `tool`, `all`, `leaks`, or `content`; empty if any tables will do."""
    parameters: dict[str, str] = {}
    """The parameters of the query with their default values. A parameter with an empty default is required."""


@cache
def ready_queries() -> dict[str, Query]:
    """Return all ready-made queries by name."""
    names = sorted(name.removesuffix(_SUFFIX) for name in os.listdir(_FOLDER) if name.endswith(_SUFFIX))
    return {name: _read(name) for name in names}


def _read(name: str) -> Query:
    with open(os.path.join(_FOLDER, name + _SUFFIX), encoding="utf-8") as file:
        return _parsed(name, file.read())


def _parsed(name: str, text: str) -> Query:
    head = dict(_HEAD.findall(text))
    parts = [part.partition("=") for part in head.get("parameters", "").split()]
    parameters = {part[0]: part[2] for part in parts}
    return Query(name, head["title"], _HEAD.sub("", text).strip(), head.get("needs", ""), parameters)


_NEEDS = {
    "tool": ("calls", "scan again with --reveal tool,commentary into a .DEBUG directory"),
    "all": ("hidden messages", "scan again with --reveal all into a .DEBUG directory"),
    "leaks": ("leak scores", "scan again with --reveal all --leaks into a .DEBUG directory"),
    "content": ("content hashes", "scan again with --by-content into another directory"),
}
"""The requirements that a query can have, and how to meet them."""


def find_query(name: str, contents: Contents) -> Query:
    """Find a ready-made query by name. Raise ViewerError if there is none, or if the tables lack what it needs."""
    queries = ready_queries()
    query = queries.get(name)
    if query is None:
        from difflib import get_close_matches

        near = get_close_matches(name, queries, 1, 0.5)
        advice = f"did you mean @{near[0]}?" if near else "`ocmlview sql --list` lists all"
        raise ViewerError(f"there is no query @{name}; {advice}")
    if query.needs and not _has(query.needs, contents):
        what, how = _NEEDS[query.needs]
        raise ViewerError(f"@{name} needs {what}: {how}")
    return query


def _has(need: str, contents: Contents) -> bool:
    audience = contents.audience
    return {
        "tool": audience.reveals(Reveal.TOOL) and audience.reveals(Reveal.COMMENTARY),
        "all": audience.reveals(Reveal.ALL),
        "leaks": contents.leaks,
        "content": contents.by_content,
    }[need]
