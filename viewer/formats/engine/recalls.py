"""Recall values from earlier records: a record that only names an ID gets the value that was assigned to that ID."""

from __future__ import annotations

from viewer.formats.engine.conditions import Unreadable, all_hold
from viewer.formats.engine.paths import path, string_at
from viewer.formats.tables.model import Recall
from viewer.syntax.json_text import JsonKind, JsonMember, JsonNode

MOST_RECALLED = 65_536
"""The maximum number of IDs that are remembered for each recalled value. Beyond that, the oldest IDs are forgotten, so
anything that refers to them is hidden."""
CONTRADICTION = "?"
"""The value of an ID to which two records assign different values."""


class Recalls:
    """The values that the records of an input have assigned to IDs so far."""

    def __init__(self, recalls: tuple[Recall, ...]) -> None:
        self._recalls = recalls
        self._known: dict[str, dict[str, str]] = {recall.name: {} for recall in recalls}

    def concern(self, node: JsonNode) -> bool:
        """True if a record may assign or need a value, or already has a member with the name of a recalled value."""
        return any(
            path(at).is_in(node) for recall in self._recalls for at in (recall.needed_by, recall.id, recall.name)
        )

    def apply(self, node: JsonNode) -> None:
        """Remember the values that a record assigns, and add to the record, as members, the values that it needs."""
        for recall in self._recalls:
            self._remember(recall, node)
            known = self._known[recall.name]
            id = string_at(node, recall.needed_by)
            _add(node, recall.name, known.get(id) if id is not None else None)

    def _remember(self, recall: Recall, node: JsonNode) -> None:
        id = string_at(node, recall.id)
        try:
            states = id is not None and all_hold(recall.when, node)
        except Unreadable:
            return
        if id is None or not states:
            return
        known = self._known[recall.name]
        value = _word(node, recall.value)
        before = known.pop(id, value if value is not None else recall.missing)
        known[id] = before if value in (None, before) else CONTRADICTION
        if len(known) > MOST_RECALLED:
            del known[next(iter(known))]


def _word(node: JsonNode, at: str) -> str | None:
    """Return the string, number, or Boolean at a path as a string, or None if there is none."""
    value = path(at).first(node)
    if value is not None and value.kind in (JsonKind.TRUE, JsonKind.FALSE):
        return "true" if value.kind is JsonKind.TRUE else "false"
    return string_at(node, at)


def _add(node: JsonNode, name: str, word: str | None) -> None:
    """Replace any members that have this name with one that has this value, or only remove them if the value is
    None."""
    node.members[:] = [member for member in node.members if member.key != name]
    if word is not None:
        value = JsonNode(JsonKind.STRING, node.start, node.start, text=word, plain=True)
        node.members.append(JsonMember(name, node.start, node.start, value))
    node.forget_index()
    if node.decoded is not None:
        others = {key: value for key, value in node.decoded.items() if key != name}
        node.decoded = others if word is None else {**others, name: word}
