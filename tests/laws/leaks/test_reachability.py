"""No hidden body is reachable from the safe app, even after the debug view was open. Only the index has header
words."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.leaks.planted import KINDS, Planted, everything
from tests.support.leaks.reaching import reached
from viewer.tui.search.matchers import MatchRequest

ROOT = Path(__file__).parents[3]
WHEN = ["after loading", "after debug", "after use"]


def held(planted: Planted, when: str, folder: Path) -> list[str]:
    """Return the places in the process that contain canaries, with the kind of each canary."""
    (folder / "chat").write_bytes(planted.data)
    (folder / "canaries").write_text(" ".join(planted.canaries), "utf-8")
    asked = ["tests.support.leaks.reaching", str(folder / "chat"), planted.format, str(folder / "canaries"), when]
    done = subprocess.run(
        [sys.executable, "-m", *asked],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *found, last = [line.split("\t") for line in done.stdout.splitlines()]
    assert last[0] == "texts"
    assert int(last[1]) > 30_000
    return [f"{planted.place_of(word)}: {path}" for path, word in found]


@pytest.mark.share(test=34)
@pytest.mark.parametrize("when", WHEN)
@pytest.mark.parametrize("format", KINDS)
def test_the_safe_app_holds_nothing_hidden(format: str, when: str, tmp_path: Path) -> None:
    assert held(everything(format), when, tmp_path) == []


@pytest.mark.slow
def test_the_walk_finds_what_the_debug_view_holds(tmp_path: Path) -> None:
    found = held(everything("openchatml-2.2"), "in debug", tmp_path)
    assert {place.partition(":")[0] for place in found} >= {"system", "analysis", "call with its names"}


def test_the_walk_enters_values_that_the_collector_does_not_track() -> None:
    value = MatchRequest("a canary", 0, 8)
    assert gc.get_referents(value) == []
    assert [text for _, text in reached([value])] == ["a canary"]
