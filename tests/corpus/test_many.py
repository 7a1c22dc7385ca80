"""Many files: each one is counted, and no worker needs much memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpora import small_transcript, write_corpus
from tests.support.program import run
from viewer.corpus.engines.local import LocalEngine
from viewer.corpus.views import connect, open_tables

MOST_MEMORY = 150 * 1000 * 1000
"""The maximum number of bytes that a worker may hold at its peak, whatever the files are."""
LARGE = 550
"""The number of turns in a transcript of about 1 MB."""
_SHOWN = (b"<|start|>user", b"<|channel|>final")


def peaks_of_workers() -> dict[int, int]:
    """Return the peak resident memory of each descendant process, in bytes."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_bytes().rpartition(b")")[2].split()[1])
        except (OSError, IndexError):
            continue
    family, found = {os.getpid()}, {}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    for worker in family - {os.getpid()}:
        try:
            lines = Path("/proc", str(worker), "status").read_text().splitlines()
        except OSError:
            continue
        found[worker] = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
@pytest.mark.parametrize(
    ("small", "large", "turns"), [(200, 2, 3), pytest.param(20_000, 200, 14, marks=pytest.mark.lab)]
)
def test_many_files_are_counted_within_the_memory_of_a_worker(
    small: int, large: int, turns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_corpus(tmp_path / "runs", small, turns=turns)
    for number in range(large):
        paths.append(tmp_path / "runs" / f"large-{number:03}.ocml")
        paths[-1].write_text(small_transcript(-1 - number, LARGE))
    messages = shown = size = 0
    for path in paths:
        data = path.read_bytes()
        size += len(data)
        messages += data.count(b"<|start|>")
        shown += sum(map(data.count, _SHOWN))
    peaks: dict[int, int] = {}
    of_engine = LocalEngine.run

    def watched(self: LocalEngine, batches: Iterator[Any]) -> Iterator[Any]:
        for outcome in of_engine(self, batches):
            peaks.update(peaks_of_workers())
            yield outcome

    monkeypatch.setattr(LocalEngine, "run", watched)
    target = tmp_path / "out.tables"
    result = run("scan", tmp_path / "runs", "--to", target, "--jobs", "2", "--json", "--exit-zero")
    assert result.code == 0, result.err
    summary = json.loads(result.out.splitlines()[-1])
    assert (summary["by_state"], summary["bytes"]) == ({"ok": small + large}, size)
    tables = open_tables(str(target))
    with connect(tables) as database:
        counted = database.execute("select count(*), sum(messages), sum(shown), sum(errors) from files").fetchone()
        listed = database.execute("select count(*) from messages").fetchone()
    assert counted == (small + large, messages, shown, summary["errors"])
    assert listed == (shown,)
    assert len(peaks) >= 2
    assert 0 < max(peaks.values()) <= MOST_MEMORY, peaks
    peak, rate = max(peaks.values()) / 1e6, size / 1e6 / summary["seconds"]
    print(f"{summary['done']} files, {rate:.1f} MB/s, {peak:.0f} MB at the peak")
    again = run("scan", tmp_path / "runs", "--to", target, "--jobs", "2", "--json", "--exit-zero")
    assert json.loads(again.out.splitlines()[-1])["done"] == 0
