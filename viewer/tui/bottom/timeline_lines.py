"""Draw the waterfall chart of calls: the axis, and one line per bar with its name, duration, deadline, and failure."""

from __future__ import annotations

from bisect import bisect_left

from viewer.document.projection import Projection
from viewer.render.head import look_of
from viewer.render.number_format import counted, duration
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.bottom.timeline_bars import Bar, Bars
from viewer.tui.panes.columns import fitted
from viewer.tui.panes.link_lines import is_late, latency_words
from viewer.tui.panes.signs import KindSign

ROOMY = 98
"""The minimum width at which turns have a column."""
_MINUTE, _HOUR, _DAY = 60_000, 3_600_000, 86_400_000
_STEPS = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000),
    *(_MINUTE, 2 * _MINUTE, 5 * _MINUTE, 10 * _MINUTE, 30 * _MINUTE, _HOUR, 2 * _HOUR, 6 * _HOUR, 12 * _HOUR),
    *(_DAY, 7 * _DAY, 30 * _DAY, 365 * _DAY),
)
"""The possible intervals between two ticks, in milliseconds or messages."""
_NAMES = {KindSign.THOUGHT: "thought", KindSign.COMMENTARY: "commentary", KindSign.ANSWER: "answer"}
_BARS = {KindSign.THOUGHT: ("▒", "-"), KindSign.CALL: ("█", "#"), KindSign.ANSWER: ("▓", "=")}
_OTHER_BAR = ("▒", "-")


