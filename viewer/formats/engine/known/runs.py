"""Find runs of records with known shapes. Usually, only a few different shapes follow a given shape."""

from __future__ import annotations

from collections.abc import Callable

from viewer.formats.engine.known.shapes import Matched, Shape
from viewer.formats.engine.writing.columns import Item
from viewer.formats.engine.writing.plans import Plan

MOST_TOGETHER = 256
"""The maximum number of records in a run."""
MOST_BYTES = 512 * 1024
"""The maximum size in bytes of the records in a run, not counting the last one."""
_MOST_FOLLOWERS = 8
"""The maximum number of shapes to try after each shape."""


class RecordRuns:
    """Collects the records that may be written as columns."""

    def __init__(
        self, match: Callable[[bytes | bytearray, int], Matched | None], plan: Callable[[Shape], Plan | None]
    ) -> None:
        """`match` finds a record of a known shape at an index. `plan` returns the plan of a shape that can be written
        as columns."""
        self._match = match
        self._plan = plan
        self._last: Plan | None = None
        self._followers: dict[Plan | None, list[Plan]] = {}
        """The plans that followed each plan, most recent first."""
        self.is_full = False
        """True if more records may follow the last run."""

    def collect(self, data: bytes | bytearray, at: int, head: bytes, tail: bytes) -> list[Item]:
        """Return the records that start at an index, each between `head` and `tail`."""
        run: list[Item] = []
        before, after, most = len(head), len(tail), at + MOST_BYTES
        last, followers = self._last, self._followers
        self.is_full = False
        while not before or data.startswith(head, at):
            if len(run) == MOST_TOGETHER or at > most:
                self.is_full = True
                break
            start = at + before
            candidates = followers.get(last)
            if candidates is None:
                candidates = followers[last] = []
            for plan in candidates:
                found = plan.pattern.match(data, start)  # type: ignore[union-attr]
                if found is not None and data.startswith(tail, end := found.end()):
                    if plan is not candidates[0]:
                        candidates.remove(plan)
                        candidates.insert(0, plan)
                    item = Item(plan, found.regs)
                    break
            else:
                known = self._match(data, start)
                if known is None or not data.startswith(tail, known.end):
                    break
                other = self._plan(known.shape)
                if other is None:
                    break
                plan, end = other, known.end
                if plan.pattern is not None and plan not in candidates:
                    candidates.insert(0, plan)
                    del candidates[_MOST_FOLLOWERS:]
                item = Item(plan, ((start, end), *known.spans), known)
            run.append(item)
            last = plan
            at = end + after
        self._last = last
        return run
