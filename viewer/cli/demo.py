"""`ocmlview demo`: the tour that comes with the program."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.inputs import Inputs
from viewer.cli.show import print_text
from viewer.core.visibility import Reveal
from viewer.resources import bundled


@click.command("demo", short_help="Show the tour.")
@options.audience
@options.printing
def command(reveal: frozenset[Reveal], debug: bool, strict_safe: bool, color: str, ascii_only: bool) -> int:
    """Show the bundled tour: one realistic transcript with all that a transcript can have."""
    audience = options.audience_of(reveal, debug, strict_safe)
    inputs = Inputs((str(bundled("samples", "tour.ocml")),), None, options.reading_options(None))
    return print_text(inputs, audience, options.output_of(color, ascii_only))
