"""Write the tables between their marks: all rows to the page about performance, the most telling to the README."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from pathlib import Path

from tests.benchmarks.figures import Row, table

ROOT = Path(__file__).parents[2]
PAGES = {"all": ROOT / "docs" / "performance.md", "short": ROOT / "README.md"}
"""The page of each table, which is between `<!-- measured: all -->` and `<!-- end -->`."""
_MARKED = r"(?<=<!-- measured: {} -->\n).*?(?=<!-- end -->)"


def has_marks(name: str) -> bool:
    """True if the page has exactly one place for this table."""
    return len(re.findall(_MARKED.format(name), PAGES[name].read_text("utf-8"), re.DOTALL)) == 1


def write(rows: Sequence[Row]) -> None:
    """Rewrite the tables of both pages."""
    for name, shown in (("all", rows), ("short", [row for row in rows if row.is_headline])):
        page = PAGES[name].read_text("utf-8")
        PAGES[name].write_text(put(page, name, f"{table(shown)}\n{machine()}\n"), "utf-8")


def put(page: str, name: str, made: str) -> str:
    """The page with new text between the marks of this name."""
    return re.sub(_MARKED.format(name), lambda _: f"\n{made}\n", page, count=1, flags=re.DOTALL)


def machine() -> str:
    """The conditions of the measurement in a sentence that does not identify the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    on = "1 core" if cores == 1 else f"{cores} cores"
    return (
        f"Medians of several rounds by turns, in one run, on {on}, {platform.system()},"
        f" Python {platform.python_version()}; ratios say more than times."
    )
