"""`ocmlview check`: report problems as text, JSON, SARIF, GitHub annotations, or JUnit, once or while following."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from viewer.cli import options
from viewer.cli.exits import FINDINGS, FINE, complain, fail_without_reveal, say
from viewer.cli.inputs import Inputs, retried
from viewer.cli.notices import announced, mention_if_empty
from viewer.cli.options import Followed
from viewer.cli.output import Output
from viewer.document.document import Document, Finding
from viewer.errors import ViewerError
from viewer.formats import FORMATS
from viewer.index.findings import MOST_PER_CODE
from viewer.model.visibility import Audience, Reveal
from viewer.render.diagnostic import compiler_line, counts_line, more_words, source_lines
from viewer.render.style import Part, Printable, trusted

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.live import LiveDocument
    from viewer.render.sarif import Suite
    from viewer.sources.changes import Reason


_DEBUG_SENTENCE = "DEBUG view: the output quotes the transcript."

Wanted = Callable[[Document, list[Finding]], list[Finding]]
"""A function that selects which findings of a document to report."""


class Counted(Struct, frozen=True):
    """The totals of a file, sent from a worker process to the main process."""

    errors: int
    warnings: int
    messages: int
    transcripts: int
    has_empty: bool
    more: list[tuple[str, str, int]]
    code: int


class Report:
    """Iterates over the findings of all files and counts them."""

    def __init__(
        self,
        inputs: Inputs,
        adds: Sequence[Callable[[Document], None]] = (),
        wanted: Wanted | None = None,
        sentence: str = "",
    ) -> None:
        """Each function in `adds` adds problems to a document. `wanted` selects the findings that match a filter.
        `sentence` is a notice about the output, printed as soon as a file can be read."""
        self.inputs = inputs
        self.sentence = sentence
        self._adds = adds
        self._wanted = wanted
        self.more: list[tuple[str, str, int]] = []
        self.errors = self.warnings = self.messages = self.transcripts = 0
        self.has_empty = False
        """True if any file has no messages."""

    def __iter__(self) -> Iterator[tuple[Document, Finding]]:
        for document in announced(self.inputs, self.sentence):
            findings = self.findings(document)
            self.count(document)
            for finding in findings:
                yield document, finding
            self.more += [(document.name, code, count) for code, count in self.unlisted(document).items()]
            mention_if_empty(document)

    def findings(self, document: Document) -> list[Finding]:
        """Return the findings of a file. With a filter, return only those that match, and add them to the totals."""
        for add in self._adds:
            retried(document, partial(add, document))
        findings = retried(document, document.findings)
        if self._wanted is not None:
            findings = self._wanted(document, findings)
            severities = [finding.diagnostic.rule.severity.value for finding in findings]
            self.errors += severities.count("error")
            self.warnings += severities.count("warning")
        return findings

    def count(self, document: Document) -> None:
        """Add the counts of a file to the totals."""
        if self._wanted is None:
            self.errors += document.tally.diagnostics("error")
            self.warnings += document.tally.diagnostics("warning")
        self.messages += document.message_count
        self.has_empty = self.has_empty or not document.message_count
        self.transcripts += document.tally.transcripts

    def unlisted(self, document: Document) -> dict[str, int]:
        """Return the number of unlisted diagnostics per code; empty if there is a filter."""
        return document.tally.unlisted if self._wanted is None else {}

    def take_more(self) -> Iterator[tuple[str, str, int]]:
        """Return the counts of unlisted diagnostics, each with its file and code, and clear them."""
        more, self.more = self.more, []
        return iter(more)

    def of(self, path: str) -> Report:
        """Return an empty report for one of the files, with the options of this report."""
        return Report(self.inputs.of(path), self._adds, self._wanted)

    def add(self, one: Counted) -> None:
        """Add the totals of a file that a worker process checked."""
        self.errors += one.errors
        self.warnings += one.warnings
        self.messages += one.messages
        self.transcripts += one.transcripts
        self.has_empty = self.has_empty or one.has_empty
        self.more += one.more
        self.inputs.code = max(self.inputs.code, one.code)

    def counted(self) -> Counted:
        """Return the totals, to send them to the main process."""
        totals = self.errors, self.warnings, self.messages, self.transcripts
        return Counted(*totals, self.has_empty, self.more, self.inputs.code)

    def code(self, strict: bool) -> int:
        """Return the exit code for the findings so far."""
        return _code(self.errors, self.warnings, strict)


def _code(errors: int, warnings: int, strict: bool) -> int:
    return FINDINGS if errors or (strict and warnings) else FINE


@click.command("check", short_help="Report problems.")
@options.reading
@options.reveal_option
@options.where_problems
@options.debug_option
@options.printing
@options.following
@click.option("--json", "form", flag_value="json", help="Print one JSON object per problem.")
@click.option("--sarif", "form", flag_value="sarif", help="Print SARIF 2.1.0.")
@click.option("--github", "form", flag_value="github", help="Print GitHub workflow annotations.")
@click.option("--junit", "form", flag_value="junit", help="Print JUnit XML.")
@click.option(
    "--max-per-code",
    type=click.IntRange(min=0),
    default=MOST_PER_CODE,
    metavar="N",
    help=f"Keep at most N problems per file and code; default: {MOST_PER_CODE}; 0 keeps all.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings too.")
@click.option("--lens", is_flag=True, help="Also report where formats disagree on visibility.")
@click.option("--leaks", is_flag=True, help="Also report hidden text that reached the user; requires -d.")
@click.option("--require-messages", is_flag=True, help="Fail if there are no messages.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if problems are found.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", help="Check N files at a time; default: 1.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    where: Filter | None,
    color: str,
    ascii_only: bool,
    form: str | None,
    max_per_code: int,
    strict: bool,
    lens: bool,
    leaks: bool,
    require_messages: bool,
    exit_zero: bool,
    jobs: int,
    follow: bool,
    stall_after: float | None,
) -> int:
    """Report problems with exact locations. Transcript text is never printed unless you pass --reveal all. Exits with 1
    if errors are found. With -f, reports each problem as soon as it is found."""
    revealed = options.audience_of(reveal, debug, False)
    options.check_where(where, revealed, follow, of_problems=True)
    adds: list[Callable[[Document], None]] = []
    if leaks:
        if not revealed.reveals(Reveal.ALL):
            return fail_without_reveal("check --leaks")
        from viewer.cli.leaks import add_leaks  # needed only for leaks

        adds.append(add_leaks)
    if lens:
        from viewer.cli.lens import add_difference  # needed only for lens

        adds.append(add_difference)
    if options.is_followed(follow, files, stall_after):
        if adds:
            raise ViewerError(f"--{'leaks' if leaks else 'lens'} needs the whole input; omit -f")
        followed = options.followed_of(files, format, preambles, stall_after, row_order=strict)
        report_to = options.output_of(color, ascii_only)
        return _follow(followed, revealed, report_to, form, max_per_code, strict, require_messages, exit_zero)
    reading = options.reading_options(preambles, row_order=strict)
    wanted = partial(_wanted, where, revealed) if where is not None else None
    with_source = form is None and _shows_source(revealed)
    inputs = Inputs(options.inputs_of(files), format, reading, max_per_code, refuses=False)
    report = Report(inputs, adds, wanted, _DEBUG_SENTENCE if with_source else "")
    output = options.output_of(color, ascii_only)
    if form == "sarif":
        from viewer.render.json_lines import encode  # also imports the transcript reader
        from viewer.render.sarif import sarif

        results = [(document.name, finding) for document, finding in report]
        notes = [(name, more_words(code, count)) for name, code, count in report.take_more()]
        output.write([encode(sarif(results, notes), indent=2)])
    elif form == "junit":
        from viewer.render.sarif import junit

        output.write(junit(_suites(report)))
    else:
        if jobs > 1:
            _check_parallel(report, jobs, lambda one: output.write(_lines(one, output, form, with_source)))
        else:
            output.write(_lines(report, output, form, with_source))
        output.write(_last_lines(report, output, form))
    if report.inputs.code:
        return report.inputs.code
    if exit_zero:
        return FINE
    return FINDINGS if require_messages and report.has_empty else report.code(strict)


def _wanted(where: Filter, audience: Audience, document: Document, findings: list[Finding]) -> list[Finding]:
    """Select the findings that match a filter. Read the audience's messages only if the filter refers to messages."""
    from viewer.document.filter.predicate import matching
    from viewer.document.filter.problems import ProblemFacts, is_problem_wanted, without_problems

    rest = without_problems(where)
    messages = matching(rest, document.project(audience), document.name) if rest.terms or rest.pattern else None
    found = []
    for finding in findings:
        transcript = document.transcript_at(finding.diagnostic)
        facts = ProblemFacts(
            finding.diagnostic.code,
            finding.diagnostic.rule.severity.value,
            finding.diagnostic.message,
            transcript.number,
            finding.line,
            document.name,
            transcript.format,
            transcript.model,
        )
        if is_problem_wanted(where, facts, messages):
            found.append(finding)
    return found


