"""Text about the timing of a transcript: stalls, rates, the first visible answer, and retracted text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from viewer.insight.replay.timing import Timing
from viewer.render.number_format import counted, duration
from viewer.render.style import Line, Part, Style, StyleRole, trusted


def timing_lines(timing: Timing, style: Style, rates: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines about a timing. `rates` are the lines about its rates."""
    if not timing.has_times:
        yield (Part(trusted("No times: record them with `ocmlview show -f --record-times PATH`.")),)
    else:
        length = f"in {duration(timing.length_ms)}" if timing.length_ms else "that each arrived at once"
        words = f"{counted(timing.events, 'event')} {length}, times from the {timing.source}"
        yield (Part(style.words(words)),)
        if timing.first_visible_ms is not None:
            yield (Part(style.words(f"First visible answer after {duration(timing.first_visible_ms)}.")),)
    if timing.rates:
        yield ()
        yield from rates
    if timing.gaps:
        yield ()
        for gap in timing.gaps:
            yield (Part(style.words(f"Stall of {duration(gap.ms)} at {duration(gap.from_ms)}, after #{gap.after}.")),)
    for held in timing.held_back:
        words = f"Text of #{held.message} held back for {duration(held.ms)}: {_WHY_HELD[held.reason]}."
        yield (Part(style.words(words)),)
    for lost in timing.retractions:
        count = counted(lost.characters, "character")
        words = f"{count} of #{lost.message} retracted at byte {lost.at:,}: a closing think tag made them a thought."
        yield (Part(style.words(words)),)
    if timing.backwards:
        words = f"{counted(timing.backwards, 'time')} ran backwards; each counts as equal to the time before it."
        yield (Part(style.words(words), StyleRole.QUIET),)


_WHY_HELD = {
    "preamble": "a preamble appears when it is closed",
    "incomplete": "it could have been the start of a mark, or its record was incomplete",
}


def rate_lines(timing: Timing, style: Style) -> Iterator[Line]:
    """Yield a sentence for each rate."""
    for name, rate in timing.rates.items():
        words = f": {counted(rate.characters, 'character')} in {duration(rate.ms)}, "
        speed = f"{round(1000 * rate.characters / rate.ms):,} per second."
        yield (Part(style.name(name), StyleRole.STRONG), Part(style.words(words + speed)))
