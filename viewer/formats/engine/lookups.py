"""Resolve references in a record: replace them with text from elsewhere in the record."""

from __future__ import annotations

from viewer.formats.engine.paths import path
from viewer.formats.tables.model import Lookup
from viewer.model.diagnostic import Problem
from viewer.rules.structure import W_CONTENT_MISSING
from viewer.syntax.json_text import JsonKind, JsonNode


def look_up(node: JsonNode, lookup: Lookup) -> list[Problem]:
    """Replace each reference with the text that it names, or with null if there is no such text. Return a problem for
    each null. The text keeps its own position in the input."""
    holder = path(lookup.at).first(node)
    texts = {member.key: member.value for member in holder.members} if holder is not None else {}
    problems: list[Problem] = []
    waiting = [node]
    while waiting:
        found = waiting.pop()
        for member in found.members:
            if member.value is not holder:
                member.value = _resolved(member.value, lookup, texts, problems)
                waiting.append(member.value)
        for index, item in enumerate(found.items):
            found.items[index] = _resolved(item, lookup, texts, problems)
            waiting.append(found.items[index])
        found.forget_index()
    return sorted(problems, key=lambda problem: problem.start)


def _resolved(value: JsonNode, lookup: Lookup, texts: dict[str, JsonNode], problems: list[Problem]) -> JsonNode:
    if value.kind is not JsonKind.STRING or not value.text.startswith(lookup.prefix):
        return value
    text = texts.get(value.text.removeprefix(lookup.prefix))
    if text is not None and text.kind is JsonKind.STRING and text.closed and not text.text.startswith(lookup.prefix):
        return text
    problems.append(Problem(W_CONTENT_MISSING, None, value.start, value.end))
    return JsonNode(JsonKind.NULL, value.start, value.end)
