"""Detect a record format by the signatures in its table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from viewer.formats.engine.paths import path
from viewer.formats.tables.model import RecordFormat, Signature
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_RECORDS = 64
"""The number of records that count as evidence, so that one odd first line does not decide."""


class Match(Struct, frozen=True):
    """How well a format fits."""

    format: str
    score: int
    reason: str


def rank(formats: Iterable[RecordFormat], values: Sequence[JsonNode]) -> list[Match]:
    """Return the formats that fit, best first. If two fit equally well, the order of the table decides."""
    records = _records(values)
    shapes = {record.names for record in records}
    found: list[Match] = []
    for format in formats:
        possible = {names: [each for each in format.signatures if _may_fit(each, names)] for names in shapes}
        if any(possible.values()) and (match := _match(format, possible, records)):
            found.append(match)
    return sorted(found, key=lambda match: -match.score)


class _Record(dict[str, list[JsonNode]]):
    """The values of a record by path, without null. They are found on first access, because many signatures ask for the
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
    format: RecordFormat, possible: Mapping[frozenset[str], list[Signature]], records: list[_Record]
) -> Match | None:
    """Return how well a format fits the records. `possible` holds, for each set of member names, the signatures to
    try."""
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


def _may_fit(signature: Signature, names: frozenset[str]) -> bool:
    """False if no record with these member names fits. An input has few different sets of names."""
    for at in (*signature.need, *signature.any_of):
        heads = path(at).heads
        if heads is not None and heads.isdisjoint(names):
            return False
    return not signature.members or any(name.startswith(signature.members) for name in names)


def _fits(signature: Signature, record: _Record) -> bool:
    """True if the values in a record meet all requirements of a signature. Its member names were checked before."""
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
    """Return what the records of a signature have in common."""
    keys = [
        *signature.need,
        *(f"{each}…" for each in signature.members),
        *(each for each in signature.any_of if each not in signature.need),
    ]
    names = [f"`{key}`" for key in keys[:4]]
    return "records with " + (" and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0])
