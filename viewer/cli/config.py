"""`ocmlview config`: show the effective settings and where each comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from viewer.cli import options
from viewer.cli.exits import FINDINGS, FINE, complain, say
from viewer.cli.output import Cell, table_lines
from viewer.render.sanitize import sanitize_line
from viewer.render.style import trusted
from viewer.sources.limits import size_text

if TYPE_CHECKING:
    from viewer.tui.settings.settings import Settings


@click.command("config", short_help="Show effective settings.")
@click.option("--init", "begin", is_flag=True, help="Write a commented settings file.")
@click.option("--keys", is_flag=True, help="List actions and their keys.")
@options.printing
def command(begin: bool, keys: bool, color: str, ascii_only: bool) -> int:
    """Show effective settings and where each comes from. No setting reveals anything. If the file has mistakes, reports
    them with their positions, ignores them, and exits with 1."""
    from viewer.tui.settings.file import read_settings
    from viewer.tui.settings.places import config_file, state_file, themes_folder, tilde
    from viewer.tui.settings.template import begin_settings

    path = config_file()
    if begin:
        begin_settings(path)
        say(f"wrote {tilde(path)}")
        return FINE
    settings = read_settings()
    output = options.output_of(color, ascii_only)
    name = output.style.name
    if keys:
        rows = [list(row) for row in _key_rows(settings, output.style.ascii)]
        output.write_styled(table_lines(("action", "keys", "does"), rows, output.width, output.style))
    else:
        absent = "" if path.exists() else "  (missing; `ocmlview config --init` writes it)"
        places: list[list[Cell]] = [
            [trusted("settings"), name(tilde(path) + absent)],
            [trusted("themes"), name(tilde(themes_folder()))],
            [trusted("state"), name(tilde(state_file()))],
        ]
        output.write_styled(table_lines(("files", ""), places, output.width, output.style))
        output.write_styled([()])
        rows = [[name(cell) for cell in row] for row in _rows(settings)]
        output.write_styled(table_lines(("setting", "value", "from"), rows, output.width, output.style))
    for problem in settings.problems_found:
        complain(problem)
    return FINDINGS if settings.problems_found else FINE


def _rows(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Yield each setting with its value and origin. Key bindings are included only if the user changed them."""
    from viewer.tui.keys import by_id
    from viewer.tui.settings.settings import theme_in_force

    def origin(key: str) -> str:
        return f"line {settings.lines[key]}" if key in settings.lines else "default"

    theme = theme_in_force(settings)
    yield "theme", theme.value, origin("theme") if theme.origin in ("", "theme") else theme.origin
    for id in settings.keymap:
        yield f"keymap.{id}", " ".join(by_id(id, settings.actions).shown_keys), origin(f"keymap.{id}")
    for pane in ("outline", "inspector", "problems"):
        chosen = getattr(settings, pane)
        yield f"layout.{pane}", str(chosen.size or chosen.is_open).lower(), origin(f"layout.{pane}")
    yield "wrap", str(settings.wrap or "screen"), origin("wrap")
    yield "markdown", str(settings.markdown).lower(), origin("markdown")
    yield "stall-after", f"{settings.stall_after:g}", origin("stall-after")
    yield "plugins", str(settings.plugins).lower(), origin("plugins")
    yield "discovery", str(settings.discovery).lower(), origin("discovery")
    yield "state", str(settings.state).lower(), origin("state")
    for agent, folders in settings.places.items():
        yield f"places.{agent}", ", ".join(folders), origin(f"places.{agent}")
    for name, pattern in settings.redact.items():
        yield f"redact.{name}", pattern, origin(f"redact.{name}")
    for model, price in settings.prices.by_model.items():
        cached = "" if price.cached is None else f", cached {price.cached:g}"
        yield f"prices.{model}", f"input {price.input:g}{cached}, output {price.output:g}", origin(f"prices.{model}")
    yield "max_spool", size_text(settings.limits.max_spool), origin("max_spool")
    yield "max_decompressed", size_text(settings.limits.max_decompressed), origin("max_decompressed")


def _key_rows(settings: Settings, ascii_only: bool) -> Iterator[tuple[Cell, Cell, Cell]]:
    from viewer.tui.terminal.key_names import shown_key

    for action in settings.actions:
        keys = [*(shown_key(key, ascii=ascii_only) for key in action.keys), *(f"y {key}" for key in action.after_yank)]
        yield trusted(action.id), sanitize_line(" ".join(keys) or "-"), trusted(action.help)
