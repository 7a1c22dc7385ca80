"""`ocmlview check -f`: report diagnostics as they are found, and the sums at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from viewer.cli.exits import complain
from viewer.cli.output import Output
from viewer.document.document import Finding
from viewer.document.live import LiveDocument
from viewer.render.diagnostic import compiler_line, counts_line, more_words, source_lines
from viewer.render.github import workflow_command, workflow_notice
from viewer.render.json_lines import finding_line, more_line, reset_line, stalled_line, summary_line
from viewer.render.style import Part, Printable, trusted
from viewer.sources.changes import Reason

Lines = Callable[[LiveDocument, Finding], Iterator[Printable]]


class LiveReport:
    """Printer of diagnostics as they are found, with counts. A reading that began in a wrong format does not count;
    findings from before a file was rewritten or replaced do."""

    def __init__(self, output: Output, form: str | None, with_source: bool, most_per_code: int) -> None:
        self._output = output
        self._form = form
        self._with_source = with_source
        self._most_per_code = most_per_code
        self._document: LiveDocument | None = None
        self._before = (0, 0, 0, 0)
        """Errors, warnings, messages and transcripts of earlier readings."""
        self._now = (0, 0, 0, 0)
        self.has_told = False

    @property
    def _sums(self) -> tuple[int, int, int, int]:
        before, now = self._before, self._now
        return before[0] + now[0], before[1] + now[1], before[2] + now[2], before[3] + now[3]

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self._sums[0]

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return self._sums[1]

    @property
    def messages(self) -> int:
        """The number of messages read."""
        return self._sums[2]

    def begin(self, document: LiveDocument) -> None:
        self._before, self._now = self._sums, (0, 0, 0, 0)
        self._document = document
        document.keep_per_code(self._most_per_code)
        self.has_told = False

    def reset(self, name: str, reason: Reason) -> None:
        """Print a line for programs, and one on standard error."""
        if reason is Reason.DETECTED:
            self._now = (0, 0, 0, 0)
        if self._form == "json":
            self._output.write([reset_line(reason)])
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print the diagnostics found since the last call."""
        document = self._document
        assert document
        new = document.new_findings()
        totals = document.total("error"), document.total("warning")
        self._now = *totals, document.message_count, document.transcript_count
        self._output.write(line for finding in new for line in self._lines(document, finding))
        self.has_told = self.has_told or bool(new)

    def rest(self) -> None:
        """Do nothing: everything is printed already."""

    def stalled(self, document: LiveDocument) -> None:
        number, seconds = document.open_number or 0, document.stalled_for
        if self._form == "json":
            self._output.write([stalled_line(number, seconds)])
        else:
            complain(f"{document.name}: message {number} is stalled, nothing has come for {seconds:.0f} s")

    def end(self) -> None:
        """Print the diagnostics found at the end, and the counts of unlisted ones."""
        self.grow()
        assert self._document
        for code, count in self._document.more_findings.items():
            if self._form == "json":
                self._output.write([more_line(code, count)])
            elif self._form == "github":
                self._output.write([workflow_notice(self._document.name, more_words(code, count))])
            else:
                self._output.write_styled([(Part(trusted(more_words(code, count))),)])

    def sum_up(self) -> None:
        """Print the last line."""
        errors, warnings, messages, transcripts = self._sums
        if self._form == "json":
            self._output.write([summary_line(errors, warnings, messages, transcripts)])
        elif self._form is None:
            self._output.write_styled([counts_line(errors, warnings, messages, self._output.style)])

    def _lines(self, document: LiveDocument, finding: Finding) -> Iterator[Printable]:
        if self._form == "json":
            yield finding_line(finding)
        elif self._form == "github":
            yield workflow_command(document.name, finding)
        else:
            width, style = self._output.width, self._output.style
            value = document.value_of(finding) if self._with_source else None
            yield style.paint(compiler_line(document.name, finding, style, value))
            if self._with_source:
                yield from map(style.paint, source_lines(finding, document.line_text(finding), width, style))
