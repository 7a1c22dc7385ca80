"""Transcripts and tables in an S3-compatible store: the same tables as on a disk.

`make lab` runs this file if `moto_server` is on the PATH, or if OCML_S3_SERVER names it. It comes from another
environment: `python -m venv s3 && s3/bin/pip install 'moto[server,s3]'`."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpora import write_corpus
from tests.support.program import ROOT
from tests.support.tables import OF_A_RUN

SERVER = os.environ.get("OCML_S3_SERVER") or shutil.which("moto_server")
pytestmark = [pytest.mark.lab, pytest.mark.skipif(not SERVER, reason="no moto_server")]
QUERIES = (
    "select * from files",
    "select * from messages join files using (file_key)",
    "select * from diagnostics join files using (file_key)",
)


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, str]]:
    """A server with the bucket `corpus`, as the environment of its clients."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen(
        [str(SERVER), "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/corpus", method="PUT"), timeout=10).close()
                break
            except (urllib.error.URLError, OSError):
                assert server.poll() is None
                time.sleep(0.2)  # until it listens
        yield {
            "AWS_ENDPOINT_URL": url,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
    finally:
        server.kill()
        server.wait()


def program(store: dict[str, str], *arguments: str | Path, code: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "viewer", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **store},
        timeout=300,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout if code in (0, 1) else done.stderr


def scan(store: dict[str, str], *arguments: str | Path) -> dict[str, Any]:
    out = program(store, "scan", *arguments, "--json", "--exit-zero", "--jobs", "2")
    summary: dict[str, Any] = json.loads(out.splitlines()[-1])
    return summary


def answers(store: dict[str, str], place: str | Path, prefix: str) -> list[list[dict[str, Any]]]:
    """Return all rows, without the values that depend on where the tables are."""
    different = OF_A_RUN | {"file_key", "mtime_ms"}
    found = []
    for query in QUERIES:
        rows = [json.loads(line) for line in program(store, "sql", query, place, "--json").splitlines()]
        for row in rows:
            row["path"] = row["path"].removeprefix(prefix)
        kept = [{name: row[name] for name in row if name.removesuffix("_1") not in different} for row in rows]
        found.append(sorted(kept, key=str))
    return found


def upload(store: dict[str, str], runs: Path) -> None:
    """Copy a folder to `s3://corpus/runs`, in a process that has the environment."""
    text = (
        "import sys; from pyarrow import fs; files, path = fs.FileSystem.from_uri('s3://corpus/runs'); "
        "fs.copy_files(sys.argv[1], path, source_filesystem=fs.LocalFileSystem(), destination_filesystem=files)"
    )
    subprocess.run([sys.executable, "-c", text, str(runs)], env={**os.environ, **store}, check=True, timeout=300)


def test_a_store_gives_the_same_tables_as_a_disk(store: dict[str, str], tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    write_corpus(runs, 30, turns=2)
    shard = ["tar", "-cf", str(runs / "shard.tar"), "-C", str(runs / "000"), "run-00001.ocml", "run-00002.ocml"]
    subprocess.run(shard, check=True, timeout=60)
    (runs / "noise.bin").write_bytes(bytes(range(256)) * 100)
    (runs / "empty.ocml").touch()
    upload(store, runs)
    remote, local = "s3://corpus/out", tmp_path / "out"
    summary = scan(store, "s3://corpus/runs", "--to", remote)
    assert (summary["done"], summary["by_state"]) == (34, {"ok": 32, "empty": 1, "not-a-transcript": 1})
    assert scan(store, runs, "--to", local)["by_state"] == summary["by_state"]
    expected = answers(store, local, f"{runs}/")
    assert len(expected[1]) > 30
    assert answers(store, remote, "s3://corpus/runs/") == expected
    assert scan(store, "s3://corpus/runs", "--to", remote)["done"] == 0
    program(store, "scan", "--compact", "--to", remote, "--quiet")
    assert answers(store, remote, "s3://corpus/runs/") == expected
    (runs / "000" / "run-00003.ocml").write_text("version: 2.2\n<|start|>user<|message|>Again<|end|>\n")
    upload(store, runs)
    again = scan(store, "s3://corpus/runs", "--to", remote)
    assert again["done"] > 0
    count = "select count(*) as n, count(distinct path) as m from files"
    assert json.loads(program(store, "sql", count, remote, "--json")) == {"n": 34, "m": 34}
    assert "no files at s3://corpus/nowhere" in program(
        store, "scan", "s3://corpus/nowhere", "--to", tmp_path / "x", code=2
    )