def _shows_source(revealed: Audience) -> bool:
    """True if source lines may be quoted. If only some hidden content is revealed, report why they cannot be."""
    with_source = revealed.reveals(Reveal.ALL)
    if not with_source and not revealed.is_safe:
        complain("source lines need --reveal all, because a line may also contain other messages")
    return with_source


def _follow(
    followed: Followed,
    revealed: Audience,
    output: Output,
    form: str | None,
    max_per_code: int,
    strict: bool,
    require_messages: bool,
    exit_zero: bool,
) -> int:
    from viewer.cli.following import follow

    if form in ("sarif", "junit"):
        raise ViewerError(f"--{form} needs the whole input; with -f, use --json, --github, or text")
    with_source = form is None and _shows_source(revealed)
    if with_source:
        say(_DEBUG_SENTENCE)
    report = LiveReport(output, form, with_source, max_per_code)
    code = follow(followed, report)
    report.sum_up()
    if code or exit_zero:
        return code
    return FINDINGS if require_messages and not report.messages else _code(report.errors, report.warnings, strict)


def _check_parallel(report: Report, jobs: int, write: Callable[[Report], None]) -> None:
    """Check the files of a report in several processes and add up their totals."""
    from viewer.cli.jobs import in_order  # rarely needed

    def check(path: str) -> Counted:
        one = report.of(path)
        write(one)
        return one.counted()

    def announce(one: Counted) -> None:
        if report.sentence and (one.messages or one.has_empty):  # the file was read
            say(report.sentence)
            report.sentence = ""

    for counted in in_order(check, report.inputs.paths(), jobs, announce):
        report.add(counted)


