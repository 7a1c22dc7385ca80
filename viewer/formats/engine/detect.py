"""Detect a record format by the signatures in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from viewer.formats.engine.paths import path
from viewer.formats.tables.model import RecordFormat, Signature
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_RECORDS = 64
"""How many records count as evidence, so that one odd first line does not decide."""


class Match(Struct, frozen=True):
    """How well a format fits."""

    format: str
    score: int
    reason: str


def rank(formats: Iterable[RecordFormat], values: Sequence[JsonNode]) -> list[Match]:
    """The formats that fit, best first. If two fit equally well, the order of the table decides."""
    records = _records(values)
    found = [match for format in formats if (match := _match(format, records))]
    return sorted(found, key=lambda match: -match.score)


def _records(values: Sequence[JsonNode]) -> list[JsonNode]:
    records: list[JsonNode] = []
    for value in values:
        records += value.items if value.kind is JsonKind.ARRAY else [value]
    return [record for record in records if record.kind is JsonKind.OBJECT][:MOST_RECORDS]


def _match(format: RecordFormat, records: list[JsonNode]) -> Match | None:
    best: Signature | None = None
    fitting = 0
    decides = False
    for record in records:
        signature = next((each for each in format.signatures if _fits(each, record)), None)
        if signature is not None:
            fitting += 1
            decides = decides or signature.decides
            best = signature if best is None or signature.score > best.score else best
    if best is None:
        return None
    score = best.score if decides or fitting * 2 >= len(records) else best.score // 2
    return Match(format.name, score, reason(best))


def _fits(signature: Signature, record: JsonNode) -> bool:
    if any(path(each).first(record) is None for each in signature.need):
        return False
    if any(path(each).first(record) is not None for each in signature.none_of):
        return False
    if signature.members and not any(member.key.startswith(signature.members) for member in record.members):
        return False
    return all(_has_word(record, each, words) for each, words in signature.any_of.items())


def _has_word(record: JsonNode, at: str, words: frozenset[str]) -> bool:
    for value in path(at).all(record):
        if value.kind not in (JsonKind.STRING, JsonKind.NUMBER):
            continue
        if value.text in words or any(word[-1:] == "*" and value.text.startswith(word[:-1]) for word in words):
            return True
    return False


def reason(signature: Signature) -> str:
    """What the records of a signature have in common."""
    keys = [
        *signature.need,
        *(f"{each}…" for each in signature.members),
        *(each for each in signature.any_of if each not in signature.need),
    ]
    names = [f"`{key}`" for key in keys[:4]]
    return "records with " + (" and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0])
