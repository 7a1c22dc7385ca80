"""A scan that is killed at any rename or sync continues as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cases import LAB, targets_of
from tests.support.corpora import write_corpus
from tests.support.program import ROOT, run
from tests.support.tables import run_hooked, stable_views

pytestmark = pytest.mark.slow

FILES = 10


def scanned(runs: Path, target: Path) -> dict[str, int]:
    """Scan in this process, with different batches than a scan with two workers."""
    result = run("scan", runs, "--to", target, "--json", "--jobs", "1", "--exit-zero")
    assert result.code == 0, result.err
    summary: dict[str, int] = json.loads(result.out.splitlines()[-1])
    return summary


def killed(folder: Path, moment: int) -> tuple[Path, int]:
    """Kill a scan at the moment with this number, or never if it is 0. Return its tables, and the number of moments."""
    place = folder / str(moment)
    place.mkdir()
    result = run_hooked(
        place, "scan", folder / "runs", "--to", place / "a.tables", "--jobs", "2", "--quiet", "--exit-zero",
        SCAN_COUNT=str(place / "count"), SCAN_KILL_AT=str(moment),
    )  # fmt: skip
    assert result.returncode == (-signal.SIGKILL if moment else 0), result.stderr
    return place / "a.tables", (place / "count").stat().st_size


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")
@pytest.mark.parametrize("share", [60, pytest.param(1, marks=pytest.mark.lab)])
def test_a_scan_killed_at_any_rename_or_sync_goes_on(share: int, tmp_path: Path) -> None:
    """All moments of a first run, before and after each rename and each sync, or one in `share` of them."""
    write_corpus(tmp_path / "runs", FILES, turns=1)
    complete, count = killed(tmp_path, 0)
    assert count >= 4 * 20  # of each write
    scanned(tmp_path / "runs", tmp_path / "clean")
    clean = stable_views(tmp_path / "clean")
    assert stable_views(complete) == clean
    targets = targets_of([*map(str, range(1, count + 1))], 0, share)
    for moment in (int(name) for name, target in targets.items() if target != LAB):
        target, _ = killed(tmp_path, moment)
        summary = scanned(tmp_path / "runs", target)
        assert summary["done"] + summary["known"] == FILES, moment
        assert not list(target.rglob("*.tmp")), moment
        assert stable_views(target) == clean, moment
        assert scanned(tmp_path / "runs", target)["done"] == 0, moment


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    write_corpus(tmp_path / "runs", 200, turns=14)
    target = tmp_path / "out"
    command = [sys.executable, "-m", "viewer", "scan", str(tmp_path / "runs"), "--to", str(target), "--jobs", "1"]
    child = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, start_new_session=True
    )
    while not list(target.glob("files/*.parquet")):
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)
    out, err = child.communicate(timeout=60)
    if child.returncode == 1:  # it had finished before the signal came
        return
    assert (child.returncode, out) == (130, "")
    assert err.startswith("ocmlview: stopped: ") and err.endswith("; run the same command to continue\n")
    first = scanned(tmp_path / "runs", target)
    assert first["known"] > 0
    assert scanned(tmp_path / "runs", target)["done"] == 0
