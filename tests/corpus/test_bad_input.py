"""Files that are not transcripts, cannot be read, or kill a worker: each becomes a row, and no other file is lost."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from pebble import ProcessPool

from tests.support.corpora import small_transcript
from tests.support.program import CHAT, run
from tests.support.tables import rows_in, run_hooked
from viewer.corpus.rows import MOST_IN_NOISE, FileRows, content_hash, rows_of
from viewer.index.findings import MOST_PER_CODE
from viewer.model.visibility import EVERYTHING, Audience

pytestmark = pytest.mark.slow

NOISE = random.Random(7).randbytes(300_000)
PACKED = gzip.compress(small_transcript(1).encode())
MANY = "version: 2.2\n" + "<|start|>assistant<|channel|>anaylsis<|message|>x<|end|>\n" * (MOST_PER_CODE + 500)
CASES: dict[str, tuple[bytes, str, str | None]] = {
    "noise": (NOISE, "not-a-transcript", "binary"),
    "picture.png": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + NOISE[:5000], "not-a-transcript", "binary"),
    "text.txt": (b"To be or not to be.\n" * 2000, "not-a-transcript", "text"),
    "other.json": (b'{"a": [1, 2, 3]}', "not-a-transcript", "json"),
    "cut.ocml": (CHAT.encode()[:-10], "truncated", "body"),
    "cut.ocml.gz": (PACKED[:-4000], "truncated", "compressed-truncated"),
    "damaged.ocml.gz": (b"\x1f\x8b\x08" + NOISE[:3000], "unreadable", "compressed-damaged"),
    "whole.ocml.gz": (PACKED, "ok", None),
    "whole.ocml.xz": (lzma.compress(CHAT.encode()), "ok", None),
    "wide.ocml": (CHAT.encode("utf-16"), "ok", None),
    "empty.ocml": (b"", "empty", None),
    "large.ocml": (CHAT.encode() * 1000, "too-large", None),
    "bomb.ocml.gz": (gzip.compress(CHAT.encode() * 1000), "too-large", None),
    "many.ocml": (MANY.encode(), "ok", None),
}
LIMIT = 310_000


def found(path: Path, audience: Audience | None = None) -> FileRows:
    return rows_of(str(path), audience or Audience(), max_size=LIMIT)


def test_each_kind_of_bad_input_has_its_state(tmp_path: Path) -> None:
    for name, (data, state, reason) in CASES.items():
        path = tmp_path / name
        path.write_bytes(data)
        for audience in (Audience(), Audience(strict=True), EVERYTHING):
            rows = found(path, audience)
            assert (rows.file["state"], rows.file["reason"]) == (state, reason), name


def test_little_is_kept_of_noise(tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(NOISE)
    rows = found(tmp_path / "noise")
    assert len(rows.diagnostics) <= MOST_IN_NOISE
    (tmp_path / "many.ocml").write_text(MANY)
    rows = found(tmp_path / "many.ocml")
    codes = [row["code"] for row in rows.diagnostics]
    assert max(map(codes.count, codes)) == MOST_PER_CODE
    assert rows.file["dropped"] >= 500
    assert rows.file["errors"] + rows.file["warnings"] >= MOST_PER_CODE + 500


def test_files_that_cannot_be_opened_have_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dangling.ocml").symlink_to(tmp_path / "nowhere")
    loop = tmp_path / "loop.ocml"
    loop.symlink_to(loop)
    assert [found(path).file["reason"] for path in (tmp_path / "dangling.ocml", loop)] == ["missing", "missing"]
    secret = tmp_path / "secret.ocml"
    secret.write_text(CHAT)
    real = os.open

    def refuse(path: str, *given: int, **options: int) -> int:
        if os.fspath(path) == str(secret):
            raise PermissionError(13, "Permission denied")
        return real(path, *given, **options)

    monkeypatch.setattr(os, "open", refuse)
    assert (found(secret).file["state"], found(secret).file["reason"]) == ("unreadable", "permission")
    assert content_hash(str(tmp_path / "dangling.ocml")) is None


def test_the_exit_code_says_that_a_file_was_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "dangling.ocml").symlink_to(tmp_path / "nowhere")
    (folder / "noise").write_bytes(NOISE)
    assert run("scan", folder, "--to", tmp_path / "out", "--quiet").code == 2
    assert run("scan", folder, "--to", tmp_path / "out", "--quiet").code == 2
    (tmp_path / "nowhere").write_text(CHAT)
    assert run("scan", folder, "--to", tmp_path / "out", "--quiet", "--retry-failed").code == 1  # noise
    assert {row["state"] for row in rows_in(tmp_path / "out", "files")} == {"ok", "not-a-transcript"}


@pytest.mark.slow
def test_poisoned_files_become_rows(tmp_path: Path) -> None:
    """One file kills its worker each time, one kills it once, and one never ends."""
    folder = tmp_path / "runs"
    folder.mkdir()
    for name in ("kills-always.ocml", "kills-once.ocml", "sleeps.ocml", *(f"run-{n}.ocml" for n in range(9))):
        (folder / name).write_text(small_transcript(len(name), 2))
    options: list[str | Path] = ["--to", tmp_path / "a.tables", "--timeout", "5", "--jobs", "2", "--json"]
    result = run_hooked(tmp_path, "scan", folder, *options)
    assert result.returncode == 2, result.stderr
    assert json.loads(result.stdout.splitlines()[-1])["by_state"] == {"killed": 1, "ok": 10, "timeout": 1}
    states = {Path(row["path"]).stem: row["state"] for row in rows_in(tmp_path / "a.tables", "files")}
    assert (states["kills-always"], states["kills-once"], states["sleeps"]) == ("killed", "ok", "timeout")


def test_a_pool_that_cannot_work_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        (tmp_path / f"{number}.ocml").write_text(CHAT)
    broken: list[Future[None]] = []

    def lose(pool: ProcessPool, *given: object, **options: object) -> Future[None]:
        broken.append(Future())
        broken[-1].set_exception(BrokenProcessPool("All workers expired"))
        return broken[-1]

    monkeypatch.setattr(ProcessPool, "schedule", lose)
    result = run("scan", tmp_path, "--to", tmp_path / "out", "--quiet", "--jobs", "2")
    assert (result.code, result.err) == (2, "ocmlview: the processes of the scan end before they begin to work\n")


@pytest.mark.lab
def test_a_gigabyte_of_noise_takes_five_seconds(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    with path.open("wb") as file:
        for _ in range(1000):
            file.write(random.Random(1).randbytes(1_000_000))
    rows = rows_of(str(path))
    assert (rows.file["state"], len(rows.diagnostics) <= MOST_IN_NOISE) == ("not-a-transcript", True)
    assert rows.file["seconds"] < 5