def _lines(report: Report, output: Output, form: str | None, with_source: bool) -> Iterator[Printable]:
    """Yield the lines of all findings."""
    if form == "json":
        from viewer.render.json_lines import finding_line  # also imports the transcript reader
    elif form == "github":
        from viewer.render.sarif import workflow_command
    for document, finding in report:
        if form == "json":
            yield finding_line(finding, document.name if report.inputs.several else None)
        elif form == "github":
            yield workflow_command(document.name, finding)
        else:
            value = document.quotes.value_of(finding) if with_source else None
            yield output.style.paint(compiler_line(document.name, finding, output.style, value))
            if with_source:
                text = document.quotes.line_text(finding)
                yield from map(output.style.paint, source_lines(finding, text, output.width, output.style))


def _last_lines(report: Report, output: Output, form: str | None) -> Iterator[Printable]:
    """Yield the counts of unlisted findings, and the totals."""
    if form == "json":
        from viewer.render.json_lines import more_line, summary_line  # also imports the transcript reader
    elif form == "github":
        from viewer.render.sarif import workflow_notice
    for name, code, count in report.take_more():
        if form == "json":
            yield more_line(code, count, name if report.inputs.several else None)
        elif form == "github":
            yield workflow_notice(name, more_words(code, count))
        else:
            lead = output.style.name(f"{name}: ") if report.inputs.several else trusted("")
            yield output.style.paint((Part(lead), Part(trusted(more_words(code, count)))))
    if form == "json":
        yield summary_line(report.errors, report.warnings, report.messages, report.transcripts)
    elif form is None and report.inputs.names and (report.messages or not report.inputs.code):
        yield output.style.paint(counts_line(report.errors, report.warnings, report.messages, output.style))


