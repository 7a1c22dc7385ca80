"""`ocmlview check`: everything that is wrong with transcripts, for people, programs and code scanning."""

from __future__ import annotations

from collections.abc import Iterator

import click

from viewer.cli import options
from viewer.cli.exits import FINDINGS, FINE, complain, say
from viewer.cli.followed import Followed
from viewer.cli.inputs import Inputs, mention_if_empty
from viewer.cli.output import Output
from viewer.cli.rewritten import retried
from viewer.core.visibility import Audience, Reveal
from viewer.errors import ViewerError
from viewer.render.diagnostic import compiler_lines, counts_line, source_lines, tally
from viewer.render.github import workflow_command
from viewer.render.machine import encode, finding_line, summary_line
from viewer.render.sarif import sarif
from viewer.render.style import Line, Printable
from viewer.sources.document import Document, Finding


class Report:
    """The files as they are read, and the sums of what was found in them."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.errors = self.warnings = self.messages = self.transcripts = 0

    def __iter__(self) -> Iterator[tuple[Document, Finding]]:
        for document in self.inputs:
            findings = retried(document, document.findings)
            errors, warnings = tally([finding.diagnostic for finding in findings])
            self.errors += errors
            self.warnings += warnings
            self.messages += document.message_count
            self.transcripts += document.transcript_count
            for finding in findings:
                yield document, finding
            mention_if_empty(document)

    def code(self, strict: bool) -> int:
        """Whether anything counts."""
        return _code(self.errors, self.warnings, strict)


def _code(errors: int, warnings: int, strict: bool) -> int:
    return FINDINGS if errors or (strict and warnings) else FINE


@click.command("check", short_help="Report what is wrong.")
@options.reading
@options.reveal_option
@click.option("-d", "--debug", is_flag=True, help="Short for --reveal all.")
@options.printing
@options.following
@click.option("--json", "form", flag_value="json", help="One JSON object a line.")
@click.option("--sarif", "form", flag_value="sarif", help="SARIF 2.1.0, for code scanning.")
@click.option("--github", "form", flag_value="github", help="Annotations of a GitHub workflow.")
@click.option("--strict", is_flag=True, help="Warnings count as findings too.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever was found.")
def command(
    files: tuple[str, ...],
    dialect: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    color: str,
    ascii_only: bool,
    form: str | None,
    strict: bool,
    exit_zero: bool,
    follow: bool,
    stall_after: float | None,
) -> int:
    """Check transcripts: code, place and meaning of all that is wrong. Nothing of their text is told, but the lines in
    question with --reveal all. Exit code 1 where there are errors. With -f each problem is told when it is found, also
    a call past its deadline and a message that stalls."""
    revealed = options.audience_of(reveal, debug, False)
    if options.is_followed(follow, files, stall_after):
        followed = options.followed_of(files, dialect, preambles, stall_after)
        return _follow(followed, revealed, options.output_of(color, ascii_only), form, strict, exit_zero)
    report = Report(Inputs(options.inputs_of(files), dialect, options.reading_options(preambles)))
    output = options.output_of(color, ascii_only)
    if form == "json":
        output.write(_json(report))
    elif form == "sarif":
        output.write([encode(sarif((document.name, finding) for document, finding in report), indent=2)])
    elif form == "github":
        output.write(workflow_command(document.name, finding) for document, finding in report)
    else:
        _print_text(report, output, _shows_source(revealed))
    if report.inputs.code:
        return report.inputs.code
    return FINE if exit_zero else report.code(strict)


def _shows_source(revealed: Audience) -> bool:
    """Whether the lines in question are quoted; the person is told."""
    with_source = revealed.reveals(Reveal.ALL)
    if with_source:
        say("DEBUG view: what follows quotes the transcript.")
    elif not revealed.is_safe:
        complain("source lines are shown with --reveal all alone, since a line may hold other messages too")
    return with_source


def _follow(
    followed: Followed, revealed: Audience, output: Output, form: str | None, strict: bool, exit_zero: bool
) -> int:
    from viewer.cli.check_live import LiveReport  # only who follows needs it
    from viewer.cli.following import follow

    if form == "sarif":
        raise ViewerError("SARIF is one document about a whole input: with -f take --json, --github or text")
    report = LiveReport(output, form, with_source=form is None and _shows_source(revealed))
    code = follow(followed, report)
    report.sum_up()
    return code or (FINE if exit_zero else _code(report.errors, report.warnings, strict))


def _print_text(report: Report, output: Output, with_source: bool) -> None:
    output.write_styled(_text(report, output, with_source))
    if report.inputs.names and (report.messages or not report.inputs.code):
        output.write_styled([counts_line(report.errors, report.warnings, report.messages, output.style)])


def _text(report: Report, output: Output, with_source: bool) -> Iterator[Line]:
    for document, finding in report:
        yield from compiler_lines(document.name, finding, output.width, output.style)
        if with_source:
            yield from source_lines(finding, document.line_text(finding), output.width, output.style)


def _json(report: Report) -> Iterator[Printable]:
    for document, finding in report:
        yield finding_line(finding, document.name if report.inputs.several else None)
    yield summary_line(report.errors, report.warnings, report.messages, report.transcripts)
