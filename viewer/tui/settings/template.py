"""The settings file as it is begun: every setting in a comment, with what it may be."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.errors import ViewerError
from viewer.render.sanitize import sanitize_line
from viewer.tui.settings.places import tilde

TEMPLATE = """\
# Settings of ocmlview. Take away the '#' before what you want to change.
# `ocmlview config` shows what is in force and what is wrong in this file.
# Nothing in this file can reveal what is hidden: every start is safe.

# The colours: a name that `ocmlview themes` lists, or a theme of your own in themes/<name>.yaml beside this file.
#theme: dark

# Keys by action (`ocmlview config --keys` lists them); signs that YAML knows stand in quotes, the comma is `comma`.
#keymap:
#  search: [ctrl+f, slash]
#  partner: "%"

# The panes of the debug view from 100 columns on: true, false, or a size (columns; lines of the problems).
#layout:
#  outline: true
#  inspector: 34
#  problems: 6

# How wide text may be: screen, or a number of columns.
#wrap: screen

# Headings, emphasis, code and lists styled in place.
#markdown: true

# While following: after how many seconds an open message is said to have stalled.
#stall-after: 10

# How much is kept of an input that cannot be read twice (a pipe, compressed or UTF-16 text), and how much is
# decompressed: a number and KB, MB, or GB.
#max_spool: 4 GB
#max_decompressed: 2 GB
"""


def begin_settings(path: Path) -> None:
    """Write the file, for the person alone; one that is there is left as it is."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ViewerError(f"{sanitize_line(tilde(path))} is there already and is left as it is") from None
    except OSError as error:
        raise ViewerError(f"{sanitize_line(tilde(path))} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(TEMPLATE)