def _suites(report: Report) -> Iterator[Suite]:
    from viewer.render.sarif import Suite

    for document in report.inputs:
        findings = report.findings(document)
        report.count(document)
        more = [more_words(code, count) for code, count in report.unlisted(document).items()]
        yield Suite(document.name, FORMATS.title(document.detection.format), findings, more)
        mention_if_empty(document)
    for name, why in report.inputs.failed:
        yield Suite(name, "unread", [], [], why)


class LiveReport:
    """Prints diagnostics as they are found, and counts them.

    The counts omit findings in a format that was detected too early and later replaced by another. They include
    findings from before the file was rewritten or replaced.
    """

    def __init__(self, output: Output, form: str | None, with_source: bool, most_per_code: int) -> None:
        self._output = output
        self._form = form
        self._with_source = with_source
        self._most_per_code = most_per_code
        self._document: LiveDocument | None = None
        self._before = (0, 0, 0, 0)
        """The counts of errors, warnings, messages, and transcripts in earlier readings."""
        self._now = (0, 0, 0, 0)
        self.has_output = False

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
        self.has_output = False

    def reset(self, name: str, reason: Reason) -> None:
        """Print a reset line in JSON output, and a sentence on standard error."""
        from viewer.sources.changes import Reason  # needed only for following

        if reason is Reason.DETECTED:
            self._now = (0, 0, 0, 0)
        if self._form == "json":
            from viewer.render.json_lines import reset_line

            self._output.write([reset_line(reason)])
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print the diagnostics found since the last call."""
        document = self._document
        assert document
        new = document.new_findings()
        totals = document.tally.diagnostics("error"), document.tally.diagnostics("warning")
        self._now = *totals, document.message_count, document.tally.transcripts
        self._output.write(line for finding in new for line in self._lines(document, finding))
        self.has_output = self.has_output or bool(new)

    def rest(self) -> None:
        """Do nothing: everything has already been printed."""

    def stalled(self, document: LiveDocument) -> None:
        number, seconds = next(iter(document.open_numbers), 0), document.stalled_for
        if self._form == "json":
            from viewer.render.json_lines import stalled_line

            self._output.write([stalled_line(number, seconds)])
        else:
            complain(f"{document.name}: message {number} is stalled: no data for {seconds:.0f} s")

    def end(self) -> None:
        """Print the diagnostics found at the end, and the counts of unlisted diagnostics."""
        self.grow()
        assert self._document
        for code, count in self._document.tally.unlisted.items():
            if self._form == "json":
                from viewer.render.json_lines import more_line

                self._output.write([more_line(code, count)])
            elif self._form == "github":
                from viewer.render.sarif import workflow_notice

                self._output.write([workflow_notice(self._document.name, more_words(code, count))])
            else:
                self._output.write_styled([(Part(trusted(more_words(code, count))),)])

    def sum_up(self) -> None:
        """Print the summary line."""
        errors, warnings, messages, transcripts = self._sums
        if self._form == "json":
            from viewer.render.json_lines import summary_line

            self._output.write([summary_line(errors, warnings, messages, transcripts)])
        elif self._form is None:
            self._output.write_styled([counts_line(errors, warnings, messages, self._output.style)])

    def _lines(self, document: LiveDocument, finding: Finding) -> Iterator[Printable]:
        if self._form == "json":
            from viewer.render.json_lines import finding_line

            yield finding_line(finding)
        elif self._form == "github":
            from viewer.render.sarif import workflow_command

            yield workflow_command(document.name, finding)
        else:
            width, style = self._output.width, self._output.style
            value = document.quotes.value_of(finding) if self._with_source else None
            yield style.paint(compiler_line(document.name, finding, style, value))
            if self._with_source:
                yield from map(style.paint, source_lines(finding, document.quotes.line_text(finding), width, style))
