"""Find the data of a shape that is not in its drafts: strings at the paths of a table, and the token usage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from viewer.formats.engine.conditions import Unreadable, holds
from viewer.formats.engine.paths import Path, path
from viewer.formats.engine.usage import model_path, number_paths, number_steps, token_count
from viewer.formats.json.unread import unread_messages
from viewer.formats.tables.model import RecordFormat, Tokens, When
from viewer.model.messages import Usage
from viewer.syntax.json_text import JsonKind, JsonNode

Text = str | int | None
"""A string, the number of the hole that contains it, or None if there is no string."""


class UsageAt(Struct, frozen=True):
    """Where the records of a shape report token usage."""

    rule: int
    """The index of the usage rule in the table."""
    start: int
    """Where the usage value begins in the record from which the shape was made."""
    numbers: tuple[tuple[int, tuple[int, ...]] | None, ...]
    """For each field of `Usage`, the sum of the numbers in the shape itself, and the holes with additional numbers.
    None if there are no numbers."""
    key: Text
    model: Text

    def read(self, texts: Sequence[str | None] | Mapping[int, str | None]) -> Usage | None:
        """Return the usage, or None if one of `texts`, the strings in the holes, is not a count."""
        sums: list[int | None] = []
        for number in self.numbers:
            total = None
            if number is not None:
                total, holes = number
                for hole in holes:
                    count = token_count(texts[hole] or "")
                    if count is None:
                        return None
                    total += count
            sums.append(total)
        return Usage(*sums)

    @property
    def holes(self) -> Iterator[int]:
        """The holes with numbers or strings of the token usage."""
        for number in self.numbers:
            yield from number[1] if number is not None else ()
        yield from (each for each in (self.key, self.model) if isinstance(each, int))


def holes_of(field: object) -> Iterator[int]:
    """Yield the holes in a member that is not part of a message."""
    if isinstance(field, int):
        yield field
    elif isinstance(field, dict | list):
        for one in field.values() if isinstance(field, dict) else field:
            yield from holes_of(one)


class _UncertainError(Exception):
    """The value at a path may be inside a hole."""


class FactFinder:
    """Finds the data of one record that is not in its drafts. `holes` maps the offset of each hole to its number."""

    def __init__(self, format: RecordFormat, record: JsonNode, holes: dict[int, int]) -> None:
        self._format = format
        self._record = record
        self._holes = holes

    def strings(self) -> dict[str, Text]:
        """Return the strings at the paths that are read for every record, except uncertain ones."""
        format, found = self._format, dict[str, Text]()
        at = [format.session, format.model, format.version]
        if format.threads is not None:
            at += [format.threads.id, format.threads.parent]
        if format.history is not None:
            at += [format.history.id, format.history.previous]
        if format.usage:
            at += [model_path(format.model), *(tokens.key for tokens in format.usage)]
        for text in at:
            try:
                if text:
                    found[text] = self._string(text)
            except _UncertainError:
                continue
        return found

    def fields(self, fields: dict[str, object], read: frozenset[str]) -> dict[str, object] | None:
        """Return these members, with the numbers of holes in place of values in holes. Return None if an object is in a
        hole, or if a member other than those that rules read may contain messages."""
        found: dict[str, object] = {}
        for member in self._record.members:
            value = member.value
            if member.key not in read and next(unread_messages(value), None) is not None:
                return None
            if member.key in fields:
                if self._has_object(value):
                    return None
                found[member.key] = self._field(value, fields[member.key])
            elif member.key not in read and self._has_object(value):
                return None
        return found

    def _field(self, node: JsonNode, value: object) -> object:
        """Return a value with the numbers of holes in place of values in holes."""
        hole = self._holes.get(node.start)
        if hole is not None:
            return hole
        if isinstance(value, dict):
            return {member.key: self._field(member.value, value[member.key]) for member in node.members}
        if isinstance(value, list):
            return [self._field(item, one) for item, one in zip(node.items, value, strict=True)]
        return value

    def _has_object(self, value: JsonNode) -> bool:
        """True if an object in a value is a hole."""
        inner = (*value.items, *(member.value for member in value.members))
        is_hole = value.kind is JsonKind.OBJECT and value.start in self._holes
        return is_hole or any(map(self._has_object, inner))

    def usage(self) -> list[UsageAt] | None:
        """Return the token usage, or None if it is uncertain."""
        try:
            found = [self._usage(index, tokens) for index, tokens in enumerate(self._format.usage)]
        except (_UncertainError, Unreadable):
            return None
        return [each for each in found if each is not None]

    def _usage(self, index: int, tokens: Tokens) -> UsageAt | None:
        if tokens.each:
            if self._is_absent(path(tokens.each)):
                return None
            raise _UncertainError
        value = self._first(path(tokens.at)) if tokens.at else self._record
        if value is None or value.kind is not JsonKind.OBJECT or not all(map(self._holds, tokens.when)):
            return None
        numbers = tuple(self._number(paths, value) for paths in number_paths(tokens))
        if not any(numbers):
            return None
        key = self._string(tokens.key) if tokens.key else None
        return UsageAt(index, value.start, numbers, key, self._string(model_path(self._format.model)))

    def _number(self, paths: tuple[str, ...], node: JsonNode) -> tuple[int, tuple[int, ...]] | None:
        """Return the sum of the known numbers at these paths, and the holes with unknown ones, or None if there are no
        numbers."""
        total, holes = None, list[int]()
        for choices in number_steps(paths):
            for steps in choices:
                value = self._at(node, steps)
                if value is None or value.kind not in (JsonKind.NUMBER, JsonKind.STRING):
                    continue
                hole = self._holes.get(value.start)
                if hole is not None and value.kind is JsonKind.STRING:
                    raise _UncertainError
                count = token_count(value.text)
                if hole is not None:
                    total = total or 0
                    holes.append(hole)
                    break
                if count is not None:
                    total = (total or 0) + count
                    break
        return (total, tuple(holes)) if total is not None else None

    def _holds(self, when: When) -> bool:
        value = self._first(path(when.path))
        is_in_hole = value is not None and value.start in self._holes
        if is_in_hole and when != When(when.path, present=when.present, kind=when.kind):
            raise _UncertainError
        return holds(when, self._record)

    def _string(self, text: str) -> Text:
        """Return the string or number at a path, or the number of the hole that contains it; None if there is
        neither."""
        value = self._first(path(text))
        if value is None or value.kind not in (JsonKind.STRING, JsonKind.NUMBER):
            if value is not None and value.start in self._holes:
                raise _UncertainError
            return None
        return self._holes.get(value.start, value.text)

    def _first(self, at: Path) -> JsonNode | None:
        """Return the first value at a path that is not null, or None if there is none."""
        if at.keys is None:
            raise _UncertainError
        for keys in at.keys:
            value = self._at(self._record, keys)
            if value is not None and value.kind is not JsonKind.NULL:
                return value
        return None

    def _is_absent(self, at: Path) -> bool:
        """True if there is certainly no value at a path."""
        if not at.choices:
            return False
        return all(self._ends_early(self._record, steps) for steps in at.choices)

    def _ends_early(self, node: JsonNode, steps: Iterable[str | int]) -> bool:
        names = [*steps]
        plain = [step for step in names if isinstance(step, str) and step[:1] not in ("[", "*")]
        first = next((at for at, step in enumerate(names) if step not in plain), len(names))
        value = self._at(node, names[:first])  # type: ignore[arg-type]
        return value is None or value.kind is JsonKind.NULL

    def _at(self, node: JsonNode, keys: Iterable[str]) -> JsonNode | None:
        """Return the value that these member names lead to, or None if there is none."""
        value: JsonNode | None = node
        for key in keys:
            if value is None:
                return None
            if value.kind is JsonKind.OBJECT and value.start in self._holes:
                raise _UncertainError
            value = value.get(key)
        return value
