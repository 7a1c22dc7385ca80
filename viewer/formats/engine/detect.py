"""Detect a record format by the signatures in its table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from viewer.formats.engine.paths import path
from viewer.formats.tables.model import RecordFormat, Signature
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_RECORDS = 64
"""The maximum number of records to match. Using several keeps one unusual first line from deciding."""


class Match(Struct, frozen=True):
    """How well a format fits."""

    format: str
    score: int
    reason: str


Needs = tuple[tuple[str, ...], ...]
"""For each path that must have a value, the names of which a record must have one."""
Fields = tuple[int, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...], tuple[str, ...], tuple[str, ...], bool]
Row = tuple[str, bool, Needs, Fields]
"""A signature: the name of its format, whether the format reads batches, the names that a record must have, rarest
first, and the fields of the signature."""


def rank(formats: Iterable[RecordFormat], values: Sequence[JsonNode]) -> list[Match]:
    """Return the formats that fit, best first. If two fit equally well, their order decides."""
    return _ranked(_signatures(tuple(formats)), values)


def rank_built_in(values: Sequence[JsonNode]) -> list[Match]:
    """Return the built-in formats that fit, best first, without loading their tables."""
    return _ranked(_built_in(), values)


def _ranked(signatures: _Signatures, values: Sequence[JsonNode]) -> list[Match]:
    records = _records(values)
    in_batches = not records
    if in_batches:
        records = _records([item for value in values for item in value.items if item.kind is JsonKind.ARRAY])
    possible = {names: signatures.that_may_fit(names, in_batches) for names in {record.names for record in records}}
    found: list[Match] = []
    for place in sorted({place for places in possible.values() for place in places}):
        format = signatures.formats[place]
        matched = _match(format, {names: places.get(place, ()) for names, places in possible.items()}, records)
        if matched:
            found.append(matched)
    return sorted(found, key=lambda match: -match.score)


def rows_of(formats: Iterable[RecordFormat]) -> tuple[Row, ...]:
    """Return a row for each signature, in order."""
    rows = [
        (format, signature, {heads for at in _paths(signature) if (heads := path(at).heads) is not None})
        for format in formats
        for signature in format.signatures
    ]
    often = Counter(name for _, _, needs in rows for heads in needs for name in heads)

    def rarity(heads: frozenset[str]) -> tuple[int, list[str]]:
        return sum(often[name] for name in heads), sorted(heads)

    return tuple(
        (
            format.name,
            format.batches,
            tuple(tuple(sorted(heads)) for heads in sorted(needs, key=rarity)),
            _fields(signature),
        )
        for format, signature, needs in rows
    )


def _fields(signature: Signature) -> Fields:
    any_of = tuple((at, tuple(sorted(words))) for at, words in signature.any_of.items())
    none_of, members = signature.none_of, signature.members
    return signature.score, signature.need, any_of, none_of, members, signature.decides


def _signature(fields: Fields) -> Signature:
    score, need, any_of, none_of, members, decides = fields
    return Signature(score, need, {at: frozenset(words) for at, words in any_of}, none_of, members, decides)


class _Signatures:
    """The signatures of all formats, indexed by the rarest member names that a matching record must have."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.formats = [*dict.fromkeys(row[0] for row in rows)]
        places = {format: place for place, format in enumerate(self.formats)}
        self._rows = [(places[format], batches, needs, fields) for format, batches, needs, fields in rows]
        self._built: dict[int, Signature] = {}
        self._anywhere: list[int] = []
        self._by_name: dict[str, list[int]] = {}
        for number, (_, _, needs, _) in enumerate(rows):
            if not needs:
                self._anywhere.append(number)
                continue
            for name in needs[0]:
                self._by_name.setdefault(name, []).append(number)

    def that_may_fit(self, names: frozenset[str], in_batches: bool) -> dict[int, list[Signature]]:
        """Return the signatures that a record with these member names may match, by the index of their format."""
        numbers = {*self._anywhere, *(number for name in names for number in self._by_name.get(name, ()))}
        found: dict[int, list[Signature]] = {}
        for number in sorted(numbers):
            place, reads_batches, needs, fields = self._rows[number]
            if (in_batches and not reads_batches) or any(map(names.isdisjoint, needs)):
                continue
            signature = self._built.get(number) or self._built.setdefault(number, _signature(fields))
            if not signature.members or any(name.startswith(signature.members) for name in names):
                found.setdefault(place, []).append(signature)
        return found


@lru_cache(8)  # independent of inputs, so `clear_caches` need not clear it
def _signatures(formats: tuple[RecordFormat, ...]) -> _Signatures:
    return _Signatures(rows_of(formats))


@lru_cache(1)  # independent of inputs, so `clear_caches` need not clear it
def _built_in() -> _Signatures:
    from viewer.formats.signatures import ROWS

    return _Signatures(ROWS)


class _Record(dict[str, list[JsonNode]]):
    """The non-null values of a record, by path. They are found on first access, because many signatures ask for the
    same paths."""

    def __init__(self, node: JsonNode) -> None:
        self.names = frozenset(member.key for member in node.members)
        self._node = node

    def __missing__(self, at: str) -> list[JsonNode]:
        self[at] = found = path(at).all(self._node)
        return found


def _records(values: Sequence[JsonNode]) -> list[_Record]:
    records: list[JsonNode] = []
    for value in values:
        records += value.items if value.kind is JsonKind.ARRAY else [value]
    return [_Record(record) for record in [each for each in records if each.kind is JsonKind.OBJECT][:MOST_RECORDS]]


def _match(format: str, possible: Mapping[frozenset[str], Sequence[Signature]], records: list[_Record]) -> Match | None:
    """Return how well a format fits the records, or None if it does not. `possible` contains the signatures to try for
    each set of member names."""
    best: Signature | None = None
    fitting = 0
    decides = False
    for record in records:
        signature = next((each for each in possible[record.names] if _fits(each, record)), None)
        if signature is not None:
            fitting += 1
            decides = decides or signature.decides
            best = signature if best is None or signature.score > best.score else best
    if best is None:
        return None
    score = best.score if decides or fitting * 2 >= len(records) else best.score // 2
    return Match(format, score, reason(best))


def _paths(signature: Signature) -> Iterator[str]:
    """Yield the paths that must have a value."""
    yield from signature.need
    yield from signature.any_of


def _fits(signature: Signature, record: _Record) -> bool:
    """True if the values in a record meet all requirements of a signature. The member names have already been
    checked."""
    if not all(record[at] for at in signature.need) or any(record[at] for at in signature.none_of):
        return False
    return all(_has_word(record[at], words) for at, words in signature.any_of.items())


def _has_word(values: list[JsonNode], words: frozenset[str]) -> bool:
    for value in values:
        if value.kind not in (JsonKind.STRING, JsonKind.NUMBER):
            continue
        if value.text in words or any(word[-1:] == "*" and value.text.startswith(word[:-1]) for word in words):
            return True
    return False


def reason(signature: Signature) -> str:
    """Return a description of what the records of a signature have in common."""
    keys = [
        *signature.need,
        *(f"{each}…" for each in signature.members),
        *(each for each in signature.any_of if each not in signature.need),
    ]
    *others, last = [f"`{key}`" for key in keys[:4]]
    if not others:
        return f"records with {last}"
    return f"records with {', '.join(others)}{',' if len(others) > 1 else ''} and {last}"
