"""Comparison of two transcripts: rows, their changes, renamed call IDs, and totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from viewer.document.projection import Projection
from viewer.document.values import ShownMessage, ShownStray, ShownTranscript
from viewer.insight.align import Row, Work, align
from viewer.insight.compared import CALL, REPLY, Numbers, Side, Spelling, group_of
from viewer.insight.json_changes import PathChange, json_changes, json_container
from viewer.insight.text_changes import TextChange, text_change

Item = ShownMessage | ShownStray


class RowKind(Enum):
    """The kind of a row."""

    SAME = "same"
    CHANGED = "changed"
    ONLY_A = "only_a"
    ONLY_B = "only_b"


class FieldChange(Struct, frozen=True, gc=False):
    """A header field with a different value."""

    name: str
    old: str | None
    new: str | None


class Change(Struct, frozen=True):
    """How a message differs from its counterpart. A part that is equal on both sides is empty."""

    moved: bool = False
    fields: Sequence[FieldChange] = ()
    text: TextChange | None = None
    paths: Sequence[PathChange] = ()
    """The changes by path, if both bodies are JSON."""

    @property
    def kinds(self) -> list[str]:
        """The kinds of changes: `moved`, `header`, `text`, `arguments`."""
        found = {"moved": self.moved, "header": self.fields, "text": self.text, "arguments": self.paths}
        return [kind for kind, value in found.items() if value]


class Totals(Struct, frozen=True):
    """Counts of the rows of a comparison."""

    same: int
    changed: int
    only_a: int
    only_b: int
    first: tuple[int | None, int | None] | None
    """The numbers of the first messages that differ; None if no messages differ."""

    @property
    def differ(self) -> bool:
        """True if there is any difference."""
        return self.first is not None


class Comparison:
    """The aligned messages of two projections. The alignment uses only what both audiences see."""

    def __init__(
        self,
        a: Projection | None,
        b: Projection | None,
        spelling: Spelling = Spelling(),  # noqa: B008 - it is frozen
        channels: frozenset[str] = frozenset(),
        work: Work = lambda: None,
    ) -> None:
        """A side without a projection has no messages. `work` is called regularly and may raise an exception to
        stop."""
        formats = [{each.format for each in side.transcripts()} if side else set() for side in (a, b)]
        self.spelling = spelling = replace(spelling, other_fields=formats[0] == formats[1])
        numbers = Numbers()
        self.sides = Side(a, numbers, spelling, channels, work), Side(b, numbers, spelling, channels, work)
        self.rows = align(*self.sides, work)
        self._renamed, self._conflicts = self._match_ids()

    def kind(self, row: Row) -> RowKind:
        """Return the kind of a row without reading its messages."""
        if row.b < 0:
            return RowKind.ONLY_A
        if row.a < 0:
            return RowKind.ONLY_B
        a, b = self.sides
        is_same = a.key[row.a] == b.key[row.b] and a.header[row.a] == b.header[row.b]
        return RowKind.SAME if is_same and not row.moved and row.a not in self._conflicts else RowKind.CHANGED

    def items(self, row: Row) -> tuple[Item | None, Item | None]:
        """Return the messages of a row, read again; None for a side that has no message."""
        a, b = self.sides
        return a.item(row.a) if row.a >= 0 else None, b.item(row.b) if row.b >= 0 else None

    def item(self, row: Row) -> Item:
        """Return the message of A, or of B if only B has one."""
        a, b = self.sides
        return a.item(row.a) if row.a >= 0 else b.item(row.b)

    def numbers(self, row: Row) -> tuple[int | None, int | None]:
        """Return the message numbers of a row, in the audience's numbering; None for a side that has no message."""
        a, b = self.sides
        return a.number[row.a] if row.a >= 0 else None, b.number[row.b] if row.b >= 0 else None

    def change(
        self, row: Row, items: tuple[Item | None, Item | None] | None = None, *, by_lines: bool = False
    ) -> Change:
        """Return the changes between the messages of a pair. `items` are these messages, if they were already read."""
        first, second = items or self.items(row)
        assert first is not None and second is not None
        fields = [*self._fields(row, first, second)]
        a, b = self.sides
        if a.key[row.a] == b.key[row.b] and first.body == second.body:
            return Change(row.moved, fields)
        old, new = json_container(first.body), json_container(second.body)
        if old is not None and new is not None:
            paths = json_changes(old, new, strict=self.spelling.strict_json)
            return Change(row.moved, fields, paths=paths)
        if (old is None) != (new is None) and group_of(first)[0] == CALL:
            return Change(row.moved, fields, paths=[PathChange("", "type", first.body, second.body)])
        if first.body == second.body:
            return Change(row.moved, fields)
        return Change(row.moved, fields, text_change(first.body, second.body, by_lines=by_lines))

    @property
    def renamed_ids(self) -> Mapping[str, str]:
        """The call IDs of A that differ in B, with their counterparts in B."""
        return {old: new for old, new in self._renamed.items() if old != new}

    @property
    def transcript_changes(self) -> list[tuple[int, int, list[FieldChange]]]:
        """The document headers that differ, with the numbers of their transcripts. Empty unless spelling matters."""
        if not self.spelling.strict:
            return []
        found = []
        for first, second in zip(*(side.parts for side in self.sides), strict=False):
            if first.transcript is not None and second.transcript is not None:
                fields = [*_field_changes(*map(_transcript_fields, (first.transcript, second.transcript)))]
                found += [(first.transcript.number, second.transcript.number, fields)] if fields else []
        return found

    def totals(self) -> Totals:
        """Return the counts of all rows."""
        found = self._count(self.rows)
        if not found.differ and self.transcript_changes:
            return replace(found, first=(None, None))
        return found

    def by_channel(self) -> dict[str, Totals]:
        """Return the counts of the rows of each channel."""
        rows: dict[str, list[Row]] = {}
        for row in self.rows:
            rows.setdefault(self.channel(row), []).append(row)
        return {channel: self._count(found) for channel, found in rows.items()}

    def _count(self, rows: Sequence[Row]) -> Totals:
        kinds = list(map(self.kind, rows))
        first = next(
            (self.numbers(row) for row, kind in zip(rows, kinds, strict=True) if kind is not RowKind.SAME), None
        )
        same, changed, only_a, only_b = map(kinds.count, RowKind)
        return Totals(same, changed, only_a, only_b, first)

    def channel(self, row: Row) -> str:
        """Return the channel of the message in A, or in B if only B has the message."""
        side, position = (self.sides[0], row.a) if row.a >= 0 else (self.sides[1], row.b)
        return side.channel(position)

    def is_call(self, row: Row) -> bool:
        """True if the row is a call or a reply."""
        side, position = (self.sides[0], row.a) if row.a >= 0 else (self.sides[1], row.b)
        return side.is_linked(position)

    def _fields(self, row: Row, first: Item, second: Item) -> Iterator[FieldChange]:
        if isinstance(first, ShownMessage) and isinstance(second, ShownMessage):
            a, b = self.sides
            yield from _field_changes(a.fields(first, self.spelling), b.fields(second, self.spelling))
            if row.a in self._conflicts:
                yield FieldChange("call id", first.call_id, second.call_id)
            if group_of(first)[0] in (CALL, REPLY) and a.tool[row.a] != b.tool[row.b] and not self.spelling.strict:
                names = [each.recipient if each.message_kind == CALL else each.name for each in (first, second)]
                yield FieldChange("tool", *names)

    def _match_ids(self) -> tuple[dict[str, str], set[int]]:
        """Return the counterpart in B of each call ID of A, and the positions in A whose IDs do not match."""
        forward: dict[str, str] = {}
        back: dict[str, str] = {}
        conflicts = set[int]()
        for row in self.rows:
            old, new = self.sides[0].call_ids.get(row.a), self.sides[1].call_ids.get(row.b)
            if row.a < 0 or row.b < 0 or (old is None and new is None):
                continue
            if self.spelling.strict:
                if old != new:
                    conflicts.add(row.a)
            elif (
                old is not None
                and new is not None
                and (forward.setdefault(old, new), back.setdefault(new, old))
                != (
                    new,
                    old,
                )
            ):
                conflicts.add(row.a)
        return forward, conflicts


def _transcript_fields(transcript: ShownTranscript) -> dict[str, str | bool | None]:
    others: dict[str, str | bool | None] = {str(key): str(value) for key, value in (transcript.header or {}).items()}
    return {"version": transcript.version, "model": transcript.model, **others}


def _field_changes(old: Mapping[str, str | bool | None], new: Mapping[str, str | bool | None]) -> Iterator[FieldChange]:
    for name in {**old, **new}:
        before, after = old.get(name), new.get(name)
        if before != after:
            yield FieldChange(name.removesuffix("="), _text(before), _text(after))


def _text(value: str | bool | None) -> str | None:
    return ("yes" if value else "no") if isinstance(value, bool) else value
