"""Leaks screen: each leaked passage of an answer next to its hidden source. Debug view only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from viewer.insight.leaks import LeakSpan, find_leaks, mark_boilerplate
from viewer.model.messages import Span
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.reading.format import ReadOptions
from viewer.render.insight.diff import LEAST_FOR_SIDES, flow
from viewer.render.insight.leaks import LIMITS, LeakPlaces, places_of, share_words
from viewer.render.number_format import counted
from viewer.render.page import centered_notes
from viewer.render.sanitize import SafeText, normalize_newlines, sanitize
from viewer.render.style import Line, Part, Style, StyleRole
from viewer.render.width import plain_line
from viewer.tui.insight.boxes import box
from viewer.tui.insight.work_screen import WorkScreen
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.terminal.paint import Painter

_AROUND = 1500
"""How many characters to show on each side of a passage."""


class LeaksScreen(WorkScreen):
    """Leaks screen. `]` and `[` go to the next and previous passage, `o` to the other side, and enter to the message of
    the current side."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket", "leak(1)", show=False),
        Binding("left_square_bracket", "leak(-1)", show=False),
        Binding("o", "other_side", show=False),
        Binding("enter", "go", show=False),
    ]
    KEYS: ClassVar[Sequence[tuple[str, str]]] = (("] [", "Leak"), ("o", "Other side"), ("enter", "Go"), ("esc", "Back"))

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        name: str,
        format: str | None,
        reading: ReadOptions | None,
        *,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        super().__init__(painter, printing, f"Leaks of {name}", "debug", actions=actions, opener="leaks")
        self._file, self._format, self._reading = name, format, reading
        self._searched = 0
        self.scores: dict[int, int] = {}
        """The score of each answer that leaks hidden text, by message number."""
        self._found: list[tuple[LeakPlaces, LeakSpan]] = []
        """Each reported passage with its answer."""
        self._at = 0
        self._is_at_source = False

    def compute(self) -> None:
        document = self.read(self._file, self._format, self._reading)
        everything, shown = (document.project(each, withholds=False) for each in (EVERYTHING, END_USER))
        (answers,) = mark_boilerplate([find_leaks(everything, shown, work=self.check_open)])
        self._searched = answers.searched
        self.scores = {leak.message: leak.score for leak in answers.leaks}
        placed = [places_of(everything, shown, leak) for leak in answers.leaks]
        self._found = [
            (each, span)
            for each in placed
            for span in each.leak.spans
            if span.kind in ("secret", "meta") or span in each.leak.counted
        ]

    def lay_out(self) -> None:
        if not self._found:
            sentences = [f"No leaks in {counted(self._searched, 'answer')}.", LIMITS] if not self.status else []
            words = [self.printing.words(each) for each in sentences]
            self.show_lines(centered_notes(words, self.room, self.listing.size.height), -1)
            return
        found, span = self._found[self._at]
        has_sides = self.size.width >= LEAST_FOR_SIDES
        left = self.room // 2 if has_sides else self.room
        right = self.room - left if has_sides else self.room
        shown = self._marked(found.body, [each.shown for each in self._of(found)], span.shown, left - 3)
        hidden = self._source_lines(found, span, right - 3)
        if has_sides:
            height = max(len(shown), len(hidden))
            shown, hidden = ([*lines, *[()] * (height - len(lines))] for lines in (shown, hidden))
        seen, source = self._seen(found, shown, left), self._source(found, span, hidden, right)
        if not has_sides:
            self.show_lines([*seen, *source])
            return
        self.show_lines([(*one, *other) for one, other in zip(seen, source, strict=True)])

    def _of(self, found: LeakPlaces) -> list[LeakSpan]:
        """Return the passages of one answer."""
        return [span for other, span in self._found if other is found]

    def _seen(self, found: LeakPlaces, lines: Sequence[Line], width: int) -> list[Line]:
        leak = found.leak
        title = self.printing.words(f"Seen #{leak.message} · leak {leak.score} {leak.code or ''}".rstrip())
        note = counted(len(self._of(found)), "span")
        return box(title, note, lines, share_words(leak), width, self.printing, heavy=not self._is_at_source)

    def _source(self, found: LeakPlaces, span: LeakSpan, lines: Sequence[Line], width: int) -> list[Line]:
        spans = self._of(found)
        source = span.source
        title = f"Source #{source.message} {source.kind}" if source else "Reasoning phrases"
        note = f"{spans.index(span) + 1} of {len(spans)}"
        below = f"{span.kind}, {counted(int(span.words), 'word')}"
        return box(self.printing.words(title), note, lines, below, width, self.printing, heavy=self._is_at_source)

    def _source_lines(self, found: LeakPlaces, span: LeakSpan, width: int) -> list[Line]:
        source = span.source
        if source is None or span.source_span is None:
            return [()]
        spans = [each.source_span for each in self._of(found) if each.source is source and each.source_span]
        return self._marked(source.text, spans, span.source_span, width)

    def _marked(self, text: str, spans: Sequence[Span], here: Span, width: int) -> list[Line]:
        """Return the text around a passage, with all passages in it marked."""
        first, last = max(0, here[0] - _AROUND), min(len(text), here[1] + _AROUND)
        sign = "#" if self.printing.ascii else "≋"
        parts: list[Part] = []
        at = first
        for start, end in sorted(spans):
            if start < at or end > last:
                continue
            parts.append(Part(self._safe(text[at:start])))
            look = StyleRole.THIS_MATCH if (start, end) == tuple(here) else StyleRole.MATCH
            parts.append(Part(SafeText(f"{sign}{self._safe(text[start:end])}{sign}"), look))
            at = end
        parts.append(Part(self._safe(text[at:last])))
        return [line for row in _rows(parts) for line in flow(row, width)]

    def _safe(self, text: str) -> SafeText:
        return self.printing.spell(sanitize(normalize_newlines(text)))

    def summary(self) -> str:
        answers = counted(self._searched, "answer")
        if not self._found:
            return ""
        return f"Leak {self._at + 1} of {len(self._found)} · {answers} searched. {LIMITS}"

    def action_leak(self, step: int) -> None:
        """Go to the next or previous passage."""
        if self._found:
            self._at = (self._at + step) % len(self._found)
            self.draw()

    def action_other_side(self) -> None:
        """Switch between the answer and its hidden source."""
        self._is_at_source = not self._is_at_source
        self.draw()

    def action_go(self) -> None:
        """Go to the current side's message in the transcript."""
        if self._found:
            found, span = self._found[self._at]
            is_source = self._is_at_source and span.source is not None
            self.dismiss(span.source.message if is_source and span.source else found.leak.message)


def _rows(parts: Sequence[Part]) -> Iterator[list[Part]]:
    """Split the parts into lines."""
    row: list[Part] = []
    for part in parts:
        for place, text in enumerate(part.text.split("\n")):
            if place:
                yield row
                row = []
            row.append(Part(plain_line(SafeText(text)), part.look))
    yield row
