"""`ocmlview show`: print the conversation as text or JSON Lines, once or while following."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

import click

from viewer.cli import options
from viewer.cli.exits import FINE, complain, fail, say
from viewer.cli.inputs import Inputs, read_again, retried
from viewer.cli.moments import AskedMoment, asked_moment, moment_options, view_at
from viewer.cli.notices import announced, level_sentence, mention, say_level, unknown_sentence
from viewer.cli.options import Followed
from viewer.cli.output import Output
from viewer.document.document import Document
from viewer.errors import FileRewrittenError
from viewer.model.visibility import Audience, Reveal
from viewer.render.conversation import Conversation, conversation_lines
from viewer.render.title import rule

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.live import LiveDocument
    from viewer.document.redaction.redactor import Redactor
    from viewer.render.json_lines import LiveLines
    from viewer.sources.changes import Reason


@click.command("show", short_help="Print the conversation.")
@options.reading
@options.audience
@options.threads
@options.where
@options.redaction
@options.printing
@options.following
@options.recording
@moment_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def command(
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    threads: int | None,
    where: Filter | None,
    redact: bool,
    color: str,
    ascii_only: bool,
    as_json: bool,
    follow: bool,
    stall_after: float | None,
    record_times: str,
    at_byte: int | None,
    at_event: int | None,
    at_time: int | None,
    times: str,
) -> int:
    """Print the conversation. With -f, prints text as it arrives or, with --json, each message when it closes."""
    audience = options.audience_of(reveal, debug, strict_safe, threads)
    options.check_where(where, audience, follow)
    options.check_recording(follow, record_times)
    asked = asked_moment(at_byte, at_event, at_time, times, files, follow)
    if redact and (follow or asked):
        raise click.UsageError(
            "--redact needs the whole input; omit -f, --at, --at-event, and --at-time.",
            click.get_current_context(),
        )
    redactor = options.redactor_of(redact)
    if options.is_followed(follow, files, stall_after):
        followed = options.followed_of(files, format, preambles, stall_after, record_times=record_times)
        return print_live(followed, audience, options.output_of(color, ascii_only), as_json=as_json)
    inputs = Inputs(options.inputs_of(files), format, options.reading_options(preambles), strict=strict_safe)
    output = options.output_of(color, ascii_only)
    printing = print_json if as_json else print_text
    code = printing(inputs, audience, output, where, asked, redactor)
    if redactor:
        say(redactor.sentence)
    return code


def print_text(
    inputs: Inputs,
    audience: Audience,
    output: Output,
    where: Filter | None = None,
    asked: AskedMoment | None = None,
    redactor: Redactor | None = None,
) -> int:
    """Print the conversations of all files, one after another."""
    for document in announced(inputs, level_sentence(audience)):
        if inputs.several:
            name = output.style.name(_shown_name(document, audience, where, redactor))
            output.write_styled([rule(name, output.style.words(""), output.width, output.style, heavy=True), ()])
        retried(document, partial(_print_conversation, document, audience, output, where, asked, redactor), output)
        mention(document, audience)
    return inputs.code


def _shown_name(document: Document, audience: Audience, where: Filter | None, redactor: Redactor | None) -> str:
    """Return the name of a document. A redactor masks the secrets in it."""
    if redactor is None:
        return document.name
    retried(document, lambda: redactor.learn_shown(document.project(audience, where=where)))
    return redactor.clean(document.name)


def _print_conversation(
    document: Document,
    audience: Audience,
    output: Output,
    where: Filter | None,
    asked: AskedMoment | None,
    redactor: Redactor | None,
) -> None:
    if asked:
        projection = view_at(document, audience, asked, where)[0]
    else:
        projection = document.project(audience, where=where, redactor=redactor)
    output.write(conversation_lines(projection, output.width, output.style))
    if projection.is_without_match:
        complain(f"{document.name}: no message matches the filter.")


def print_live(followed: Followed, audience: Audience, output: Output, *, as_json: bool = False) -> int:
    """Print the conversation as the input grows, until the input ends or the user interrupts."""
    from viewer.cli.following import follow  # needed only for following

    if not as_json:
        say_level(audience)
    printer = LiveJson(audience, output) if as_json else LiveText(audience, output)
    code = follow(followed, printer)
    if printer.document and printer.document.unknown:
        failed = fail(unknown_sentence(printer.document, strict=audience.strict))
        return code or failed
    if printer.document and code == FINE:
        mention(printer.document, audience)
    return code


def print_json(
    inputs: Inputs,
    audience: Audience,
    output: Output,
    where: Filter | None = None,
    asked: AskedMoment | None = None,
    redactor: Redactor | None = None,
) -> int:
    """Print the JSON lines of all files. With several files, each line names its file."""
    for document in inputs:
        name = _shown_name(document, audience, where, redactor) if inputs.several else None
        print_lines = partial(_print_lines, document, audience, output, name, where, asked, redactor)
        while True:
            try:
                retried(document, print_lines, output)
                break
            except FileRewrittenError:
                _reset(document, output)
        mention(document, audience)
    return inputs.code


def _print_lines(
    document: Document,
    audience: Audience,
    output: Output,
    name: str | None,
    where: Filter | None,
    asked: AskedMoment | None,
    redactor: Redactor | None,
) -> None:
    from viewer.render.json_lines import encode, projection_lines

    if asked:
        projection, moment = view_at(document, audience, asked, where)
        output.write(projection_lines(projection, name))
        fields = {"byte": moment.byte, "event": moment.event, "ms": moment.ms}
        output.write([encode({"kind": "moment", **fields}, name)])
        return
    output.write(projection_lines(document.project(audience, where=where, redactor=redactor), name))


def _reset(document: Document, output: Output) -> None:
    """Invalidate the printed output of a file and read the file again."""
    from viewer.render.json_lines import reset_line
    from viewer.sources.changes import Reason

    read_again(document)
    output.write([reset_line(Reason.REWRITTEN)])
    complain(f"{document.name}: {Reason.REWRITTEN.sentence}")


_SHARE = 9
"""The pause after printing the open message, as a multiple of the time that printing took. Printing then takes at most
a tenth of the time."""


def say_stalled(document: LiveDocument) -> None:
    """Report a stalled message in one line, without its content, which may be hidden."""
    complain(f"{document.name}: stalled: no data for {document.stalled_for:.0f} s")


class LiveText:
    """Prints the conversation: each message when it is complete, and the open message as it grows."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._page: Conversation | None = None
        self._has_printed = False
        self._is_new = False
        """True if the open message may have grown since it was last printed."""
        self._next_look = 0.0
        self._before: Conversation | None = None
        """The page that was printed before another format was detected for the same input."""
        self.has_output = False
        self.document: LiveDocument | None = None
        """The document being read."""

    def begin(self, document: LiveDocument) -> None:
        """Begin a reading. Its output follows the output of earlier readings."""
        self.document = document
        if self._before:
            complain(f"{document.name}: now read as {document.detection.format}")
        elif self._page:
            self._write("".join(self._page.break_off()))
        self._page = Conversation(
            document.project(self._audience),
            self._output.width,
            self._output.style,
            begun=self._has_printed,
            before=self._before,
        )
        self.has_output = self._before is not None
        self._before = None

    def reset(self, name: str, reason: Reason) -> None:
        """Report the reset on standard error. If another format was detected, `begin` reports that instead."""
        from viewer.sources.changes import Reason

        if self._page and reason is Reason.DETECTED:
            self._write("".join(self._page.pause()))
            self._before = self._page
            return
        if self._page:
            self._write("".join(self._page.break_off()))
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print settled messages. The open message waits until no more data is available."""
        assert self._page
        self._write("".join(self._page.grow(streams=False)))
        self._is_new = True

    def rest(self) -> None:
        """Print the part of the open message that can no longer change."""
        begun = time.monotonic()
        if self._page and self._is_new and begun >= self._next_look:
            self._is_new = False
            self._write("".join(self._page.grow()))
            self._next_look = time.monotonic() + _SHARE * (time.monotonic() - begun)

    def stalled(self, document: LiveDocument) -> None:
        say_stalled(document)

    def end(self) -> None:
        """Print the rest of the conversation. If no transcript was recognized, the caller reports that."""
        assert self._page
        if self.document and self.document.unknown:
            return
        self._write("".join(self._page.end()))
        self._is_new = False

    def _write(self, text: str) -> None:
        if text:
            self._output.write_parts((text,))
            self._has_printed = self.has_output = True


class LiveJson:
    """Prints JSON Lines, each as soon as it can no longer change."""

    def __init__(self, audience: Audience, output: Output) -> None:
        self._audience = audience
        self._output = output
        self._lines: LiveLines | None = None
        self.has_output = False
        self.document: LiveDocument | None = None
        """The document being read."""

    def begin(self, document: LiveDocument) -> None:
        """Begin a reading. Message numbers start at 1 again."""
        self.document = document
        from viewer.render.json_lines import LiveLines

        self._lines = LiveLines(document.project(self._audience))
        self.has_output = False

    def reset(self, name: str, reason: Reason) -> None:
        """Print a reset line, and a sentence on standard error."""
        from viewer.render.json_lines import reset_line

        self._output.write([reset_line(reason)])
        complain(f"{name}: {reason.sentence}")

    def grow(self) -> None:
        """Print settled lines."""
        assert self._lines
        lines = list(self._lines.grow())
        self._output.write(lines)
        self.has_output = self.has_output or bool(lines)

    def rest(self) -> None:
        """Do nothing: only whole lines are printed."""

    def stalled(self, document: LiveDocument) -> None:
        say_stalled(document)

    def end(self) -> None:
        """Print the remaining lines."""
        assert self._lines
        self._output.write(self._lines.end())
