"""Files that are generated from the code: checked, or rewritten with OCML_UPDATE=1."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tests.support.program import ROOT

DOCS = ROOT / "docs"


def is_as_made(path: Path, made: str) -> bool:
    """Compare a generated file with the output of the code. `make docs` updates the file."""
    if os.environ.get("OCML_UPDATE"):
        path.write_text(made, "utf-8")
    return path.read_text("utf-8") == made


_FILE = re.compile(r"^```text (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def example_files(page: str, folder: Path) -> None:
    """Write the files of a page's worked example into a folder."""
    for name, content in _FILE.findall((DOCS / page).read_text("utf-8")):
        (folder / name).write_text(content, "utf-8")
