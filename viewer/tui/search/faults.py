"""Faults of typed searches: the column and the reason, for the prompt, without quoting the text."""

from __future__ import annotations

from viewer.document.search.regex import Regex, RegexError
from viewer.tui.search.engine import LONGEST_QUERY, Query


def fault_of(typed: str) -> str:
    """Return what is wrong with a typed search, such as `column 2: missing )`; empty if nothing is."""
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
