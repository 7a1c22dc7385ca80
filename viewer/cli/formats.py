"""`ocmlview formats`: list formats, show how each is detected, and verify plug-ins."""

from __future__ import annotations

import click

from viewer.cli import completion, options, plugins
from viewer.cli.exits import FINDINGS, FINE, complain, say
from viewer.cli.output import Cell, Output, table_lines
from viewer.errors import ViewerError
from viewer.formats import FORMATS, WRITERS
from viewer.formats.detect import HEAD, ranking
from viewer.render.json_lines import encode
from viewer.render.style import trusted
from viewer.sources.files import open_source


@click.command("formats", short_help="List formats.")
@click.option(
    "--detect",
    "file",
    metavar="FILE",
    shell_complete=completion.files,
    help="List the formats that FILE may be in, best match first.",
)
@click.option("--verify", "plugin", metavar="NAME", help="Check a format plug-in against its own samples.")
@click.option("--json", "as_json", is_flag=True, help="With --detect, print one JSON object per format.")
@options.printing
def command(file: str | None, plugin: str | None, as_json: bool, color: str, ascii_only: bool) -> int:
    """List formats and how they are detected."""
    output = options.output_of(color, ascii_only)
    if file is not None:
        return _detect(file, output, as_json=as_json)
    if plugin is not None:
        return _verify(plugin)
    if as_json:
        raise click.UsageError("--json needs --detect.", click.get_current_context())
    style = output.style
    rows: list[list[Cell]] = [
        [
            trusted(name),
            style.words(FORMATS.title(name)),
            trusted("yes" if name in WRITERS else ""),
            trusted(FORMATS.detected_by(name)),
        ]
        for name in FORMATS
    ]
    rows += [
        [
            style.name(found.name),
            style.name(found.table.title),
            trusted(""),
            style.name(f"plug-in {found.distribution} {found.version}".strip()),
        ]
        for found in plugins().all()
    ]
    output.write_styled(table_lines(("name", "format", "writes", "detected by"), rows, output.width, style))
    return FINE


def _verify(name: str) -> int:
    """Verify a plug-in, and return the exit code: 1 if a check fails."""
    from viewer.plugins.testing import FormatFaultError, verify

    if name in FORMATS and plugins().get(name) is None:
        raise ViewerError(f"{name} is built in; ocmlview's own tests verify it")
    try:
        checks = verify(name)
    except FormatFaultError as fault:
        complain(str(fault))
        return FINDINGS
    say(f"{name} passes: {', '.join(checks)}.")
    return FINE


def _detect(file: str, output: Output, *, as_json: bool) -> int:
    """Print the formats that match a file, best match first, and return the exit code: 1 if none matches."""
    source = open_source(file)
    found = ranking(source.read(0, min(source.size, HEAD)))
    if as_json:
        for each in found:
            line = {"kind": "format", "name": each.format, "score": each.confidence, "reason": each.reason}
            output.write([encode(line)])
    elif found:
        rows: list[list[Cell]] = [
            [trusted(each.format), trusted(f"{each.confidence:.2f}"), output.style.words(each.reason)] for each in found
        ]
        output.write_styled(table_lines(("name", "score", "reason"), rows, output.width, output.style))
    else:
        say("No format matches.")
    return FINE if found else FINDINGS
