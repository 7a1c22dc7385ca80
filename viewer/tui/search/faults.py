"""Faults of typed searches: the column and the reason, for the prompt, without quoting the text."""

from __future__ import annotations

from viewer.document.filter.grammar import parse
from viewer.document.filter.tree import FilterError
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


def filter_fault_of(typed: str, *, is_final: bool) -> str:
    """Return what is wrong with a typed filter, such as `column 6: "tool:" lacks a value`; empty if nothing is. While
    it is typed, its end may be missing."""
    try:
        parse(typed, has_marks=True)
    except FilterError as error:
        return "" if error.is_incomplete and not is_final else str(error).removeprefix("filter, ")
    return ""
