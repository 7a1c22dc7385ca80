"""What the lines around the panes say: the title, the channels, and words where nothing is shown."""

from __future__ import annotations

from viewer.document.rows import RowKind
from viewer.document.values import ShownTranscript
from viewer.formats import FORMATS
from viewer.model.visibility import Reveal
from viewer.render.sanitize import SafeText
from viewer.render.style import trusted
from viewer.rules import RULES
from viewer.tui.bars.problem_line import ProblemLine
from viewer.tui.bars.title import TitleFacts
from viewer.tui.bars.toggles import ToggleFacts
from viewer.tui.main.parts import Parts
from viewer.tui.panes.strip import letters_around, strip_line

UNKNOWN_FORMAT = "unknown format"


class Titling(Parts):
    """Words about the view."""

    def nothing_shown(self) -> list[SafeText]:
        """What is said where no message is shown: why, and how to look behind."""
        if not self.document.is_complete:
            return [trusted(f"  {self.going().words or 'reading'}")]
        if not self.document.message_count:
            empty = not self.document.transcript_count
            said = "This file is empty." if empty else "There is no message here, only a document header or other text."
            said = RULES["E-FORMAT-UNKNOWN"].safe if self.document.unknown else said
            hint = "" if empty else "ocmlview formats lists what can be read; --format NAME chooses."
            behind = "" if empty or self.state.debug else "d opens the debug view, which shows text outside messages."
            return [trusted(f"  {line}") for line in (said, hint, behind) if line]
        if self.state.debug:
            said, behind = "All messages are switched off.", "a c t s switch channels on."
        else:
            said = "Nothing here is for the end user."
            behind = "" if self.state.strict else "d opens the debug view, which shows what stood behind."
        return [trusted(f"  {line}") for line in (said, behind) if line]

    def _transcript_at(self, number: int) -> ShownTranscript | None:
        """The transcript of the cursor, or the first one."""
        projection, rows = self.view.projection, self.view.rows
        if number and rows.reach:
            return projection.transcript_of(rows, min(number, rows.reach))
        return projection.boundary(rows, 1, grows=True).transcript if rows.shown_transcripts else None

    def show_title(self) -> None:
        """The first line, and the line of channels."""
        rows, number, going = self.view.rows, self.cursor.number, self.going()
        transcript = self._transcript_at(number)
        severities = self.view.diagnostics.severities
        row = self.cursor_row or 0
        read_as = transcript.dialect if transcript else self.document.detection.dialect
        dialect = FORMATS.title(read_as) if transcript or self.document.transcript_count else ""
        if self.view.projection.is_unknown:
            dialect = UNKNOWN_FORMAT
        last_turn = rows.turn(len(rows) - 1) if len(rows) and rows.kind(len(rows) - 1) is RowKind.MESSAGE else 0
        count = len(rows.shown_transcripts)
        self.title_bar.show(
            TitleFacts(
                name=self.document.name,
                dialect=dialect,
                model=(transcript.model or "") if transcript else "",
                transcript=(transcript.number, count) if transcript and count > 1 else None,
                turns=last_turn or None,
                debug=self.state.debug,
                errors=severities["error"],
                warnings=severities["warning"],
                follow=going.state,
                words=going.words,
                behind=going.behind,
                message=((rows.label(row) if self.focused_number else 0) or number) if number else None,
                messages=rows.shown_count if self.state.strict else rows.reach,
                percent=100 * (row + 1) // len(rows) if len(rows) else None,
                busy=going.busy,
            )
        )
        beside = letters_around(self.view.projection, rows, number, self.size.width // 2 - 4, self.printing)
        self.query_one(ProblemLine).show(self.problems.one_line(self.size.width))
        on = self.state.channels | ({Reveal.DEVELOPER} if Reveal.SYSTEM in self.state.channels else set())
        self.toggles.show(
            ToggleFacts(
                channels=frozenset(on),
                shown=rows.shown_count,
                calls=len(self.view.calls),
                open=self.view.calls.open,
                beside=strip_line(beside, number, titled=False),
            )
        )
