"""Faults of typed searches and filters: the column and the reason, for the prompt."""

from __future__ import annotations

from viewer.document.filter.grammar import parse
from viewer.document.filter.tree import FilterError
from viewer.document.search.regex import Regex, RegexError
from viewer.tui.search.engine import LONGEST_QUERY, Query


def fault_of_search(typed: str) -> str:
    """Describe the fault in a typed search, such as `column 2: missing )`, without quoting it; empty if there is
    none."""
    query = Query.parse(typed)
    if not query.is_pattern or not query.text:
        return ""
    try:
        Regex(query.text, query.ignores_case)
    except RegexError as error:
        if error.place is None:
            return error.sentence
        sign = len(typed[:LONGEST_QUERY]) - len(query.text)
        return f"column {sign + error.place + 1}: {error.reason}"
    return ""


def fault_of_filter(typed: str, *, is_complete: bool) -> str:
    """Describe the fault in a typed filter, such as `column 1: unknown field "rolle"`; empty if there is none. While
    the filter is still being typed, ignore a fault at the end, because the next characters may fix it."""
    try:
        parse(typed, has_marks=True)
    except FilterError as error:
        place = error.excerpt
        is_at_end = place.column + place.length >= len(typed)
        return "" if is_at_end and not is_complete else f"column {place.column + 1}: {error.sentence}"
    return ""
