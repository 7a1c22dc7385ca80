"""`ocmlview [view] FILE`: the viewer. Where there is no screen for it, the safe view is printed."""

from __future__ import annotations

import click

from viewer.cli import options
from viewer.cli.exits import FINE
from viewer.cli.inputs import Inputs
from viewer.cli.output import Output
from viewer.cli.show import print_text
from viewer.cli.terminal import take_keyboard
from viewer.core.visibility import Reveal
from viewer.render.style import own
from viewer.render.table import Cell, table_lines
from viewer.sources.bytes import is_directory
from viewer.sources.folder import list_transcripts


@click.command("view", short_help="Open the viewer.")
@options.reading
@options.audience
@options.printing
@options.following
@click.option("--from-start", is_flag=True, help="With -f: begin at the top, not at the end.")
@click.option("--theme", metavar="NAME", default="", help="The colours of the viewer.")
@click.option("--goto", "go_to", metavar="PLACE", default="", help="Open there: 12, t3, 50%, with -d L120 or B4096.")
def command(
    files: tuple[str, ...],
    dialect: str | None,
    preambles: str | None,
    reveal: frozenset[Reveal],
    debug: bool,
    strict_safe: bool,
    color: str,
    ascii_only: bool,
    follow: bool,
    from_start: bool,
    stall_after: float | None,
    theme: str,
    go_to: str,
) -> int:
    """View transcripts: the conversation as its end user saw it."""
    audience = options.audience_of(reveal, debug, strict_safe)
    paths = options.inputs_of(files)
    reading = options.reading_options(preambles)
    output = options.output_of(color, ascii_only)
    folder = len(paths) == 1 and is_directory(paths[0])
    if not take_keyboard():
        return _list(paths[0], output) if folder else print_text(Inputs(paths, dialect, reading), audience, output)
    from viewer.tui.app import ViewOptions, run_app

    return run_app(
        paths,
        ViewOptions(
            dialect=dialect,
            reading=reading,
            revealed=audience.revealed,
            strict=audience.strict,
            theme=theme or ("plain" if color == "never" else ""),
            ascii_only=output.style.ascii,
            go_to=go_to,
            follow=follow,
            from_start=from_start,
            stall_after=stall_after,
        ),
    )


def _list(folder: str, output: Output) -> int:
    """The transcripts of a folder, where there is no screen to choose one on."""
    name = output.style.name
    rows: list[list[Cell]] = [
        [name(found.name), own(found.dialect or ""), found.size, name(found.reason)]
        for found in list_transcripts(folder)
    ]
    output.write_styled(table_lines(("file", "format", "bytes", ""), rows, output.width, output.style))
    return FINE
