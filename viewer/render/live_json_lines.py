"""JSON Lines of a growing projection: those of `show --json`, each as soon as it is final."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from viewer.document.projection import Projection
from viewer.document.tail import Tail
from viewer.document.values import HiddenRun, Item, ShownDiagnostic
from viewer.render.json_lines import call_line, diagnostic_line, item_line, transcript_line
from viewer.render.style import Printable


class LiveLines:
    """The lines of one reading. A message appears when it is closed, followed by its diagnostics; those of a hidden
    message follow the next shown one, or come last. A call appears when it is no longer pending, and again when that
    changes."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self._tail = Tail(projection)
        self._calls = projection.call_watch()
        self._transcripts = 0

    def grow(self) -> Iterator[Printable]:
        """The new lines."""
        yield from self._settled(ended=False)
        for call in self._calls.changed():
            yield call_line(call)

    def end(self) -> Iterator[Printable]:
        """All the rest, at the end of the reading."""
        yield from self._settled(ended=True)
        yield from self._begun(len(self._tail.rows.shown_transcripts))
        yield from _diagnostics(self._tail.found_last())
        for call in self._calls.changed(ended=True):
            yield call_line(call)

    def _settled(self, *, ended: bool) -> Iterator[Printable]:
        for item in self._tail.settled(ended=ended):
            yield from self._begun(item.transcript)
            if not isinstance(item, HiddenRun):
                yield from self._shown(item)

    def _shown(self, item: Item) -> Iterator[Printable]:
        assert not isinstance(item, HiddenRun)
        yield item_line(item)
        yield from _diagnostics(self._tail.found())

    def _begun(self, last: int) -> Iterator[Printable]:
        """The transcripts up to this one."""
        while self._transcripts < last:
            self._transcripts += 1
            yield transcript_line(
                self._projection.boundary(self._tail.rows, self._transcripts, grows=True).transcript,
                self._projection.audience,
            )


def _diagnostics(found: Iterable[ShownDiagnostic]) -> Iterator[Printable]:
    return map(diagnostic_line, found)
