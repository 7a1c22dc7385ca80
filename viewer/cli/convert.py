"""`ocmlview convert`: write the shown content in another format, and list losses on standard error."""

from __future__ import annotations

from pathlib import Path

import click

from viewer.atomic_file import AtomicFile
from viewer.cli import completion, options
from viewer.cli.exits import FINE, refuse, say
from viewer.cli.inputs import Inputs
from viewer.cli.interruption import ended_tidily
from viewer.cli.notices import mention, refuse_if_unknown, report_damage, say_what_is_outside, say_what_is_withheld
from viewer.cli.output import write_text
from viewer.cli.output_folder import OutputFolder
from viewer.document.document import Document, open_document
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.errors import ViewerError
from viewer.formats import WRITERS
from viewer.formats.leak_check import count_leaks
from viewer.formats.text.quoted_marks import refuse_quoted_marks
from viewer.model.visibility import Audience, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.exports import stem_of


@click.command("convert", short_help="Convert to another format.")
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Choice(list(WRITERS)),
    metavar="NAME",
    help=f"Format to write: {', '.join(WRITERS)}.",
)
@click.option(
    "-o",
    "--output",
    "output",
    metavar="OUT",
    shell_complete=completion.files,
    help="Output file; default: stdout. For a folder: the output folder.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@options.reading
@options.audience
@options.threads
def command(
    target: str,
    output: str | None,
    force: bool,
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    threads: int | None,
) -> int:
    """Convert to another format. Anything dropped is listed on stderr. For a folder, write one file per transcript
    to -o DIR."""
    audience = options.audience_of(reveal, debug, strict_safe, threads)
    inputs = options.inputs_of(files)
    reading = options.reading_options(preambles)
    folder = options.folder_of(inputs, output)
    if folder is not None and output is not None:
        return _convert_folder(folder, output, audience, target, format, reading, force)
    document = open_document(inputs[0], format=format, options=reading)
    refuse_if_unknown(document, strict=strict_safe)
    path = Path(output) if output is not None and output != options.STDIN else None
    return _convert(document, document.project(audience), target, path, force=force) or report_damage(document)


def _convert_folder(
    folder: str, output: str, audience: Audience, target: str, format: str | None, reading: ReadOptions, force: bool
) -> int:
    """Convert each transcript in a folder to a separate file, and return the exit code."""

    def write(document: Document, to: OutputFolder) -> int:
        path = to.path_for(document.name, f"{stem_of(document.name)}{WRITERS.ending(target)}")
        return _convert(document, document.project(audience), target, path, force=force)

    to = OutputFolder(folder, output)
    return to.write_each(Inputs((folder,), format, reading, strict=audience.strict, skips=to.has), write)


def _convert(document: Document, projection: Projection, target: str, path: Path | None, *, force: bool) -> int:
    messages = list(projection.writable())
    superseded = sum(message.is_superseded for message in messages)
    if projection.audience.thread is not None:
        messages = [message for message in messages if not message.is_superseded]
    try:
        if target != "openchatml-2.2":
            refuse_quoted_marks(messages, target)
        text, losses = WRITERS[target](projection.transcripts(), messages)
    except ViewerError as refusal:
        return refuse(str(refusal) if path is None else f"{document.name}: {refusal}")
    if path is None:
        write_text(text)
    else:
        private = not projection.audience.is_safe
        with ended_tidily(), AtomicFile(path, overwrite=force, private=private, never=Path(document.path)) as file:
            file.write(text)
        say(f"Converted {document.name} to {path}.")
    hidden = projection.omissions.messages
    if hidden:
        say(f"{hidden:,} of {document.message_count:,} messages are hidden and were omitted; see --reveal.")
    say_what_is_outside(projection)
    say_what_is_withheld(projection)
    if superseded and projection.audience.thread is not None:
        words = "1 message was" if superseded == 1 else f"{superseded:,} messages were"
        say(f"{words} omitted as part of a superseded branch; see --threads all.")
    for loss in losses:
        say(loss)
    _say_what_opens(projection, messages, text, target)
    mention(document, projection.audience)
    return FINE


def _say_what_opens(projection: Projection, messages: list[ShownMessage], text: str, target: str) -> None:
    """Report how many revealed messages the target format cannot keep hidden."""
    count = 0 if projection.audience.is_safe else count_leaks(text, target, messages, projection.transcripts())
    if count:
        say(f"{count:,} {'message' if count == 1 else 'messages'} hidden here would be shown in {target}.")
