"""The Ray engine writes the same tables as the local one, even if a worker is killed or a node is removed.

`make lab` runs this file if Ray is installed: `.venv/bin/pip install 'ray>=2.50'`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpora import small_transcript, write_corpus
from tests.support.program import ROOT, run
from tests.support.tables import hook_folder, rows_in, stable_views

pytest.importorskip("ray")
pytestmark = pytest.mark.lab


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two nodes whose workers run the hook."""
    import ray
    from ray.cluster_utils import Cluster

    hooks = hook_folder(tmp_path_factory.mktemp("hooks"))
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(hooks), str(ROOT), before or ""])
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.second = made.add_node(num_cpus=1)
    made.wait_for_nodes(timeout=300)  # a busy machine is slow
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()
    os.environ["PYTHONPATH"] = before or ""


def scanned(runs: Path, target: Path, *options: str) -> dict[str, Any]:
    result = run("scan", runs, "--to", target, "--engine", "ray", "--json", *options)
    assert result.err == ""
    summary: dict[str, Any] = json.loads(result.out.splitlines()[-1])
    return summary


def test_poisoned_files_become_rows(cluster: Any, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    runs.mkdir()
    for name in ("kills-always.ocml", "kills-once.ocml", "sleeps.ocml", *(f"run-{n}.ocml" for n in range(9))):
        (runs / name).write_text(small_transcript(len(name), 2))
    assert scanned(runs, tmp_path / "out", "--timeout", "10")["by_state"] == {"killed": 1, "ok": 10, "timeout": 1}
    states = {Path(row["path"]).stem: row["state"] for row in rows_in(tmp_path / "out", "files")}
    assert (states["kills-always"], states["kills-once"], states["sleeps"]) == ("killed", "ok", "timeout")


def test_a_removed_node_loses_nothing(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node is removed when 6 of 15 batches are done."""
    from viewer.corpus.engines import ray as engine

    write_corpus(tmp_path / "runs", 60, turns=4)
    done = 0
    settle = engine.RayEngine._settle

    def counting(self: engine.RayEngine, task: Any) -> Any:
        nonlocal done
        done += 1
        if done == 6:
            cluster.remove_node(cluster.second, allow_graceful=False)
        return settle(self, task)

    monkeypatch.setattr(engine.RayEngine, "_settle", counting)
    summary = scanned(tmp_path / "runs", tmp_path / "ray")
    assert (summary["done"], summary["by_state"]) == (60, {"ok": 60})
    assert run("scan", tmp_path / "runs", "--to", tmp_path / "local", "--quiet", "--exit-zero").code == 0
    assert stable_views(tmp_path / "ray") == stable_views(tmp_path / "local")
    assert scanned(tmp_path / "runs", tmp_path / "ray")["done"] == 0
