"""`ocmlview show`: print the conversation as text or as JSON Lines."""

from __future__ import annotations

from functools import partial

import click

from viewer.cli import options
from viewer.cli.exits import USAGE, complain, say
from viewer.cli.followed import Followed
from viewer.cli.inputs import Inputs, mention_if_empty, unknown_sentence
from viewer.cli.output import Output
from viewer.cli.rewritten import read_again, retried
from viewer.document.document import Document
from viewer.errors import FileRewrittenError
from viewer.model.visibility import Audience, Reveal
from viewer.render.conversation import conversation_lines
from viewer.render.title import rule

_DEBUG = "DEBUG view: more than the end user saw, who saw the messages marked with *."


@click.command("show", short_help="Print what the end user saw.")
@options.reading
@options.audience
@options.printing
@options.following
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def command(
    files: tuple[str, ...],
    dialect: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
    as_json: bool,
    follow: bool,
    stall_after: float | None,
) -> int:
    """Print a transcript: what the end user saw, or with --reveal what stood behind it. With -f while it is written:
    each message as soon as it is certain, the text of an answer as it comes."""
    audience = options.audience_of(reveal, debug, strict_safe)
    if options.is_followed(follow, files, stall_after):
        followed = options.followed_of(files, dialect, preambles, stall_after)
        return print_live(followed, audience, options.output_of(color, ascii_only), as_json=as_json)
    inputs = Inputs(options.inputs_of(files), dialect, options.reading_options(preambles), strict=strict_safe)
    output = options.output_of(color, ascii_only)
    if as_json:
        return print_json(inputs, audience, output)
    return print_text(inputs, audience, output)


def print_text(inputs: Inputs, audience: Audience, output: Output) -> int:
    """Print the conversations of all files, one below the other."""
    if not audience.is_safe:
        say(_DEBUG)
    for document in inputs:
        if inputs.several:
            name = output.style.name(document.name)
            output.write_styled([rule(name, output.style.words(""), output.width, output.style, heavy=True), ()])
        retried(document, partial(_print_conversation, document, audience, output), output)
        _mention_if_empty(document, audience)
    return inputs.code


def _print_conversation(document: Document, audience: Audience, output: Output) -> None:
    output.write(conversation_lines(document.project(audience), output.width, output.style))


def print_live(followed: Followed, audience: Audience, output: Output, *, as_json: bool = False) -> int:
    """The same while the input is written, until it ends or the user interrupts."""
    from viewer.cli.following import follow  # needed only for following
    from viewer.cli.show_live import LiveJson, LiveText

    if not audience.is_safe and not as_json:
        say(_DEBUG)
    printer = LiveJson(audience, output) if as_json else LiveText(audience, output)
    code = follow(followed, printer)
    if printer.document and printer.document.unknown:
        complain(unknown_sentence(printer.document, strict=audience.strict))
        return code or USAGE
    return code


def print_json(inputs: Inputs, audience: Audience, output: Output) -> int:
    """Print the lines of all files; with several files, each line names its file."""
    for document in inputs:
        print_lines = partial(_print_lines, document, audience, output, document.name if inputs.several else None)
        while True:
            try:
                retried(document, print_lines, output)
                break
            except FileRewrittenError:
                _reset(document, output)
        _mention_if_empty(document, audience)
    return inputs.code


def _print_lines(document: Document, audience: Audience, output: Output, name: str | None) -> None:
    from viewer.render.json_lines import projection_lines

    output.write(projection_lines(document.project(audience), name))


def _reset(document: Document, output: Output) -> None:
    """Invalidate the printed output of the file and read it again."""
    from viewer.render.json_lines import reset_line
    from viewer.sources.changes import Reason

    read_again(document)
    output.write([reset_line(Reason.REWRITTEN)])
    complain(f"{document.name}: {Reason.REWRITTEN.sentence}")


def _mention_if_empty(document: Document, audience: Audience) -> None:
    """Report why nothing was printed; not to a strict audience, because it would reveal if something is hidden."""
    if not audience.strict:
        mention_if_empty(document)
