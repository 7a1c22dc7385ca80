"""Fast path for list items. Records often differ in their number of messages, but the messages have only a few
shapes."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from viewer.formats.engine.drafts import Draft, RecordReading, read_record
from viewer.formats.engine.known.shapes import Matched, RecordShapes, is_usual
from viewer.formats.tables.model import Inner, RecordFormat, RecordRule
from viewer.syntax.json_lines import LazyNode, read_regular
from viewer.syntax.json_text import JsonNode


class ItemShapes:
    """The shapes of the items in the lists of one input. How a rule reads an item depends only on that item, unless the
    items inherit something."""

    def __init__(self, format: RecordFormat) -> None:
        self._format = format
        self._shapes: dict[int, tuple[RecordRule, RecordShapes]] = {}
        """The shapes of the items that each rule reads, by the identity of the rule."""

    def read(self, rule: RecordRule, item: JsonNode) -> list[Draft] | None:
        """Return the drafts of an item that does not depend on its surroundings, or None if the rules must read the
        item."""
        if type(item) is not LazyNode or type(item.value) is not dict:
            return None
        shapes = self._shapes_of(rule)
        data, base = item.line.data, item.line.base
        known = shapes.match(data, item.start - base)
        if known is None:
            self._learn(shapes, rule, item)
            return None
        shape, spans = known.shape, known.spans
        if not shape.has_objects(data, spans):
            return None
        texts = shape.texts(data, spans, known.texts, shape.needed)
        reading = shape.reading(data, known.start, base, spans, texts)
        return reading.drafts if reading is not None else None

    def match(self, rule: RecordRule, data: bytes | bytearray, at: int) -> Matched | None:
        """Return the match of the item at an index, or None if the item has no known shape."""
        return self._shapes_of(rule).match(data, at)

    def _shapes_of(self, rule: RecordRule) -> RecordShapes:
        known = self._shapes.get(id(rule))
        if known is None:
            facts = {"session": "", "model": "", "version": "", "threads": None, "history": None, "replays": None}
            inner = tuple(_inner_of(self._format, rule.each))
            format = replace(self._format, records=rule.rules, usage=(), inner=inner, keeps_fields=False, **facts)
            known = self._shapes[id(rule)] = rule, RecordShapes(format)
        return known[1]

    @staticmethod
    def _learn(shapes: RecordShapes, rule: RecordRule, item: LazyNode) -> None:
        """Make a shape from an item if enough similar items have come before."""
        if not shapes.is_due(item):
            return
        base = item.line.base
        alone = read_regular(item.line.data[item.start - base : item.end - base], item.start)
        reading = read_record(rule.rules, alone) if alone is not None else None
        if alone is not None and reading is not None and is_usual(reading) and has_only_drafts(reading):
            shapes.make(alone, reading)


def _inner_of(format: RecordFormat, each: str) -> Iterator[str | Inner]:
    """Yield the paths, within the items of a list, of strings that may contain JSON."""
    before = f"{each}."
    for inner in format.inner:
        if isinstance(inner, str):
            choices = [one.removeprefix(before) for one in inner.split("|") if one.startswith(before)]
            if choices:
                yield "|".join(choices)
        elif each in inner.holders.split("|"):
            yield Inner("", inner.path, inner.when, inner.always)
        else:
            holders = [one.removeprefix(before) for one in inner.holders.split("|") if one.startswith(before)]
            paths = [one.removeprefix(before) for one in inner.path.split("|") if one.startswith(before)]
            if holders:
                yield Inner("|".join(holders), inner.path, inner.when, inner.always)
            elif not inner.holders and paths:
                yield Inner("", "|".join(paths), (), inner.always)


def has_only_drafts(reading: RecordReading) -> bool:
    """True if the reading of an item has no effect other than its drafts."""
    return not (reading.starts or reading.exchanges or reading.is_aside or reading.done)
