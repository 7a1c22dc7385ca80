"""Make an untrusted JSON Schema safe: expand its references, bound its size, and leave unusable parts open.

Nothing is ever fetched: a reference that does not resolve within the document accepts anything. Parts beyond the
limits, and keywords that violate JSON Schema, also accept anything."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.tools.schema_keywords import (
    COUNTS,
    FLAGS,
    LISTS,
    MAPS,
    NUMBERS,
    SCHEMAS,
    TYPES,
    as_flag,
    as_number,
    options,
)

Schema = dict[str, object]
PatternTest = Callable[[str], bool]
Guards = tuple[tuple[Schema, str], ...]

LARGEST = 8_000
"""The maximum number of keyword values and subschemas per tool, with references expanded."""
DEEPEST = 40
LONGEST_REFERENCE = 1_000
LONGEST_PATTERN = 1_000
MOST_PATTERNS = 100

_PERCENT = lazy_regex("(?:%[0-9A-Fa-f]{2})+")
_REFERENCES = ("$ref", "$recursiveRef", "$dynamicRef")
_BOUNDS = frozenset((*NUMBERS, *COUNTS, *FLAGS, "exclusiveMinimum", "exclusiveMaximum"))
_EXACT = frozenset({"not", "if", "oneOf", "contains"})
"""Keywords that refuse too much if their subschema accepts too much."""


class Written(Struct, frozen=True):
    """A schema without references, and the number of its parts that may apply to the same value."""

    schema: Schema | bool
    weight: int


class _Part(Struct, frozen=True):
    """A subschema to expand, and its destination."""

    raw: object
    holder: Any
    """The mapping or list that receives the subschema under the key."""
    key: str | int
    depth: int
    guards: Guards


def write_out(
    schema: object, roots: tuple[object, ...] = (), *, texts: bool = False, usable: PatternTest | None = None
) -> Written:
    """Expand a schema. With `texts`, all its scalars were read as strings, as in YAML.

    `usable` selects the patterns to keep, by default all."""
    return _Writer((schema, *roots), texts, usable).write(schema)


class _Writer:
    def __init__(self, roots: tuple[object, ...], texts: bool, usable: PatternTest | None) -> None:
        self.roots = roots
        self.texts = texts
        self.usable = usable
        self.left = LARGEST
        self.patterns_left = MOST_PATTERNS
        self.weight = 1
        self.waiting: deque[_Part] = deque()

    def write(self, schema: object) -> Written:
        result: list[object] = [True]
        self.waiting.append(_Part(schema, result, 0, 0, ()))
        while self.waiting:
            part = self.waiting.popleft()
            value = self._schema(part)
            if isinstance(part.key, int) or part.key in part.holder:  # it may have been loosened in the meantime
                part.holder[part.key] = value
        top = result[0]
        return Written(top if isinstance(top, dict) else top is not False, self.weight)

    def _schema(self, part: _Part) -> Schema | bool:
        self.left -= 1
        raw = self._follow(part.raw)
        if isinstance(raw, bool) or raw in ("true", "false"):
            return raw in (True, "true")
        if not isinstance(raw, dict) or self.left < 0 or part.depth > DEEPEST:
            if raw not in ({}, ""):
                _loosen(part.guards)
            return True
        written: Schema = {}
        self._kind(raw, written, part.guards)
        self._bounds(raw, written)
        self._names(raw, written)
        self._patterns(raw, written, part)
        self._subschemas(raw, written, part)
        return written

    def _follow(self, raw: object) -> object:
        """Return the schema to which references lead, or None if there is none. If a reference has sibling keywords
        that restrict values, return them with the reference in `allOf`."""
        for _ in range(32):
            if not isinstance(raw, dict):
                return raw
            name = next((name for name in _REFERENCES if isinstance(raw.get(name), str)), None)
            if name is None:
                return raw
            reference = raw[name]
            rest = {key: value for key, value in raw.items() if key not in _REFERENCES}
            if rest.keys() & _CONSTRAINING:
                own = rest.get("allOf")
                return {**rest, "allOf": [*(own if isinstance(own, list) else []), {"$ref": reference}]}
            raw = self._look_up(reference)
        return None

    def _look_up(self, reference: str) -> object:
        if not reference.startswith("#") or len(reference) > LONGEST_REFERENCE:
            return None
        for root in self.roots:
            found = pointed_at(root, reference)
            if found is not None:
                return found
        return None

    def _kind(self, raw: Schema, written: Schema, guards: Guards) -> None:
        """Write `type`, `enum`, and `const`, adding null to them if the schema is `nullable`."""
        given = raw.get("type")
        names = [given] if isinstance(given, str) else given if isinstance(given, list) else []
        known = [TYPES[name] for name in names if isinstance(name, str) and name in TYPES]
        if known and len(known) == len(names):
            written["type"] = list(dict.fromkeys(known))
        elif names:
            _loosen(guards)
        choice = options(raw, known, self.texts)
        if choice is not None and self._pays(choice):
            written["enum"] = choice
        if as_flag(raw.get("nullable")):
            self._admit_null(written)

    def _admit_null(self, written: Schema) -> None:
        kinds, choice = written.get("type"), written.get("enum")
        if isinstance(kinds, list):
            written["type"] = list(dict.fromkeys([*kinds, "null"]))
        if isinstance(choice, list):
            written["enum"] = [*choice, None]

    def _pays(self, values: list[object]) -> bool:
        """True if the number and size of these values are within the remaining limit, which is then reduced."""
        waiting = list(values)
        cost = 0
        while waiting and cost <= self.left:
            value = waiting.pop()
            cost += 1 + (len(value) // 64 if isinstance(value, str) else 0)
            waiting += value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
        if cost > self.left:
            return False
        self.left -= cost
        self.weight += cost // 16
        return True

    def _bounds(self, raw: Schema, written: Schema) -> None:
        if raw.keys().isdisjoint(_BOUNDS):
            return
        for name in NUMBERS:
            number = as_number(raw.get(name))
            if number is not None and (name != "multipleOf" or number > 0):
                written[name] = number
        for name in COUNTS:
            number = as_number(raw.get(name))
            if isinstance(number, int) and number >= 0:
                written[name] = number
        for name in FLAGS:
            if as_flag(raw.get(name)):
                written[name] = True
        for name, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if as_flag(raw.get(name)) and bound in written:
                written[name] = written.pop(bound)

    def _names(self, raw: Schema, written: Schema) -> None:
        required = raw.get("required")
        if isinstance(required, list) and all(isinstance(name, str) for name in required) and self._pays(required):
            written["required"] = list(dict.fromkeys(required))
        given = raw.get("dependentRequired", raw.get("dependencies"))
        if isinstance(given, dict):
            lists = {key: names for key, names in given.items() if isinstance(names, list) and self._pays(names)}
            written["dependentRequired"] = {
                key: [name for name in names if isinstance(name, str)] for key, names in lists.items()
            }

    def _patterns(self, raw: Schema, written: Schema, part: _Part) -> None:
        pattern = raw.get("pattern")
        if isinstance(pattern, str) and self._pattern_fits(pattern, part):
            written["pattern"] = pattern
        given = raw.get("patternProperties")
        if not isinstance(given, dict) or not given:
            return
        if not all(isinstance(each, str) and self._pattern_fits(each, part) for each in given):
            written["additionalProperties"] = True
            return
        self._map("patternProperties", given, written, part)
        self.weight += len(given)

    def _pattern_fits(self, pattern: str, part: _Part) -> bool:
        self.patterns_left -= 1
        if self.patterns_left >= 0 and len(pattern) <= LONGEST_PATTERN and (not self.usable or self.usable(pattern)):
            return True
        _loosen(part.guards)
        return False

    def _subschemas(self, raw: Schema, written: Schema, part: _Part) -> None:
        for name in SCHEMAS:
            if name in raw and name not in written:
                self._one(name, raw, written, part)
        for name in MAPS:
            given = raw.get(name)
            if isinstance(given, dict):
                self._map(name, given, written, part)
        for name in LISTS:
            given = raw.get(name)
            if isinstance(given, list) and given:
                self._list(name, given, written, part)

    def _one(self, name: str, raw: Schema, written: Schema, part: _Part) -> None:
        given = raw[name]
        if isinstance(given, list):
            if name == "items" and given and "prefixItems" not in raw:
                self._list("prefixItems", given, written, part)
                if "additionalItems" in raw:
                    self._later(raw["additionalItems"], written, "items", part, written, name)
            return
        self.weight += 1
        self._later(given, written, name, part, written, name)

    def _map(self, name: str, given: dict[str, object], written: Schema, part: _Part) -> None:
        target: dict[str, object] = {key: True for key in given if isinstance(key, str)}
        written[name] = target
        for key in target:
            self._later(given[key], target, key, part, written, name)

    def _list(self, name: str, given: list[object], written: Schema, part: _Part) -> None:
        target: list[object] = [True] * len(given)
        written[name] = target
        self.weight += 0 if name == "prefixItems" else len(given)
        for index, each in enumerate(given):
            self._later(each, target, index, part, written, name)

    def _later(self, raw: object, holder: Any, key: str | int, part: _Part, written: Schema, keyword: str) -> None:
        guards = part.guards
        if keyword in _EXACT:
            guards = (*guards, (written, keyword))
        if keyword in LISTS and "unevaluatedProperties" in written:
            guards = (*guards, (written, "unevaluatedProperties"))
        if isinstance(key, str):
            holder[key] = True
        self.waiting.append(_Part(raw, holder, key, part.depth + 1, guards))


_CONSTRAINING = frozenset((*NUMBERS, *COUNTS, *FLAGS, *SCHEMAS, *MAPS, *LISTS)) | {
    "type",
    "enum",
    "const",
    "required",
    "pattern",
    "patternProperties",
    "dependentRequired",
    "nullable",
}


def pointed_at(root: object, reference: str) -> object:
    """Return the target of a JSON pointer such as `#/components/schemas/Order`, or None if there is none."""
    pointer = _PERCENT.sub(_unquoted, reference[1:])
    if pointer and not pointer.startswith("/"):
        return None
    found = root
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict):
            found = found.get(name)
        elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(found):
            found = found[int(name[:9])]
        else:
            return None
    return found


def _unquoted(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


def _loosen(guards: Guards) -> None:
    """Remove the keywords that would refuse too much because of an open subschema."""
    for written, keyword in guards:
        if keyword == "oneOf" and "oneOf" in written:
            alternatives = written.pop("oneOf")
            own = written.setdefault("allOf", [])
            if isinstance(own, list):
                own.append({"anyOf": alternatives})
        else:
            for name in ("if", "then", "else") if keyword == "if" else (keyword,):
                written.pop(name, None)
