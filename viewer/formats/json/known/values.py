"""Patterns for JSON values that do not affect reading, so they may differ between the objects of one shape."""

from __future__ import annotations

import json
import re

from viewer.cache import lazy_regex
from viewer.scan.records import Step, literal, step
from viewer.syntax.json_tree import JsonText

WORDS = rb"[ !#-;=?-\[\]-{}~]++"
"""A string that does not affect reading, without its quotes: ASCII without escapes or characters of marks."""
NUMBER = rb"-?(?:0|[1-9][0-9]{0,14}+)(?>\.[0-9]{1,15}+)?+(?![0-9.eE])"
_ANY_NUMBER = rb"-?(?:0|[1-9][0-9]{0,17}+)(?>\.[0-9]{1,20}+)?+(?>[eE][+-]?[0-9]{1,3}+)?+(?![0-9.eE])"
ANY = rb'(?:"(?>' + WORDS + rb')?+"|' + _ANY_NUMBER + rb"|true|false|null)"
"""Any scalar value that does not affect reading."""
PLAIN_LIST = rb"\[(?>" + ANY + rb"(?>, *+" + ANY + rb"){0,31}+)?+\]"
"""A short list of scalar values that do not affect reading."""
LONGEST_NESTED = 2048
MOST_NESTED = 32
"""The maximum number of values in an object or an array that has a pattern."""
_TOKEN = lazy_regex(
    rb'(?P<key>"[^"\\\x00-\x1f]*+" *+:)|(?P<value>' + ANY + rb")|(?P<other>[\[\]{},] *+| ++)",
)


def nested_pattern(source: bytes) -> bytes | None:
    """Return the pattern of objects or arrays that have the same keys as this one, or None if it has values that may
    affect reading, or if it is too long. The result has no groups."""
    if len(source) > LONGEST_NESTED:
        return None
    parts: list[bytes] = []
    at = count = 0
    while at < len(source):
        found = _TOKEN.match(source, at)
        if found is None:
            return None
        is_value = found.lastgroup == "value"
        count += is_value
        parts.append(ANY if is_value else re.escape(found[0]))
        at = found.end()
    return b"".join(parts) if count <= MOST_NESTED else None


def nested_program(source: bytes) -> bytes:
    """Return the program that equals the result of `nested_pattern`, if that is not None."""
    found = _TOKEN.finditer(source)
    return b"".join(step(Step.ANY) if each.lastgroup == "value" else literal(each[0]) for each in found)


_VERBATIM = rb'[^"\\\x00-\x1f]*+'
_LONG = (
    rb"u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}"
    rb"|[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
STRING = rb'"' + _VERBATIM + rb'(?>\\(?:["\\/bfnrt]|' + _LONG + rb")" + _VERBATIM + rb')*+"'
"""A valid string in which every surrogate belongs to a pair."""
_USUAL = rb'(?>\\["\\nt]' + _VERBATIM + rb")*+"
_UNUSUAL = rb"(?:\\r(?=\\n)|(\\(?:[/bfr]|" + _LONG + rb")))"
MARKED_STRING = rb'"' + _VERBATIM + _USUAL + rb"(?>" + _UNUSUAL + _VERBATIM + _USUAL + rb')*+"'
"""A string, as in `STRING`. The group matches the last escape that may spell any character, or that spells a control
character or a lone carriage return; `places_with_signs` searches for these escapes. Common escapes are matched in a
separate loop, which is faster than an alternation but takes longer to compile."""
TEXT = rb'(?!"")' + MARKED_STRING
"""A valid nonempty string in which every surrogate belongs to a pair."""
ID = rb'"[^"\\\x00-\x1f\x7f-\xff]++"'
"""An ASCII ID without escapes."""
NAME = rb"[A-Za-z0-9_.:/-]++"
"""The name of a tool or a speaker."""
SCALAR = rb"(?:" + STRING + rb"|" + _ANY_NUMBER + rb"|true|false|null)"
"""Any scalar value."""
LIST = rb"\[(?>" + SCALAR + rb"(?>, ?+" + SCALAR + rb")*+)?+\]"
"""A list of scalar values."""
_INSIDE = rb'[^"\[\]{}]*+'
CONTAINER = rb"[\[{]" + _INSIDE
for _ in range(5):
    CONTAINER = rb"[\[{]" + _INSIDE + rb"(?>(?:" + STRING + rb"|" + CONTAINER + rb"[\]}])" + _INSIDE + rb")*+"
CONTAINER += rb"[\]}]"
"""Text in brackets. A later check decides if it is a JSON value."""
_SCALARS = lazy_regex(SCALAR)


def scalar_value(source: bytes) -> str:
    """Return the text of a string, or the source text of anything else as `JsonText`."""
    if b"\\" in source:
        text: str = json.loads(source)
        return text
    return source[1:-1].decode() if source.startswith(b'"') else JsonText(source.decode())


def plain_value(source: bytes) -> object:
    """Return the value of a scalar or of a list of scalars."""
    return [*map(scalar_value, _SCALARS.findall(source))] if source.startswith(b"[") else scalar_value(source)
