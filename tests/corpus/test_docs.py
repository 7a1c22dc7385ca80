"""The page about corpora lists every ready-made query, every state of a file, and every option of `scan`."""

from __future__ import annotations

import re

import click

from tests.support.program import ROOT
from viewer.cli.scan import command
from viewer.corpus.ready import ready_queries
from viewer.corpus.tables import FileState

PAGE = (ROOT / "docs" / "corpora.md").read_text("utf-8")
SHARED = {"--help", "--level", "--reveal", "--exit-zero", "--quiet", "--json", "--strict", "--resume"}


def test_the_page_lists_queries_states_and_options() -> None:
    assert set(re.findall(r"^\| `@([a-z-]+)` \|", PAGE, re.MULTILINE)) == set(ready_queries())
    assert [state.value for state in FileState if f"`{state.value}`" not in PAGE] == []
    options = {name for each in command.params if isinstance(each, click.Option) for name in each.opts}
    assert sorted(name for name in options - SHARED if name.startswith("--") and f"`{name}" not in PAGE) == []
