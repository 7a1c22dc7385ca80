"""The worked examples in the pages: each command, run on the files of its page, prints what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.written import DOCS, example_files
from tests.support.program import run

CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if CONSOLE.search(page.read_text("utf-8"))]


def examples(page: str) -> list[tuple[list[str], str]]:
    """Return the arguments of each command, and the output below it."""
    parts = [part for block in CONSOLE.findall(page) for part in re.split(r"^\$ ", block, flags=re.MULTILINE) if part]
    return [(command.split()[1:], output) for command, _, output in (part.partition("\n") for part in parts)]


def test_there_are_worked_examples() -> None:
    assert {"next.md", "lens.md", "diff.md", "leaks.md", "replay.md"} <= {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_command_prints_what_the_page_shows(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text("utf-8")
    example_files(page.name, tmp_path)
    monkeypatch.chdir(tmp_path)
    found = examples(text)
    assert found
    for arguments, output in found:
        assert run(*arguments).out.rstrip("\n") == output.rstrip("\n"), " ".join(arguments)
