"""`ocmlview [view] FILE`: the viewer. Where there is no screen for it, the safe view is printed."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.inputs import Inputs
from viewer.cli.show import print_text
from viewer.core.visibility import Reveal


@click.command("view", short_help="Open the viewer.")
@options.reading
@options.audience
@options.printing
def command(
    files: tuple[str, ...],
    dialect: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
) -> int:
    """View transcripts: the conversation as its end user saw it."""
    audience = options.audience_of(reveal, debug, strict_safe)
    inputs = Inputs(options.inputs_of(files), dialect, options.reading_options(preambles))
    return print_text(inputs, audience, options.output_of(color, ascii_only))
