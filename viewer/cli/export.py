"""`ocmlview export`: write the shown content to a file whose name and first words say safe or DEBUG."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from viewer.atomic_file import AtomicFile
from viewer.cli import completion, options
from viewer.cli.exits import FINE, complain, say
from viewer.cli.inputs import Inputs
from viewer.cli.interruption import ended_tidily
from viewer.cli.notices import mention, refuse_if_unknown, report_damage, say_what_is_withheld
from viewer.cli.output import write_text
from viewer.cli.output_folder import OutputFolder
from viewer.document.document import Document, open_document
from viewer.model.visibility import Audience, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.exports import EXPORTERS, FIRST, Exporter, default_name, exporter_of
from viewer.render.exports.view_words import badge, view_sentence

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter


@click.command("export", short_help="Write the conversation to a file.")
@click.option(
    "--to",
    "form",
    type=click.Choice(list(EXPORTERS)),
    help="Output format. Default: from the file extension, otherwise html.",
)
@click.option(
    "-o",
    "--output",
    "output",
    metavar="OUT",
    shell_complete=completion.files,
    help="Output file, or - for stdout. Default: NAME.safe.html or NAME.DEBUG.html. For a folder: the output folder.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@options.reading
@options.audience
@options.threads
@options.where
def command(
    form: str | None,
    output: str | None,
    force: bool,
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    threads: int | None,
    where: Filter | None,
) -> int:
    """Write the conversation to a file: HTML, Markdown, text, JSON Lines or SVG. Safe unless --reveal says otherwise.
    Debug exports are readable only by you. With a folder, -o DIR gets one file per transcript."""
    audience = options.audience_of(reveal, debug, strict_safe, threads)
    options.check_where(where, audience)
    inputs = options.inputs_of(files)
    reading = options.reading_options(preambles)
    folder = options.folder_of(inputs, output)
    if folder is not None and output is not None:
        return _export_folder(
            folder, output, audience, EXPORTERS[form] if form else FIRST, format, reading, force, where
        )
    document = open_document(inputs[0], format=format, options=reading)
    refuse_if_unknown(document, strict=strict_safe)
    exporter = EXPORTERS[form] if form else (exporter_of(output or "") or FIRST)
    target = output or default_name(document.name, audience, exporter)
    _export(document, audience, exporter, target, force=force, where=where)
    mention(document, audience)
    return report_damage(document)


def _export_folder(
    folder: str,
    output: str,
    audience: Audience,
    exporter: Exporter,
    format: str | None,
    reading: ReadOptions,
    force: bool,
    where: Filter | None,
) -> int:
    """Export each transcript of a folder to a separate file."""

    def write(document: Document, target: OutputFolder) -> int:
        path = target.path_for(document.name, default_name(document.name, audience, exporter))
        _export(document, audience, exporter, str(path), force=force, where=where)
        mention(document, audience)
        return FINE

    target = OutputFolder(folder, output)
    return target.write_each(Inputs((folder,), format, reading, strict=audience.strict, skips=target.has), write)


def _export(
    document: Document, audience: Audience, exporter: Exporter, target: str, *, force: bool, where: Filter | None
) -> None:
    projection = document.project(audience, where=where)
    if projection.is_without_match:
        complain(f"{document.name}: no message matches the filter.")
    pieces = exporter.pieces(projection, PurePath(document.name).name)
    if target == options.STDIN:
        for piece in pieces:
            write_text(piece)
        say_what_is_withheld(projection)
        return
    private = not audience.is_safe
    whole = AtomicFile(Path(target), overwrite=force, private=private, never=Path(document.path))
    with ended_tidily(), whole as file:
        for piece in pieces:
            file.write(piece)
    say_what_is_withheld(projection)
    say(f"Exported {target}: {badge(audience)} view. {view_sentence(audience)}")
