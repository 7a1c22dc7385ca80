"""Timestamps (seconds, milliseconds, RFC 3339) as milliseconds since 1970, and back as text."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import lru_cache

from viewer.cache import lazy_regex
from viewer.syntax.json_lines import JsonNumber, LazyNode
from viewer.syntax.json_tree import JsonKind, JsonNode, number_value

LATEST_MS = 253_402_300_799_999
"""The last millisecond of the year 9999."""
MOST_DAYS = 1024
_MINUTES_A_DAY, _SECONDS_A_DAY = 1440, 86_400
_FIRST_DAY = date(1970, 1, 1).toordinal()
_SECONDS_BELOW = 100_000_000_000
"""The boundary between two units: smaller numbers are seconds (until the year 5138), larger ones milliseconds (since
1973)."""
_RFC_3339 = lazy_regex(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,12}))?\s?(?:([Zz])|([+-])(\d\d):?(\d\d))?", re.ASCII
)
_NUMBER = lazy_regex(r"-?\d{1,20}(?:\.\d{1,20})?", re.ASCII)


def parse_time(value: object) -> int | None:
    """Convert a number, a string, or a JSON node of either to milliseconds since 1970; return None for anything else.

    A time without a zone is interpreted as UTC."""
    if isinstance(value, JsonNode | LazyNode):
        value = _node_value(value)
    if isinstance(value, str):
        text = value.strip()
        return _from_number(number_value(text)) if _NUMBER.fullmatch(text) else _from_text(text)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_number(value)
    return None


def parse_fine_time(node: JsonNode) -> int | None:
    """Convert a number with 16 digits (microseconds) or 19 digits (nanoseconds) to milliseconds since 1970; return None
    for anything else."""
    value = _node_value(node)
    return _from_fine(value.strip() if isinstance(value, str) else str(value))


def parse_time_pair(node: JsonNode) -> int | None:
    """Convert a list of seconds and nanoseconds, as JavaScript writes it, to milliseconds since 1970; return None for
    anything else."""
    return _from_pair([_node_value(item) for item in node.items]) if node.kind is JsonKind.ARRAY else None


def parse_decoded_time(value: object) -> int | None:
    """Convert a decoded value of a regular record, in any unit that this module reads, to milliseconds since 1970;
    return None if it is not a time."""
    if isinstance(value, list):
        return _from_pair([number_value(item) if type(item) is JsonNumber else None for item in value])
    if not isinstance(value, str):
        return None
    if len(value) == 24 and value[19] == "." and value[23] == "Z":
        digits = value[17:19] + value[20:23]
        minute = _minute(value[:17]) if digits.isdecimal() and digits.isascii() and digits < "60" else None
        if minute is not None:
            return minute + int(digits)
    return _from_fine(value.strip()) or parse_time(number_value(value) if type(value) is JsonNumber else value)


def _from_fine(text: str) -> int | None:
    if len(text) not in (16, 19) or not (text.isascii() and text.isdigit()):
        return None
    return int(text[:13])


def _from_pair(values: list[object]) -> int | None:
    if len(values) != 2:
        return None
    seconds, nanoseconds = values
    if not isinstance(seconds, int) or not isinstance(nanoseconds, int) or not 0 <= nanoseconds < 1_000_000_000:
        return None
    ms = 1000 * seconds + nanoseconds // 1_000_000
    return ms if 0 <= ms <= LATEST_MS else None


def format_time(ms: int) -> str:
    """Format a time as RFC 3339 in UTC, with a fraction only if it is not zero."""
    seconds, fraction = divmod(min(max(ms, 0), LATEST_MS), 1000)
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{text}.{fraction:03}Z" if fraction else f"{text}Z"


def _node_value(node: JsonNode) -> object:
    if node.kind is JsonKind.STRING:
        return node.text
    return number_value(node.text) if node.kind is JsonKind.NUMBER else None


def _from_number(number: int | float) -> int | None:
    if not 0 <= number <= LATEST_MS:  # also rejects NaN
        return None
    return round(number * 1000) if number < _SECONDS_BELOW else int(number)


def _from_text(text: str) -> int | None:
    found = _RFC_3339.fullmatch(text)
    if not found:
        return None
    year, month, day, hour, minute, second, fraction, _, sign, hours, minutes = found.groups()
    midnight = _midnight(year, month, day)
    offset = 0 if sign is None else 60 * int(hours) + int(minutes)
    if midnight is None or hour > "23" or minute > "59" or second > "60" or offset >= _MINUTES_A_DAY:
        return None
    seconds = 60 * (60 * int(hour) + int(minute) + (offset if sign == "-" else -offset)) + int(second)
    ms = midnight + 1000 * seconds + int((fraction or "0").ljust(3, "0")[:3])
    return ms if 0 <= ms <= LATEST_MS else None


@lru_cache(MOST_DAYS)
def _minute(text: str) -> int | None:
    """Return the start of a minute in milliseconds since 1970, or None if it is invalid. The text includes the colon
    before the seconds."""
    return _from_text(f"{text}00Z")


@lru_cache(MOST_DAYS)
def _midnight(year: str, month: str, day: str) -> int | None:
    """Return the start of a day in milliseconds since 1970, or None if there is no such day."""
    try:
        return 1000 * _SECONDS_A_DAY * (date(int(year), int(month), int(day)).toordinal() - _FIRST_DAY)
    except ValueError:
        return None
