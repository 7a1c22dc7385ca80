"""From bytes of the input to the text that a body means: where a diagnostic stands in what is shown."""

from __future__ import annotations

from viewer.core.bodies import Body
from viewer.core.messages import Span


def characters_of(body: Body, span: Span) -> Span | None:
    """The code points of the body's text that these bytes of the input became; None where they are elsewhere."""
    start, end = _meant(body, span[0]), _meant(body, span[1])
    if start is None or end is None:
        return None
    first = len(body.data[:start].decode("utf-8", "replace"))
    return first, first + len(body.data[start : max(start, end)].decode("utf-8", "replace"))


def _meant(body: Body, source: int) -> int | None:
    """The meant byte that stands at, or next after, a byte of the input."""
    for run in body.runs:
        if run.source <= source <= run.source + run.source_length:
            if run.raw is None:
                return run.at + min(source - run.source, run.length)
            return _in_string(body, run.at, run.at + run.length, source)
    return None


def _in_string(body: Body, low: int, high: int, source: int) -> int:
    """The same inside a JSON string, by halving: escapes make meant and written bytes differ."""
    while low < high:
        middle = (low + high) // 2
        if body.source_span(middle, middle)[0] < source:
            low = middle + 1
        else:
            high = middle
    return low
