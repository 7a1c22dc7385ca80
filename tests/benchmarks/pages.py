"""Write the results between their marks: all rows to the page about performance, two to the README."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import Row, table

ROOT = Path(__file__).parents[2]
PERFORMANCE = ROOT / "docs" / "performance.md"
PAGES = {"short": PERFORMANCE, "all": PERFORMANCE, "two": ROOT / "README.md"}
"""The page of each part, which is between `<!-- measured: all -->` and `<!-- end -->`."""
TOLD = ("first content, chat 1 GB", "index, chat 1 GB")
"""The rows of the README."""
_MARKED = r"(?<=<!-- measured: {} -->\n).*?(?=<!-- end -->)"


def has_marks(name: str) -> bool:
    """True if the page has exactly one place for this table."""
    return len(re.findall(_MARKED.format(name), PAGES[name].read_text("utf-8"), re.DOTALL)) == 1


def write(rows: Sequence[Row]) -> None:
    """Rewrite the tables, and the sentence in the README if its rows were measured."""
    told = two_figures(rows)
    made = {"short": table([row for row in rows if row.is_headline]), "all": table(rows), "two": told}
    for name, page in PAGES.items():
        if made[name]:
            below = "" if name == "two" else f"\n{machine()}\n"
            page.write_text(put(page.read_text("utf-8"), name, made[name] + below), "utf-8")


def two_figures(rows: Sequence[Row]) -> str:
    """Return the sentence for the README, or an empty string if one of its rows was not measured."""
    found = {row.work: row.ours for row in rows if row.ours is not None}
    opened, indexed = (found.get(work) for work in TOLD)
    if opened is None or indexed is None:
        return ""
    return f"A 1 GB chat is on the screen after {opened} and is indexed at {indexed} on one core.\n"


def put(page: str, name: str, made: str) -> str:
    """Return the page with new text between the marks of this name."""
    return re.sub(_MARKED.format(name), lambda _: f"\n{made}\n", page, count=1, flags=re.DOTALL)


def machine() -> str:
    """Return the conditions of the measurement in a sentence that does not identify the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    on = "1 core" if cores == 1 else f"{cores} cores"
    return (
        f"Medians of several alternating rounds in one run, on {on}, {platform.system()},"
        f" Python {platform.python_version()}; ratios are more informative than absolute times."
    )
