"""Merge the rows of several inputs, ordered by time.

The content of a row comes from its own input. Only the times of shown messages are used. Hidden messages follow the
shown message before them, so the order reveals nothing about when they were written."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct

from viewer.document.projection import Projection
from viewer.document.rows import RowKind, Rows

_LATER = 1 << 62
"""The key of rows before any shown message. Such rows come last until a message is shown."""


class MergedPlace(Struct, frozen=True, gc=False):
    """A row of one of the inputs."""

    source: int
    row: int


class Arrivals:
    """The times at which the messages of an input were read, for messages without a time. Everything that is read
    before every input has caught up counts as having arrived at the same time, so the result does not depend on message
    sizes or the order of reading."""

    def __init__(self) -> None:
        self._firsts = array("I")
        self._stamps = array("q")

    def note(self, count: int, stamp: int) -> None:
        """Record that the messages after the first `count` arrive at this time."""
        if self._stamps and self._stamps[-1] == stamp:
            return
        if self._firsts and self._firsts[-1] == count + 1:
            self._stamps[-1] = stamp
            return
        self._firsts.append(count + 1)
        self._stamps.append(stamp)

    def of(self, number: int) -> int:
        """Return the time at which a message arrived, or 0 if none was recorded."""
        place = bisect_left(self._firsts, number + 1) - 1
        return self._stamps[place] if place >= 0 else 0


class _Keys:
    """The sort key of each row of one input: never less than the key of the previous row."""

    def __init__(self, projection: Projection, rows: Rows, arrivals: Arrivals) -> None:
        self._time_of = projection.time_finder()
        self.rows = rows
        self._arrivals = arrivals
        self.keys = array("q")
        self._has_time = False
        """True once a shown message with a time has been found."""

    def update(self, changed: int) -> int:
        """Compute the keys from this row on, and those before it that depend on them. Return the first row whose key
        was computed."""
        rows = self.rows
        if not self._has_time and (first := self._first_time(changed)) is not None:
            self._has_time, changed = True, 0
            start: int | None = first
        else:
            start = None
        while changed and self.keys[changed - 1] == _LATER:
            changed -= 1
        del self.keys[changed:]
        key = self.keys[-1] if changed else start
        for row in range(changed, len(rows)):
            if rows.kind(row) is RowKind.MESSAGE:
                own = self._key_of(rows.value(row), key)
                key = own if key is None else max(key, own)
            self.keys.append(_LATER if key is None else key)
        if key is not None:
            first_shown = next((at for at in range(changed, len(rows)) if self.keys[at] != _LATER), len(rows))
            for row in range(changed, first_shown):
                self.keys[row] = self.keys[first_shown]
        return changed

    def _key_of(self, number: int, before: int | None) -> int:
        time = self._time_of(number)
        if time is not None:
            return time
        return before if self._has_time and before is not None else self._arrivals.of(number)

    def _first_time(self, changed: int) -> int | None:
        rows = self.rows
        shown = (rows.value(row) for row in range(changed, len(rows)) if rows.kind(row) is RowKind.MESSAGE)
        return next((time for time in map(self._time_of, shown) if time is not None), None)


class MergedRows:
    """The merged rows of several inputs. Message numbers also identify the input: see `number_of`."""

    def __init__(self, sources: int) -> None:
        self._sources: list[_Keys | None] = [None] * sources
        self._keys = array("q")
        self._of = array("H")
        """The input of each merged row."""
        self._rows = array("I")
        """The row of each merged row in its input."""
        self._places: list[array[int]] = [array("I") for _ in range(sources)]
        """For each input, the merged row of each of its rows."""

    def show(self, source: int, projection: Projection, rows: Rows, arrivals: Arrivals) -> None:
        """Use these rows for an input from now on. The next `sort` or `extend` merges them."""
        self._sources[source] = _Keys(projection, rows, arrivals)

    def sort(self) -> None:
        """Merge all rows again."""
        self.extend([0] * len(self._sources))

    def extend(self, changed: Sequence[int | None]) -> int:
        """Merge the new rows. `changed` contains, for each input, its first changed row, or None if it has none. Return
        the first merged row that may have changed."""
        keep = len(self._keys)
        for source, (keys, first) in enumerate(zip(self._sources, changed, strict=True)):
            if keys is None or first is None:
                continue
            places = self._places[source]
            first = keys.update(min(first, len(keys.keys)))
            keep = min(keep, places[first] if first < len(places) else keep)
            if first < len(keys.keys):
                keep = min(keep, self._place_of_key(keys.keys[first], source))
        self._merge_from(keep)
        return keep

    def _place_of_key(self, key: int, source: int) -> int:
        """Return the merged row before which a row with this key belongs."""
        place = bisect_left(self._keys, key)
        while place < len(self._keys) and self._keys[place] == key and self._of[place] < source:
            place += 1
        return place

    def _merge_from(self, keep: int) -> None:
        for column in (self._keys, self._of, self._rows):
            del column[keep:]
        streams = []
        for source, (keys, places) in enumerate(zip(self._sources, self._places, strict=True)):
            del places[bisect_left(places, keep) :]
            if keys is not None:
                rows = range(len(places), len(keys.keys))
                streams.append([(keys.keys[row], source, row) for row in rows])
        for key, source, row in sorted(chain.from_iterable(streams)):
            self._places[source].append(len(self._keys))
            self._keys.append(key)
            self._of.append(source)
            self._rows.append(row)

    # Merged rows, and the rows of an input.

    def place(self, row: int) -> MergedPlace:
        """Return the input of a merged row, and the number of its row in that input."""
        return MergedPlace(self._of[row], self._rows[row])

    def row_at(self, place: MergedPlace) -> int:
        """Return the merged row that corresponds to a row of an input."""
        return self._places[place.source][place.row]

    def number_of(self, source: int, number: int) -> int:
        """Return the number that identifies a message among the messages of all inputs."""
        return number * len(self._sources) + source

    def message_of(self, number: int) -> tuple[int, int]:
        """Return the input of a message and its number there."""
        number, source = divmod(number, len(self._sources))
        return source, number

    # The interface that a transcript pane needs.

    def __len__(self) -> int:
        return len(self._keys)

    def kind(self, row: int) -> RowKind:
        """Return the kind of a row."""
        return self._rows_of(self._of[row]).kind(self._rows[row])

    def value(self, row: int) -> int:
        """Return the number of the message or call, the index of the stray text, or the count of hidden or folded
        messages."""
        value = self._rows_of(self._of[row]).value(self._rows[row])
        is_number = self.kind(row) in (RowKind.MESSAGE, RowKind.CALL, RowKind.STRAY)
        return self.number_of(self._of[row], value) if is_number else value

    def last_number(self, row: int) -> int:
        """Return the last message, up to this row, of the input to which the row belongs."""
        return self.number_of(self._of[row], self._rows_of(self._of[row]).last_number(self._rows[row]))

    def row_of(self, number: int) -> int:
        """Return the row that shows or hides a message, or the nearest row of its input."""
        source, number = self.message_of(number)
        return self._nearest(source, self._rows_of(source).row_of(number))

    def row_holding(self, number: int) -> int | None:
        """Return the row that shows a message or hides it in a run, or None if there is none."""
        source, number = self.message_of(number)
        row = self._rows_of(source).row_holding(number)
        return None if row is None else self._nearest(source, row)

    def row_of_stray(self, stray: int) -> int:
        """Return the row of a stray text, or the nearest row."""
        source, stray = self.message_of(stray)
        return self._nearest(source, self._rows_of(source).row_of_stray(stray))

    def transcript(self, row: int) -> int:
        """Return 1 for every row, because the scroll bar of a merged view shows no boundaries."""
        return 1

    @property
    def shown_transcripts(self) -> Sequence[int]:
        """The transcripts of the merged view. There is always exactly one."""
        return (1,)

    def _rows_of(self, source: int) -> Rows:
        keys = self._sources[source]
        assert keys is not None
        return keys.rows

    def _nearest(self, source: int, row: int) -> int:
        places = self._places[source]
        return places[min(row, len(places) - 1)] if places else 0
