"""All ways to print: command lines of each command, for testing their output."""

from __future__ import annotations

import os
from collections.abc import Sequence
from zlib import crc32

from viewer.formats import WRITERS
from viewer.render.exports import EXPORTERS

WHERE = [["--where", "is:shown,open msg>0"], ["--where", "e -has:time msg<99"]]
"""Filters that the safe view allows. Shown messages match the first one."""
PRINTED: dict[str, list[list[str]]] = {
    "view": [[], ["--strict-safe"]],
    "show": [
        [],
        ["--json"],
        ["--strict-safe"],
        ["--json", "--strict-safe"],
        ["--color", "always"],
        ["--ascii"],
        ["--redact"],
        ["--at", "B40"],
        ["--at-event", "2", "--json"],
        ["--at-event", "3", "--strict-safe"],
        *WHERE,
    ],
    "replay": [["--idle-limit", "0"], ["--idle-limit", "0", "--strict-safe"]],
    "timing": [[], ["--json"], ["--strict-safe"]],
    "check": [[], ["--json"], ["--sarif"], ["--github"], ["--junit"], ["--lens"]],
    "convert": [["--to", name] for name in WRITERS],
    "stats": [[], ["--json"], WHERE[0]],
    "next": [[], ["--json"], ["--policy", "keep", "--text"]],
    "lens": [[], ["--json"], ["--as", "harmony,2.2", "--exit-code"]],
    "leaks": [[], ["--json"], ["--from", "tool"]],
    "diff": [[*options, "/dev/null"] for options in ([], ["--json"], ["--stat"], ["--side"], ["--strict", "--stat"])],
    "export": [
        *(["-o", "-", "--to", form] for form in EXPORTERS),
        ["-o", "-", "--strict-safe"],
        ["-o", "-", *WHERE[1]],
        ["-o", "-", "--to", "jsonl", "--redact"],
    ],
}
"""The commands that read a transcript."""
WITHOUT_TRANSCRIPT = {"serve", "explain", "formats", "sessions", "themes", "config", "completion", "demo", "tap"}
"""Commands with output that does not depend on transcripts."""
OF_CORPORA = {"scan", "sql", "browse"}
"""Commands that write and read tables. `tests/laws/leaks/test_table_leaks.py` searches what they write and print."""

DEBUG_ONLY = {"next", "leaks"}
"""Commands that print one sentence unless everything is revealed."""

FOLDER = "OUT"
"""The name of an output folder in a command line. Its files are searched like printed text."""
SITES = [
    ["export", "--to", "site", *options, "-o", FOLDER]
    for options in ([], ["--strict-safe"], ["--single"], WHERE[0], ["--redact"])
]
"""The command lines that write a site."""

SURFACES = [[command, *options] for command, lines in PRINTED.items() for options in lines]
SAFE_SURFACES = [line for line in SURFACES if line[0] != "check"]
"""The surfaces for an end user. `check` is for developers, and prints positions but no text."""
BRIEF_SURFACES = [
    [*line, "--reveal", "brief"]
    for line in SAFE_SURFACES
    if line[0] in ("view", "show", "export") and "--strict-safe" not in line
]
"""The surfaces that have a line per call at the brief level."""

ALL = os.environ.get("OCML_SURFACES") == "all"
"""True if each case tests all surfaces, as in `make lab`."""


def some(lines: Sequence[list[str]], case: str, one_in: int = 3) -> list[list[str]]:
    """Return one in `one_in` surfaces for a case, by a stable hash so that the cases of a test together cover all of
    them.

    Mark the test with `surfaces`: `make lab` repeats it with all surfaces for each case."""
    return [line for line in lines if ALL or crc32(f"{case}: {' '.join(line)}".encode()) % one_in == 0]