class TimelineLines:
    """The bars of a range of turns at one zoom level."""

    def __init__(self, bars: Bars, projection: Projection, style: Style, *, zoom: int = 0, pan: int = 0) -> None:
        """Each step of `zoom` selects the next shorter interval between ticks. Each step of `pan` moves by half a
        screen."""
        self.bars = bars
        self.zoom, self.pan = zoom, pan
        self._projection, self._style = projection, style

    def __len__(self) -> int:
        return len(self.bars.bars)

    def number(self, row: int) -> int:
        """Return the message number of a row."""
        return self.bars.bars[row].number

    def row_of(self, number: int) -> int:
        """Return the row of a message or of its call; otherwise, the next row or, failing that, the last one. Return -1
        if there are no rows."""
        bars = self.bars.bars
        for row, bar in enumerate(bars):
            if number == bar.number or (bar.call is not None and number == bar.call.reply):
                return row
        return min(bisect_left([bar.number for bar in bars], number), len(bars) - 1)

    def counts(self, width: int) -> SafeText:
        """Return text such as `zoom 1× · turn 1–4`."""
        first, last = self.bars.turns
        turns = f"turn {first}" if first == last else f"turn {first}–{last}"
        words = [] if self.bars.has_times or not self.bars.bars else ["by order"]
        words += [f"zoom {2**self.zoom}×"] if width >= ROOMY or self.zoom else []
        return self._style.words(" · ".join([*words, turns]) if self.bars.bars else "nothing to show")

    def summary(self, width: int) -> SafeText:
        """Return text such as `critical path 7.1 s of 8.9 s · 2 calls in parallel at most`."""
        bars = self.bars
        if not bars.has_times or not bars.total:
            return trusted("")
        words = f"critical path {duration(bars.critical)}"
        if width >= ROOMY:
            words += f" of {duration(bars.total)}"
            words += f" · {counted(bars.parallel, 'call')} in parallel at most" if bars.parallel else ""
        return self._style.words(words)

    def head(self, width: int) -> list[Line]:
        """Return the axis."""
        lead, step, size, first = self._scale(width)
        line = " " * lead
        tick = -(-first // step) * step
        while True:
            at = lead + (tick - first) * size // step
            label = self._label(tick, step)
            if at + len(label) > width:
                break
            if at >= len(line):
                line += " " * (at - len(line)) + label
            tick += step
        return [(Part(self._style.words(line), StyleRole.QUIET),)]

    def line(self, row: int, width: int, *, is_cursor: bool = False) -> Line:
        """Return the line of one bar."""
        bar, style = self.bars.bars[row], self._style
        lead, step, size, first = self._scale(width)
        headline = self._projection.headline(bar.number)
        begins = row == 0 or self.bars.bars[row - 1].turn != bar.turn
        mark = Part(trusted(style.signs.gutter if is_cursor else " "), StyleRole.FOCUS)
        turn = trusted(f" {f'turn {bar.turn}' if begins else '':<6}"[:7]) if width >= ROOMY else trusted("")
        glyph = Part(trusted(f" {bar.sign.glyph(style)} "), look_of(headline))
        name = fitted(self._name(bar), lead - len(turn) - 5, style)
        start, end = ((moment - first) * size / step for moment in (bar.start, bar.end))
        room = width - lead - 1
        left, right = max(round(start), 0), min(max(round(end), round(start) + 1), room)
        parts = [
            Part(turn, StyleRole.QUIET),
            mark,
            glyph,
            Part(SafeText(name + " ")),
            Part(trusted(" " * min(left, room))),
        ]
        parts += self._stroke(bar, left, right, first, step, size) if right > left else []
        after = self._after(bar)
        free = room - max(right, left) - 1
        if after and free > 2:
            parts.append(Part(cut(SafeText(f" {after.text}"), free, trusted(style.signs.ellipsis)), after.look))
        return tuple(parts)

    def _scale(self, width: int) -> tuple[int, int, int, int]:
        """Return the number of cells before the axis, the interval between two ticks, its width in cells, and the start
        time."""
        lead, size = (28, 11) if width >= ROOMY else (19, 10)
        room = max(width - lead - 12, size)
        total = max(self.bars.total, 1)
        fitting = (place for place, step in enumerate(_STEPS) if total * size <= step * room)
        place = max(next(fitting, len(_STEPS) - 1) - self.zoom, 0)
        step = _STEPS[place]
        first = min(self.pan * max(room // size // 2, 1) * step, total // step * step)
        return lead, step, size, max(first, 0)

    def _label(self, tick: int, step: int) -> str:
        if not self.bars.has_times:
            return str(tick)
        if step < 100:
            return f"{tick} ms"
        if step < 1000:
            return f"{tick / 1000:.1f} s"
        units = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"), (1000, "s"))
        size, unit = next((size, unit) for size, unit in units if step >= size)
        return f"{tick // size} {unit}"

    def _name(self, bar: Bar) -> SafeText:
        if bar.call is not None:
            return self._style.name(bar.call.tool.removeprefix("functions."))
        headline = self._projection.headline(bar.number)
        if bar.sign in _NAMES:
            return trusted("plan" if headline.intent == "preamble" else _NAMES[bar.sign])
        return self._style.name((headline.recipient or headline.name or headline.role).removeprefix("functions."))

    def _stroke(self, bar: Bar, left: int, right: int, first: int, step: int, size: int) -> list[Part]:
        """Return the bar, with a cross where a deadline was missed."""
        ascii_only = self._style.ascii
        stroke = _BARS.get(bar.sign, _OTHER_BAR)[ascii_only]
        failed = bar.call is not None and bar.call.state not in ("ok", "pending")
        look = StyleRole.ERROR if failed else StyleRole.QUIET if bar.sign is KindSign.THOUGHT else StyleRole.PLAIN
        call = bar.call
        if call is None or call.deadline_ms is None or not (is_late(call) or call.state == "timeout"):
            return [Part(trusted(stroke * (right - left)), look)]
        due = round((bar.start + call.deadline_ms - first) * size / step) if self.bars.has_times else right
        at = max(left, min(due, right - 1))
        return [
            Part(trusted(stroke * (at - left)), look),
            Part(trusted("X" if ascii_only else "╳"), StyleRole.ERROR),
            Part(trusted(stroke * (right - at - 1)), look),
        ]

    def _after(self, bar: Bar) -> Part | None:
        """Return the state of a call unless it is `ok`, its duration, and a missed deadline. Return None if there is
        nothing to show."""
        call = bar.call
        if call is None:
            return None
        words = [] if call.state in ("ok",) else ["running" if call.state == "pending" else call.state]
        words += [latency_words(call)] if latency_words(call) else []
        text = " ".join(words)
        if call.deadline_ms is not None and (is_late(call) or call.state == "timeout"):
            text += f" · limit {duration(call.deadline_ms)}"
        look = StyleRole.PLAIN if call.state in ("ok", "pending") else StyleRole.ERROR
        return Part(self._style.words(text), look) if text and cells(trusted(text)) else None
