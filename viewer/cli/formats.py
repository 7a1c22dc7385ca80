"""`ocmlview formats`: list the formats, how each is recognized, and which can be written."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.exits import FINE
from viewer.cli.output import Cell, table_lines
from viewer.formats import FORMATS, WRITERS
from viewer.render.style import trusted

RECOGNISED = {
    "openchatml-2.2": "a document header with version 2.2, or call_id=, name=, intent=, the role tool, <|literal|>",
    "openchatml-2.0": "a document header with version 2.0",
    "openchatml-1.x": "<|start|>assistant and no channels at all",
    "openchatml-0.1": "<|im_start|>, [BOS], <|fim_...|>, <|file_separator|>",
    "harmony": "<|start|>, <|channel|> or <|message|> without a document header",
    "harmony-tokens": "an array of integers, or one integer a line",
    "chatml-json": 'an array of strings and {"token": ...} objects',
    "json": "objects with role or messages, one or many, also one a line",
    "events": "objects with type or event response.*, server-sent events, chunks of a completion",
}


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
            trusted(RECOGNISED[name]),
        ]
        for name in FORMATS
    ]
    output.write_styled(table_lines(("name", "format", "writes", "detected by"), rows, output.width, style))
    return FINE
