"""`ocmlview formats`: list the formats, how each is recognized, and which can be written."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.exits import FINE
from viewer.cli.output import Cell, table_lines
from viewer.formats import FORMATS, WRITERS
from viewer.render.style import trusted


@click.command("formats", short_help="List formats.")
@options.printing
def command(color: str, ascii_only: bool) -> int:
    """List formats and how they are detected."""
    output = options.output_of(color, ascii_only)
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
    output.write_styled(table_lines(("name", "format", "writes", "detected by"), rows, output.width, style))
    return FINE
