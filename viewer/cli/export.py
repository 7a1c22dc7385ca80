"""`ocmlview export`: write the shown content to a file. Its default name and its first words state the level."""

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
from viewer.model.visibility import Audience, Level, Reveal
from viewer.reading.format import ReadOptions
from viewer.render.exports import EXPORTERS, FIRST, Exporter, default_name, exporter_of, misnamed
from viewer.render.exports.view_words import badge, view_sentence
from viewer.sources.limits import parse_size

if TYPE_CHECKING:
    from viewer.document.filter.tree import Filter
    from viewer.document.redaction.redactor import Redactor


SITE = "site"
"""The value of `--to` for a folder of pages, which has its own options."""


def _size(context: click.Context, parameter: click.Parameter, value: str | None) -> int | None:
    size = parse_size(value) if value is not None else None
    if value is not None and size is None and not context.resilient_parsing:
        raise click.BadParameter("use a size such as 50MB.", context, parameter)
    return size


def _check_site_options(form: str | None, output: str | None, single: bool, limit: int | None) -> None:
    """Refuse an option if another option that it needs is missing."""
    context = click.get_current_context()
    if form == SITE and output in (None, options.STDIN):
        raise click.UsageError("A site needs an output folder: -o DIR.", context)
    if form != SITE and single:
        raise click.UsageError("--single needs --to site.", context)
    if not single and limit is not None:
        raise click.UsageError("--limit-size needs --single.", context)


@click.command("export", short_help="Write the conversation to a file.")
@click.option(
    "--to",
    "form",
    type=click.Choice([*EXPORTERS, SITE]),
    help="Output format; default: from the file extension, otherwise html. site writes a folder of pages that list and "
    "search many transcripts.",
)
@click.option(
    "-o",
    "--output",
    "output",
    metavar="OUT",
    shell_complete=completion.files,
    help="Output file, or - for stdout; default: NAME.safe.html, NAME.brief.html, or "
    "NAME.DEBUG.html. For a folder: the output folder.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing file or site.")
@click.option("--single", is_flag=True, help="With --to site, put everything into one page.")
@click.option(
    "--limit-size",
    "limit",
    metavar="SIZE",
    callback=_size,
    help="With --single, the largest page to write; default: 50 MB.",
)
@options.reading
@options.audience
@options.threads
@options.where
@options.redaction
def command(
    form: str | None,
    output: str | None,
    force: bool,
    single: bool,
    limit: int | None,
    files: tuple[str, ...],
    format: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    threads: int | None,
    where: Filter | None,
    redact: bool,
) -> int:
    """Write the conversation to a file: HTML, Markdown, text, JSON Lines, SVG, or a site. Safe unless --level or
    --reveal says otherwise. Only you can read a file that shows more than the safe view. For a folder, write one file
    per transcript to -o DIR."""
    _check_site_options(form, output, single, limit)
    audience = options.audience_of(reveal, debug, strict_safe, threads)
    options.check_where(where, audience)
    refusal = misnamed(output, audience) if output is not None else ""
    if refusal:
        raise click.UsageError(f"{output}: {refusal}.", click.get_current_context())
    inputs = options.inputs_of(files)
    reading = options.reading_options(preambles)
    if form == SITE and output is not None:
        if options.STDIN in inputs:
            raise click.UsageError("A site needs files or folders.", click.get_current_context())
        from viewer.cli.site import LIMIT_OF_SINGLE, SiteOptions, export_site  # few exports are sites

        redactor = options.redactor_of(redact)
        asked = SiteOptions(audience, reading, format, where, force, single, limit or LIMIT_OF_SINGLE, redactor)
        return export_site(inputs, output, asked)
    redactor = options.redactor_of(redact)
    folder = options.folder_of(inputs, output)
    if folder is not None and output is not None:
        return _export_folder(
            folder, output, audience, EXPORTERS[form] if form else FIRST, format, reading, force, where, redactor
        )
    document = open_document(inputs[0], format=format, options=reading)
    refuse_if_unknown(document, strict=strict_safe)
    exporter = EXPORTERS[form] if form else (exporter_of(output or "") or FIRST)
    shown = _shown_name(document, audience, where, redactor)
    target = output or default_name(shown, audience, exporter)
    _export(document, audience, exporter, target, force=force, where=where, redactor=redactor)
    _say_redacted(redactor)
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
    redactor: Redactor | None,
) -> int:
    """Export each transcript in a folder to a separate file, and return the exit code."""

    def write(document: Document, target: OutputFolder) -> int:
        shown = _shown_name(document, audience, where, redactor)
        path = target.path_for(document.name, default_name(shown, audience, exporter), redactor)
        _export(document, audience, exporter, str(path), force=force, where=where, redactor=redactor)
        mention(document, audience)
        return FINE

    target = OutputFolder(folder, output)
    inputs = Inputs((folder,), format, reading, strict=audience.strict, skips=target.has)
    code = target.write_each(inputs, write)
    _say_redacted(redactor)
    return code


def _shown_name(document: Document, audience: Audience, where: Filter | None, redactor: Redactor | None) -> str:
    """Return the file name of a document. A redactor masks the secrets in it."""
    name = PurePath(document.name).name
    if redactor is None:
        return name
    redactor.learn_shown(document.project(audience, where=where))
    return redactor.name(name)


def _say_redacted(redactor: Redactor | None) -> None:
    if redactor:
        say(redactor.sentence)


def _export(
    document: Document,
    audience: Audience,
    exporter: Exporter,
    target: str,
    *,
    force: bool,
    where: Filter | None,
    redactor: Redactor | None,
) -> None:
    projection = document.project(audience, where=where, redactor=redactor)
    if projection.is_without_match:
        complain(f"{document.name}: no message matches the filter.")
    pieces = exporter.pieces(projection, _shown_name(document, audience, where, redactor))
    if target == options.STDIN:
        for piece in pieces:
            write_text(piece)
        say_what_is_withheld(projection)
        return
    private = audience.level is not Level.SAFE
    whole = AtomicFile(Path(target), overwrite=force, private=private, never=Path(document.path))
    with ended_tidily(), whole as file:
        for piece in pieces:
            file.write(piece)
    say_what_is_withheld(projection)
    say(f"Exported {target}: {badge(audience)} view. {view_sentence(audience)}")
