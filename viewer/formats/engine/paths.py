"""Paths in format tables: compile them once, and resolve them on JSON nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache, partial
from typing import Any

from viewer.formats.hiding import values_of
from viewer.formats.tables.model import RecordFormat, RecordRule
from viewer.syntax.json_lines import JsonNumber, LazyNode, note_changed
from viewer.syntax.json_text import JsonKind, JsonNode

_STEP = re.compile(r"([^.\[\]]*)((?:\[(?:\d*|-1|1:)\])*)")
_SUFFIX = re.compile(r"\[(\d*|-1|1:)\]")
Step = str | int
Keys = tuple[tuple[str, ...], ...]
EACH, REST, MEMBERS = "[]", "[1:]", "*"
IDS, OTHERS = "*#", "*!"
MANY = frozenset({EACH, REST, MEMBERS, IDS, OTHERS})
"""The steps that may lead to any number of values."""
NESTED = "+"
"""The prefix of a step `+name`, which leads to a value itself and, at every depth, to the items of its member
`name`."""


class Path:
    """A compiled path."""

    __slots__ = ("_joined", "choices", "heads", "keys", "read", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.choices = tuple(tuple(_steps(choice)) for choice in text.split("|")) if "&" not in text else ()
        self._joined = tuple(Path(each) for each in text.split("&")) if "&" in text else ()
        self.keys = None if self._joined else _only_keys(self.choices)
        """The choices, if they consist only of member names."""
        self.read = None if self.keys is None else _reader(self.keys)
        """A function that reads the first decoded value that is not null."""
        self.heads = _heads([*self.choices, *(steps for each in self._joined for steps in each.choices)])
        """An object has no value at the path unless it has a member with one of these names. None if other members may
        also lead to one."""

    def all(self, node: JsonNode) -> list[JsonNode]:
        """Return the non-null values at the path: for each part joined by `&`, those of the first choice that has
        any."""
        if self.keys is not None and type(node) is LazyNode:
            value = self._lazy_first(node, self.keys)
            return [] if value is None else [value]
        if self.keys is not None and node.decoded is not None:
            return self._decoded_first(node, node.decoded, self.keys)
        if not self.is_in(node):
            return []
        if self._joined:
            return [value for each in self._joined for value in each.all(node)]
        for steps in self.choices:
            found = [node]
            for step in steps:
                found = [value for one in found for value in _follow(one, step)]
                if not found:
                    break
            found = [value for value in found if value.kind is not JsonKind.NULL]
            if found:
                return found
        return []

    def is_in(self, node: JsonNode) -> bool:
        """True if a record has, or may have, a value at the path."""
        value = node.value if type(node) is LazyNode else node.decoded
        if value is None:
            return type(node) is not LazyNode
        if self.read is not None:
            return self.read(value) is not None
        return bool(self._joined) or any(exists(value, steps) for steps in self.choices)

    def first(self, node: JsonNode) -> JsonNode | None:
        """Return the first non-null value at the path, or None if there is none."""
        if self.keys is not None and type(node) is LazyNode:
            return self._lazy_first(node, self.keys)
        found = self.all(node)
        return found[0] if found else None

    @staticmethod
    def _decoded_first(node: JsonNode, decoded: dict[str, Any], choices: Keys) -> list[JsonNode]:
        for keys in choices:
            if _at(decoded, keys) is None:
                continue
            found: JsonNode | None = node
            for key in keys:
                found = found.get(key) if found is not None else None
            return [] if found is None else [found]
        return []

    @staticmethod
    def _lazy_first(node: LazyNode, choices: Keys) -> JsonNode | None:
        for keys in choices:
            value = _at(node.value, keys)
            if value is not None:
                return node.below(keys, value)
        return None


@cache
def path(text: str) -> Path:
    """Return the path compiled from this text. The result is cached."""
    return Path(text)


def string_at(node: JsonNode, text: str) -> str | None:
    """Return the string or number at a path as a string, or None if there is none."""
    if not text:
        return None
    if type(node) is LazyNode and node.strings is not None and text in node.strings:
        return node.strings[text]
    at = path(text)
    decoded = node.value if type(node) is LazyNode else node.decoded
    if at.read is not None and (decoded is not None or type(node) is LazyNode):
        value = at.read(decoded)
        return value if type(value) is str else str(value) if type(value) is JsonNumber else None
    found = at.first(node)
    if found is None or found.kind not in (JsonKind.STRING, JsonKind.NUMBER) or not found.closed:
        return None
    return found.text


def exists(value: Any, steps: tuple[Step, ...], at: int = 0) -> bool:
    """True if a path in a decoded value leads to anything other than null. In most records, most paths do not."""
    for index in range(at, len(steps)):
        step = steps[index]
        if step in MANY:
            if step not in (EACH, REST):
                inner = [value[name] for name in value if _is_meant(name, step)] if type(value) is dict else []
            else:
                inner = (value[1:] if step == REST else value) if type(value) is list else []
            return any(exists(each, steps, index + 1) for each in inner)
        if isinstance(step, str) and step.startswith(NESTED):
            return any(exists(each, steps, index + 1) for each in _nested(value, step[1:]))
        if isinstance(step, int):
            value = value[step] if type(value) is list and -len(value) <= step < len(value) else None
        else:
            value = value.get(step) if type(value) is dict else None
        if value is None:
            return False
    return value is not None


def _nested(value: Any, name: str) -> Iterator[Any]:
    waiting = [value]
    while waiting:
        yield (each := waiting.pop())
        below = each.get(name) if type(each) is dict else None
        waiting += reversed(below) if type(below) is list else ()


def _at(value: Any, keys: tuple[str, ...]) -> Any:
    for key in keys:
        value = value.get(key) if type(value) is dict else None
    return value


def _reader(choices: Keys) -> Callable[[Any], Any]:
    """Return a function that gets the first non-null decoded value under these member names."""
    if choices == ((),):
        return _itself
    if len(choices) > 1 or len(choices[0]) > 1:
        return partial(_first_at, choices)
    key = choices[0][0]

    def read(value: Any) -> Any:
        return value.get(key) if type(value) is dict else None

    return read


def _itself(value: Any) -> Any:
    return value


def _first_at(choices: Keys, value: Any) -> Any:
    for keys in choices:
        found = value
        for key in keys:
            found = found.get(key) if type(found) is dict else None
        if found is not None:
            return found
    return None


def change(at: str, node: JsonNode, new: Callable[[JsonNode], JsonNode | None]) -> bool:
    """Replace each value at a path with the result of `new`. If that is None, keep the value.

    Return True if a decoded value that is stored in the node may now be out of date."""
    is_stale = False
    for steps in path(at).choices:
        holders = [node]
        for step in steps[:-1]:
            holders = [value for one in holders for value in _follow(one, step)]
        for holder in holders:
            is_stale |= _change_in(holder, steps[-1], new)
    return is_stale


def all_at(at: str, node: JsonNode) -> list[JsonNode]:
    """Return the values at all choices of a path: those that `change` would replace."""
    found: list[JsonNode] = []
    for steps in path(at).choices:
        holders = [node]
        for step in steps:
            holders = [value for one in holders for value in _follow(one, step)]
        found += holders
    return found


def each_at(at: str, node: JsonNode) -> list[JsonNode]:
    """Return the non-null values at all choices of a path, including every value of a repeated member."""
    found: list[JsonNode] = []
    for steps in path(at).choices:
        holders = [node]
        for step in steps:
            is_name = isinstance(step, str) and step not in (EACH, REST, MEMBERS) and not step.startswith(NESTED)
            holders = [
                value for one in holders for value in (values_of(one, str(step)) if is_name else _follow(one, step))
            ]
        found += (value for value in holders if value.kind is not JsonKind.NULL)
    return found


def members_of(rules: Iterable[RecordRule]) -> Iterator[str]:
    """Yield the names of the members that these rules read in a record."""
    for rule in rules:
        for text in (rule.body, rule.each, *rule.then):
            yield from (steps[0] for steps in path(text).choices if steps and isinstance(steps[0], str))
        yield from members_of(rule.also)


@lru_cache(256)  # depends on no input, so `clear_caches` need not clear it
def names_read(format: RecordFormat) -> frozenset[str]:
    """Return the names of the members that the rules of a format read in a record."""
    return frozenset(members_of(format.records))


def _change_in(holder: JsonNode, step: Step, new: Callable[[JsonNode], JsonNode | None]) -> bool:
    is_stale = False
    if isinstance(step, int) or step == EACH:
        for index, item in enumerate(holder.items):
            changed = new(item) if step in (EACH, index) else None
            if changed is not None:
                holder.items[index], is_stale = changed, True
        return is_stale
    decoded = holder.decoded
    for member in holder.members:
        is_meant = step == member.key or (step in MANY and _is_meant(member.key, step))
        changed = new(member.value) if is_meant else None
        if changed is not None:
            member.value = changed
            is_stale |= not note_changed(decoded, member)
    holder.forget_index()
    holder.decoded = None if is_stale else decoded
    return is_stale


def _only_keys(choices: tuple[tuple[Step, ...], ...]) -> Keys | None:
    found: list[tuple[str, ...]] = []
    for choice in choices:
        keys = tuple(
            step for step in choice if isinstance(step, str) and step not in MANY and not step.startswith(NESTED)
        )
        if len(keys) < len(choice):
            return None
        found.append(keys)
    return tuple(found)


def _heads(choices: list[tuple[Step, ...]]) -> frozenset[str] | None:
    heads = frozenset(steps[0] if steps and isinstance(steps[0], str) else EACH for steps in choices)
    return None if heads & MANY or any(head.startswith(NESTED) for head in heads) else heads


def _steps(choice: str) -> Iterator[Step]:
    for part in choice.split(".") if choice else []:
        found = _STEP.fullmatch(part)
        if found is None:
            raise ValueError(f"{choice!r} is not a path")
        if found[1]:
            yield found[1]
        for suffix in _SUFFIX.finditer(found[2]):
            yield suffix[0] if suffix[1] in ("", "1:") else int(suffix[1])


def _follow(node: JsonNode, step: Step) -> list[JsonNode]:
    if isinstance(step, int):
        return [node.items[step]] if -len(node.items) <= step < len(node.items) else []
    if step == EACH:
        return node.items
    if step == REST:
        return node.items[1:]
    if step in MANY:
        return [member.value for member in node.members if _is_meant(member.key, step)]
    if step.startswith(NESTED):
        return [*_nested_nodes(node, step[1:])]
    value = node.get(step)
    return [value] if value is not None else []


def _is_meant(name: str, step: Step) -> bool:
    """True if a step to many members includes the one with this name."""
    return step == MEMBERS or is_id(name) is (step == IDS)


def is_id(name: str) -> bool:
    """True if a member name looks like an ID: `default`, or a name with a digit. Any other name may have a meaning."""
    return name == "default" or any(map(str.isdigit, name))


def _nested_nodes(node: JsonNode, name: str) -> Iterator[JsonNode]:
    waiting = [node]
    while waiting:
        yield (each := waiting.pop())
        below = each.get(name)
        waiting += reversed(below.items) if below is not None else ()
