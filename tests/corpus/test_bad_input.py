"""Files that are not transcripts, cannot be read, or kill a worker: each becomes a row, and no other file is lost."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import random
import socket
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest
from pebble import ProcessPool

from tests.support.corpora import small_transcript
from tests.support.program import CHAT, run
from tests.support.tables import rows_in, run_hooked
from viewer.corpus.listing import Listing
from viewer.corpus.part import read_entry
from viewer.corpus.rows import MOST_IN_NOISE, FileRows, content_hash, rows_of
from viewer.corpus.scan import keyed
from viewer.corpus.tables import Contents, FileState
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


def poison(folder: Path) -> dict[str, str]:
    """Write 60 files that are hard to read, and return the state of each by its name."""
    chat = CHAT.encode()
    deep = b"[" * 100_000
    turn = b'{"role": "user", "content": "Hi"}'
    files: dict[str, tuple[bytes, str]] = {
        "zeros": (bytes(200_000), "not-a-transcript"),
        "deep.json": (deep, "not-a-transcript"),
        "deep-objects.json": (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "not-a-transcript"),
        "deep-messages.json": (b'{"messages": [' + turn + b', {"role": "user", "content": ' + deep, ""),
        "giant-line.ocml": (chat + b"x" * 3_000_000, "ok"),
        "giant-line.jsonl": (b'{"messages": [' + turn + b']}\n{"a": "' + b"y" * 3_000_000, "truncated"),
        "many-marks.ocml": (b"<|start|>" * 50_000, "truncated"),
        "zip.ocml": (b"PK\x03\x04" + NOISE[:5000], "not-a-transcript"),
        "sqlite.db": (b"SQLite format 3\0" + NOISE[:5000], "not-a-transcript"),
        "parquet.parquet": (b"PAR1" + NOISE[:5000] + b"PAR1", "not-a-transcript"),
        "zstd.ocml.zst": (b"\x28\xb5\x2f\xfd" + NOISE[:500], "unreadable"),
        "xz.ocml.xz": (b"\xfd7zXZ\0" + NOISE[:500], "unreadable"),
        "twice.ocml.gz.gz": (gzip.compress(gzip.compress(chat)), "not-a-transcript"),
        "gzips.ocml.gz": (gzip.compress(chat) + gzip.compress(b"<|start|>user<|message|>x<|end|>"), "ok"),
        "bomb.ocml.gz": (gzip.compress(bytes(50_000_000)), "too-large"),
        "half-utf-16.ocml": (chat.decode().encode("utf-16")[:-1], "ok"),
        "surrogates.ocml": (chat.replace(b"Yes", b"\xed\xa0\x80"), "ok"),
        "nul.ocml": (chat.replace(b"Yes", b"\0"), "ok"),
        "a.tar": (NOISE[:5000], "unreadable"),
    }
    names = (
        "new\nline.ocml",
        "tab\t.ocml",
        "\x1b[31m.ocml",
        "\u202egpj.ocml",
        "a:1.ocml",
        "a::b.ocml",
        "@list.ocml",
        "-.ocml",
    )
    files |= dict.fromkeys((*names, "x" * 240 + ".ocml", " .ocml", "'quo\"te.ocml", "[a]*?.ocml"), (chat, "ok"))
    files |= {
        f"cut-{at}.ocml": (chat[:at], "ok" if at >= len(chat) - 1 else "")
        for at in range(13, len(chat), len(chat) // 22)
    }
    states = {}
    for name, (data, state) in files.items():
        (folder / name).write_bytes(data)
        states[name] = state
    with open(os.fsencode(folder) + b"/\xff\xfe.ocml", "wb") as file:  # noqa: PTH123 (no path has such a name)
        file.write(chat)
    states["\\xff\\xfe.ocml"] = "ok"
    with (folder / "sparse.ocml").open("wb") as file:
        file.truncate(5_000_000_000)
    states["sparse.ocml"] = "too-large"
    (folder / "dangling.ocml").symlink_to("nowhere")
    (folder / "loop.ocml").symlink_to("loop.ocml")
    states |= {"dangling.ocml": "unreadable", "loop.ocml": "unreadable"}
    os.mkfifo(folder / "pipe.ocml")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(folder / "socket.ocml"))
    (folder / "round").symlink_to(folder)
    return states


def test_sixty_poisoned_files_lose_no_neighbor(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    states = poison(folder)
    for number in range(5):
        (folder / f"neighbor-{number}.ocml").write_text(CHAT)
        states[f"neighbor-{number}.ocml"] = "ok"
    assert len(states) >= 60
    result = run("scan", folder, "--to", tmp_path / "out", "--json", "--jobs", "2", "--max-size", "20MB")
    assert result.code == 2, result.err
    summary = json.loads(result.out.splitlines()[-1])
    assert (summary["done"], summary["skipped"]) == (len(states), 2)
    found = {row["path"].removeprefix(f"{folder}/"): row["state"] for row in rows_in(tmp_path / "out", "files")}
    assert found.keys() == states.keys()
    assert {name: found[name] for name, state in states.items() if state and found[name] != state} == {}
    assert set(found.values()) <= {state.value for state in FileState}
    assert not {"killed", "timeout"} & set(found.values())


def test_a_file_that_vanishes_or_changes_while_scanned_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "chat.ocml"
    path.write_text(CHAT)
    listed = list(keyed(Listing([str(tmp_path)]), Contents()))
    path.write_text(CHAT + "<|start|>user<|message|>More.<|end|>\n")
    assert read_entry(listed[0].entry, Contents(), 10**9).file["messages"] == 7
    path.unlink()
    rows = read_entry(listed[0].entry, Contents(), 10**9)
    assert (rows.file["state"], rows.file["reason"]) == ("unreadable", "missing")


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
    assert (result.code, result.err) == (2, "ocmlview: the scan processes exit before they start any work\n")


@pytest.mark.lab
def test_a_gigabyte_of_noise_takes_five_seconds(tmp_path: Path) -> None:
    path = tmp_path / "noise"
    with path.open("wb") as file:
        for _ in range(1000):
            file.write(random.Random(1).randbytes(1_000_000))
    rows = rows_of(str(path))
    assert (rows.file["state"], len(rows.diagnostics) <= MOST_IN_NOISE) == ("not-a-transcript", True)
    assert rows.file["seconds"] < 5
