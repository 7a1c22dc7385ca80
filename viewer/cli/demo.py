"""`ocmlview demo`: the tour that comes with the program."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.inputs import Inputs
from viewer.cli.show import print_text
from viewer.cli.terminal import take_keyboard
from viewer.core.visibility import Reveal
from viewer.resources import bundled


@click.command("demo", short_help="Show the tour.")
@options.audience
@options.printing
def command(reveal: frozenset[Reveal], debug: bool, strict_safe: bool, color: str, ascii_only: bool) -> int:
    """Show the bundled tour: one realistic transcript with all that a transcript can have."""
    audience = options.audience_of(reveal, debug, strict_safe)
    tour = str(bundled("samples", "tour.ocml"))
    output = options.output_of(color, ascii_only)
    if not take_keyboard():
        return print_text(Inputs((tour,), None, options.reading_options(None)), audience, output)
    from viewer.tui.app import ViewOptions, run_app

    theme = "plain" if color == "never" else ""
    shown = ViewOptions(revealed=audience.revealed, strict=strict_safe, theme=theme, ascii_only=output.style.ascii)
    return run_app([tour], shown)
