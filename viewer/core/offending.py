"""The offending value of a diagnostic: read from its span when it is shown, never stored."""

from __future__ import annotations

from collections.abc import Callable

from viewer.core.diagnostics import Diagnostic
from viewer.core.patterns import rarely
from viewer.core.rules import has_value

LONGEST_VALUE = 40
"""Characters of an offending value that are shown."""
_LONGEST_BYTES = 4 * (LONGEST_VALUE + 16)
_LONGEST_KEY = 256

_KEY_BEFORE = rarely(rb'"((?:[^"\\]|\\.)*)"[ \t\r\n]*:[ \t\r\n]*\Z')
_IDS = ("W-CALL-ID-DUPLICATE", "W-CALL-ID-UNKNOWN")
_NAME_BEFORE = ("wrong-type", "not-in-enum")
"""Reasons whose span is the value of an argument; the text names the argument."""


def offending_value(diagnostic: Diagnostic, read: Callable[[int, int], bytes]) -> str | None:
    """The value for the `…` in the text of a diagnostic; None if the text has none. Not yet safe for a terminal."""
    if not has_value(diagnostic.template):
        return None
    start, end = diagnostic.start, diagnostic.end
    if diagnostic.code == "E-CALL-SCHEMA" and diagnostic.reason in _NAME_BEFORE:
        key = _KEY_BEFORE.search(read(max(0, start - _LONGEST_KEY), start))
        return key[1].decode("utf-8", "replace") if key else None
    if end <= start:
        return None
    value = read(start, min(end, start + _LONGEST_BYTES)).decode("utf-8", "replace")
    if diagnostic.code in _IDS:
        value = value.removeprefix("call_id=")
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return value or None
