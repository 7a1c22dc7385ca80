"""Diff two JSON values by path: added, removed, and changed values, types, spellings, and orders."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from math import inf
from typing import NoReturn

from msgspec import Struct

from viewer.insight.matching import equal_runs
from viewer.syntax.json_text import is_too_deep
from viewer.syntax.json_tree import number_value

LONGEST_VALUE = 16 * 1024 * 1024
"""The maximum length of a JSON text in characters. A longer body is compared as text."""
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_CONTAINERS = ("{", "[")


class PathChange(Struct, frozen=True):
    """A change at one path of a JSON value."""

    path: str
    """A path such as `.items[2].name`; empty for the whole value."""
    change: str
    """`added`, `removed`, `changed`, `type`, `spelling`, or `order`."""
    old: object
    """The old value, or None for an addition. For `order`, the keys of both objects in the old order. Not sanitized."""
    new: object

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """Both values as text: strings unchanged, other values as JSON, and None if there is no value."""
        old = None if self.change == "added" else _text(self.old)
        return old, None if self.change == "removed" else _text(self.new)


class Number(str):
    """A JSON number in its original spelling. It equals every number that has the same value."""

    __slots__ = ()

    @property
    def canonical(self) -> str:
        """Text that is the same for all spellings of the value, unless its exponent is out of range."""
        sign, digits = ("-", self[1:]) if self.startswith("-") else ("", str(self))
        power = 0
        if not digits.isdigit():
            try:
                value = Decimal(digits).as_tuple()
            except InvalidOperation:  # the exponent is out of range
                return str(self)
            digits, power = "".join(map(str, value.digits)), int(value.exponent)
        digits = digits.lstrip("0")
        short = digits.rstrip("0")
        return f"{sign}{short}e{power + len(digits) - len(short)}" if short else "0"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Number) and (str.__eq__(self, other) or self.canonical == other.canonical)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.canonical)


class _IrregularError(ValueError):
    """The JSON has a repeated key, or a JavaScript constant such as NaN."""


def _refuse(_constant: str) -> NoReturn:
    raise _IrregularError


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise _IrregularError
    return value


_DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=_refuse, object_pairs_hook=_object)


def json_container(text: str) -> object:
    """Parse the text as a JSON object or array. Return None for anything else. Numbers keep their spelling."""
    if not text.lstrip(" \t\r\n").startswith(_CONTAINERS) or len(text) > LONGEST_VALUE:
        return None
    data = text.encode("utf-8", "surrogatepass")
    if is_too_deep(data):
        return None
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def canonical(value: object, *, strict: bool = False) -> str:
    """Return a string that is the same for all spellings of a value. With `strict`, the order of keys and the spelling
    of numbers matter."""
    if isinstance(value, dict):
        items = value.items() if strict else sorted(value.items())
        members = ",".join(f"{json.dumps(key)}:{canonical(item, strict=strict)}" for key, item in items)
        return f"{{{members}}}"
    if isinstance(value, list):
        return f"[{','.join(canonical(item, strict=strict) for item in value)}]"
    if isinstance(value, Number):
        return str(value) if strict else value.canonical
    return json.dumps(value)


def spelled(value: object) -> str:
    """Return the JSON text of a value, with its numbers as written."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)}: {spelled(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    return str(value) if isinstance(value, Number) else _quoted(value)


def plain_value(value: object) -> object:
    """Return the value with its numbers converted to Python numbers. A number that overflows a float becomes text,
    because JSON has no infinity."""
    if isinstance(value, dict):
        return {key: plain_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [*map(plain_value, value)]
    if not isinstance(value, Number):
        return value
    number = number_value(value)
    return str(value) if number in (inf, -inf) else number


def _text(value: object) -> str:
    return str(value) if isinstance(value, str) else spelled(value)


def _quoted(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def json_changes(old: object, new: object, *, strict: bool = False) -> list[PathChange]:
    """Return the changes from one value to another, in the order of the new value. In an object, removed keys come
    first."""
    return [*_changes("", old, new, strict)]


def _changes(path: str, old: object, new: object, strict: bool) -> Iterator[PathChange]:
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _object_changes(path, old, new, strict)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _array_changes(path, old, new, strict)
    elif type(old) is not type(new):
        yield PathChange(path, "type", old, new)
    elif old != new:
        yield PathChange(path, "changed", old, new)
    elif strict and isinstance(old, Number) and str(old) != str(new):
        yield PathChange(path, "spelling", old, new)


def _object_changes(path: str, old: dict[str, object], new: dict[str, object], strict: bool) -> Iterator[PathChange]:
    for key, value in old.items():
        if key not in new:
            yield PathChange(_member(path, key), "removed", value, None)
    for key, value in new.items():
        if key in old:
            yield from _changes(_member(path, key), old[key], value, strict)
        else:
            yield PathChange(_member(path, key), "added", None, value)
    kept = [key for key in old if key in new]
    if strict and kept != (now := [key for key in new if key in old]):
        yield PathChange(path, "order", kept, now)


def _array_changes(path: str, old: Sequence[object], new: Sequence[object], strict: bool) -> Iterator[PathChange]:
    """Compare arrays by a longest common subsequence of items, and by index between equal items."""
    texts = [[canonical(item, strict=strict) for item in items] for items in (old, new)]
    i = j = 0
    for first, second, length in (*equal_runs(*texts), (len(old), len(new), 0)):
        both = min(first - i, second - j)
        for step in range(both):
            yield from _changes(f"{path}[{j + step}]", old[i + step], new[j + step], strict)
        for place in range(i + both, first):
            yield PathChange(f"{path}[{place}]", "removed", old[place], None)
        for place in range(j + both, second):
            yield PathChange(f"{path}[{place}]", "added", None, new[place])
        i, j = first + length, second + length


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{_quoted(key)}]"
