"""`ocmlview themes`: list the themes, each in its own colors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from viewer.cli import completion, options
from viewer.cli.exits import FINDINGS, FINE, complain
from viewer.cli.output import Cell, Output, table_lines
from viewer.render.sanitize import sanitize_line
from viewer.render.style import trusted

if TYPE_CHECKING:
    from viewer.render.theme import Theme


@click.command("themes", short_help="List themes.")
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=completion.themes)
@options.printing
def command(names: tuple[str, ...], color: str, ascii_only: bool) -> int:
    """List themes, including your own. In a terminal with colors, shows a preview of each. Exits with 1 if a theme
    cannot be used."""
    from viewer.render.theme import ThemeError, find_theme, theme_names
    from viewer.tui.settings.places import themes_folder

    folders = (themes_folder(),)
    found: list[Theme] = []
    code = FINE
    for name in names or theme_names(folders):
        try:
            found.append(find_theme(name, folders))
        except ThemeError as error:
            complain(str(error))
            code = FINDINGS
    output = options.output_of(color, ascii_only)
    if output.style.color:
        _preview(found, output)
    elif found:
        rows: list[list[Cell]] = [
            [sanitize_line(theme.name), output.style.name(theme.title), trusted(_origin(theme))] for theme in found
        ]
        output.write_styled(table_lines(("name", "title", "from"), rows, output.width, output.style))
    return code


def _preview(themes: list[Theme], output: Output) -> None:
    from viewer.tui.themes.preview import preview_lines

    for place, theme in enumerate(themes):
        if place:
            output.write_styled([()])
        output.write(preview_lines(theme, output.style))


def _origin(theme: Theme) -> str:
    from viewer.resources import bundled

    return "the program" if theme.files[0].parent == bundled("themes") else "you"
