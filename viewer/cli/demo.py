"""`ocmlview demo`: the bundled tour, at once or played live."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.followed import Followed
from viewer.cli.inputs import Inputs
from viewer.cli.output import Output
from viewer.cli.show import print_live, print_text
from viewer.cli.terminal import take_keyboard
from viewer.cli.view import ViewRequest, open_viewer
from viewer.model.visibility import Audience, Reveal
from viewer.resources import bundled


@click.command("demo", short_help="Show the tour.")
@options.audience
@options.printing
@click.option("--live", is_flag=True, help="Play it into a temporary file, for about 25 seconds, and follow that.")
def command(reveal: frozenset[Reveal], debug: bool, strict_safe: bool, color: str, ascii_only: bool, live: bool) -> int:
    """Show the bundled tour: one realistic transcript with all that a transcript can have. With --live it is written
    while you watch: a broken message, a tool that is late and one that is cancelled are on the way."""
    audience = options.audience_of(reveal, debug, strict_safe)
    output = options.output_of(color, ascii_only)
    if live:
        return _play(audience, output, color)
    tour = str(bundled("samples", "tour.ocml"))
    if not take_keyboard():
        return print_text(Inputs((tour,), None, options.reading_options(None)), audience, output)
    return open_viewer((tour,), ViewRequest(audience, output.style, color=color))


def _play(audience: Audience, output: Output, color: str) -> int:
    from viewer.cli.demo_player import moments, played, script

    told = moments(script(bundled("samples", "tour.ocml").read_text("utf-8")))
    with played(told) as (path, player):
        if not take_keyboard():
            return print_live(Followed(path, is_finished=player.is_finished), audience, output)
        return open_viewer((path,), ViewRequest(audience, output.style, color=color, follow=True))
