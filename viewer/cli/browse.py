"""`ocmlview browse`: explore the problems and files of a scan; Enter opens the message."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import click

from viewer.cli import is_interactive, options
from viewer.corpus.packages import check_packages
from viewer.errors import ViewerError

if TYPE_CHECKING:
    from viewer.corpus.browse import Place
    from viewer.document.filter.tree import Filter


@click.command("browse", short_help="Browse the tables of a scan.")
@click.argument("place", metavar="DIR")
@options.where
@click.option("--root", default="", metavar="DIR", help="Resolve relative paths in the tables against DIR.")
@click.option("-d", "--debug", is_flag=True, help="Read a .DEBUG directory, which contains revealed data.")
def command(place: str, where: Filter | None, root: str, debug: bool) -> int:
    """Browse the tables of a scan: problems by code, the files with each problem, and the message behind it, always in
    the safe view. Press & to filter, s to sort, and @ to list the ready-made queries."""
    check_packages("browse")
    from viewer.corpus.browse import Browser
    from viewer.corpus.views import connect, open_tables

    tables = open_tables(place, debug=debug)
    if not is_interactive():
        raise ViewerError("browse needs a terminal; `ocmlview sql @top-diagnostics DIR` prints the problems")
    from viewer.tui.browse.app import run_browser
    from viewer.tui.settings.file import read_settings

    settings = read_settings()
    with connect(tables) as database:
        browser = Browser(database, tables.contents, where, root)
        while True:
            chosen = run_browser(browser, settings, tables.place)
            if isinstance(chosen, int):
                return chosen
            _open(chosen)
            if chosen.is_changed:
                browser.note(f"{chosen.path} has changed since the scan.")


def _open(place: Place) -> None:
    """Open a file in the viewer, in a separate process and always in the safe view."""
    words = ["--goto", str(place.message)] if place.message is not None else []
    subprocess.run([sys.executable, "-m", "viewer", "view", *words, "--", place.path], check=False)
