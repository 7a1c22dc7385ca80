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


def rank(formats: Iterable[RecordFormat], values: Sequence[JsonNode]) -> list[Match]:
    """Return the formats that fit, best first. If two fit equally well, the order of the table decides."""
    formats = tuple(formats)
    records = _records(values)
    if not records:
        formats = tuple(format for format in formats if format.batches)
        records = _records([item for value in values for item in value.items if item.kind is JsonKind.ARRAY])
    signatures = _signatures(formats)
    possible = {names: signatures.that_may_fit(names) for names in {record.names for record in records}}
    found: list[Match] = []
    for place in sorted({place for places in possible.values() for place in places}):
        matched = _match(formats[place], {names: places.get(place, ()) for names, places in possible.items()}, records)
        if matched:
            found.append(matched)
    return sorted(found, key=lambda match: -match.score)


class _Signatures:
    """The signatures of all formats, indexed by the rarest member names that a matching record must have."""

    def __init__(self, formats: Sequence[RecordFormat]) -> None:
        rows = [(place, signature) for place, format in enumerate(formats) for signature in format.signatures]
        needs = [[heads for at in _paths(signature) if (heads := path(at).heads) is not None] for _, signature in rows]
        often = Counter(name for choices in needs for heads in choices for name in heads)
        self._rows = rows
        self._anywhere: list[int] = []
        self._by_name: dict[str, list[int]] = {}
        for number, choices in enumerate(needs):
            if not choices:
                self._anywhere.append(number)
                continue
            for name in min(choices, key=lambda heads: sum(often[name] for name in heads)):
                self._by_name.setdefault(name, []).append(number)

    def that_may_fit(self, names: frozenset[str]) -> dict[int, list[Signature]]:
        """Return the signatures that a record with these member names may match, by the index of their format."""
        numbers = {*self._anywhere, *(number for name in names for number in self._by_name.get(name, ()))}
        found: dict[int, list[Signature]] = {}
        for place, signature in map(self._rows.__getitem__, sorted(numbers)):
            if _may_fit(signature, names):
                found.setdefault(place, []).append(signature)
        return found


@lru_cache(8)  # independent of inputs, so `clear_caches` need not clear it
def _signatures(formats: tuple[RecordFormat, ...]) -> _Signatures:
    return _Signatures(formats)


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


def _match(
    format: RecordFormat, possible: Mapping[frozenset[str], Sequence[Signature]], records: list[_Record]
) -> Match | None:
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
    return Match(format.name, score, reason(best))


def _paths(signature: Signature) -> Iterator[str]:
    """Yield the paths that must have a value."""
    yield from signature.need
    yield from signature.any_of


def _may_fit(signature: Signature, names: frozenset[str]) -> bool:
    """False if no record with these member names fits the signature."""
    for at in _paths(signature):
        heads = path(at).heads
        if heads is not None and heads.isdisjoint(names):
            return False
    return not signature.members or any(name.startswith(signature.members) for name in names)


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
