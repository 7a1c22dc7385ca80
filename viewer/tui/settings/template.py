"""Template of the settings file: every setting, commented out, with its possible values."""

from __future__ import annotations

import os
from pathlib import Path

from viewer.errors import ViewerError
from viewer.render.sanitize import sanitize_line
from viewer.tui.settings.places import tilde

TEMPLATE = """\
# Settings of ocmlview. Remove the '#' before a setting to change it.
# `ocmlview config` shows the effective settings and any mistakes in this file.
# Nothing in this file can reveal hidden messages: only a key or a command-line option can.

# The color theme: a name from `ocmlview themes`, or your own theme in themes/<name>.yaml next to this file.
#theme: dark

# Keys by action (`ocmlview config --keys` lists them). Quote characters that are special in YAML, and write `comma` for
# a comma.
#keymap:
#  search: [ctrl+g, slash]
#  partner: "%"

# The panes that the debug view opens if there is room (the outline from 100 columns, the inspector from 140): true,
# false, or a size (in columns; for the problems, in lines).
#layout:
#  outline: true
#  inspector: 40
#  problems: false

# The maximum width of the reading column: a number of columns, or screen.
#wrap: 88

# Render Markdown; false shows its source. The M key toggles this.
#markdown: true

# When following: seconds without data after which an unfinished message counts as stalled.
#stall-after: 10

# Load format plug-ins (`ocmlview formats` lists them).
#plugins: true

# Look for agent sessions when you start `ocmlview` without a file.
#discovery: true

# Remember marks, the last position in each file, and pane sizes. The state file contains only numbers.
#state: true

# Additional folders to search for sessions, by agent (`ocmlview sessions --places` lists the agents and their folders).
#places:
#  claude-code: ~/backup/claude/projects

# Prices per million tokens, by model or by a prefix of its name and `*`. None are built in. `cached` is the price
# of input read from a cache. The debug view ($) and `stats -d` show the cost of transcripts that include token usage.
#prices:
#  my-model-large: {input: 2.5, cached: 0.25, output: 10}
#  my-model-*: {input: 0.5, output: 2}

# Patterns (RE2) that `--redact` masks in addition to its own, by name. If a pattern has a group, only the group
# is masked.
#redact:
#  customer: 'C-[0-9]{8}'
#  badge: 'badge (?:no|number) ([0-9]+)'

# The maximum size of the copy of an input that cannot be read twice (a pipe, compressed or UTF-16 text), and of
# decompressed data: a number followed by KB, MB, or GB.
#max_spool: 4 GB
#max_decompressed: 2 GB
"""


def begin_settings(path: Path) -> None:
    """Write the template to a new settings file, readable only by its owner. An existing file is not changed."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ViewerError(f"{sanitize_line(tilde(path))} already exists; it was not changed") from None
    except OSError as error:
        raise ViewerError(f"{sanitize_line(tilde(path))} cannot be written: {error.strerror}") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(TEMPLATE)
