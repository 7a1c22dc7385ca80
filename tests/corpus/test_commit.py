"""A scan that is killed at any rename continues as if nothing had happened."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.corpora import write_corpus
from tests.support.program import ROOT, run
from tests.support.tables import run_hooked, stable_views

pytestmark = pytest.mark.slow

FILES = 10
RENAMES = 34
"""More renames than a scan of these files makes: for its description, its run, and three tables of each batch."""


def scanned(runs: Path, target: Path) -> dict[str, int]:
    """Scan in this process, with different batches than a scan with two workers."""
    result = run("scan", runs, "--to", target, "--json", "--jobs", "1", "--exit-zero")
    assert result.code == 0, result.err
    summary: dict[str, int] = json.loads(result.out.splitlines()[-1])
    return summary


@each("moment", range(1, 2 * RENAMES), quick=0, test=40)
def test_a_scan_killed_at_a_rename_goes_on(moment: int, tmp_path: Path) -> None:
    write_corpus(tmp_path / "runs", FILES, turns=1)
    target = tmp_path / "a.tables"
    run_hooked(
        tmp_path, "scan", tmp_path / "runs", "--to", target, "--jobs", "2", "--quiet",
        SCAN_COUNT=str(tmp_path / "count"), SCAN_KILL_AT=str(moment),
    )  # fmt: skip
    summary = scanned(tmp_path / "runs", target)
    assert summary["done"] + summary["known"] == FILES
    assert not list(target.rglob("*.tmp"))
    scanned(tmp_path / "runs", tmp_path / "clean")
    assert stable_views(target) == stable_views(tmp_path / "clean")
    assert scanned(tmp_path / "runs", target)["done"] == 0


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
