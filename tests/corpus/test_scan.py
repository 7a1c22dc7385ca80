"""`ocmlview scan`: its rows, what it skips, and what it refuses."""

from __future__ import annotations

import csv
import gzip
import json
import os
import sqlite3
import stat
import tarfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpora import small_transcript, write_corpus
from tests.support.program import BROKEN, CHAT, run
from tests.support.tables import rows_in, safe_columns, stable_views
from viewer.corpus.browse import CHANGED, Browser, Kind
from viewer.corpus.browse import Listing as BrowserListing
from viewer.corpus.progress import bar_lines
from viewer.corpus.rows import BLOCKS, FileRows, rows_of
from viewer.corpus.scan import Totals
from viewer.corpus.views import connect, open_tables
from viewer.document.backend import VARIABLE
from viewer.document.document import Document
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.sources.files import open_source
from viewer.sources.folder import find_transcripts


def scan(*arguments: str | Path, code: int = 0) -> dict[str, Any]:
    """Run a scan and return its summary."""
    result = run("scan", *arguments, "--json", "--jobs", "1")
    assert result.code == code, (result.out, result.err)
    summary: dict[str, Any] = json.loads(result.out.splitlines()[-1])
    return summary


def refusal(*arguments: str | Path) -> str:
    result = run("scan", *arguments)
    assert (result.code, result.out) == (2, "")
    return result.err


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with transcripts and other files."""
    folder = tmp_path / "runs"
    (folder / "below").mkdir(parents=True)
    (folder / "chat.ocml").write_text(CHAT)
    (folder / "below" / "broken.ocml").write_text(BROKEN)
    (folder / "program.py").write_text(CHAT)
    (folder / ".hidden.ocml").write_text(CHAT)
    os.mkfifo(folder / "pipe")
    return folder


def test_a_scan_writes_safe_tables(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "out"
    summary = scan(runs, "--to", target, code=1)
    assert (summary["done"], summary["skipped"], summary["by_state"]) == (2, 2, {"ok": 2})
    broken, chat = rows_in(target, "files")
    if chat["path"].endswith("broken.ocml"):
        broken, chat = chat, broken
    assert set(chat) == safe_columns("files")
    assert chat["path"] == str(runs / "chat.ocml")
    assert (chat["format"], chat["state"], chat["messages"], chat["shown"], chat["hidden"]) == (
        "openchatml-2.2", "ok", 6, 2, 4,
    )  # fmt: skip
    assert broken["errors"] > 0
    messages = [row for row in rows_in(target, "messages") if row["file_key"] == chat["file_key"]]
    assert {(row["role"], row["channel"], row["message"], row["visible"]) for row in messages} == {
        ("user", "final", 2, True), ("assistant", "final", 6, True),
    }  # fmt: skip
    assert set(messages[0]) == safe_columns("messages")
    assert rows_in(target, "calls") == []
    checked = [json.loads(line) for line in run("check", "--json", runs / "below" / "broken.ocml").out.splitlines()]
    diagnostics = [row for row in rows_in(target, "diagnostics") if row["file_key"] == broken["file_key"]]
    assert sorted((row["code"], row["message"], row["line"], row["column"], row["start"]) for row in diagnostics) == (
        sorted((one["code"], one["message"], one["line"], one["column"], one["span"][0]) for one in checked[:-1])
    )
    (recorded,) = rows_in(target, "runs")
    assert (recorded["state"], recorded["listed"], recorded["done"], recorded["arguments"]) == ("done", 2, 2, "")


@pytest.mark.slow
def test_only_new_and_changed_files_are_read_again(runs: Path, tmp_path: Path) -> None:
    target, chat = tmp_path / "out", runs / "chat.ocml"
    first = scan(runs, "--to", target, code=1)
    assert first["known"] == 0
    again = scan(runs, "--to", target, code=1)  # the errors of known files count
    assert (again["done"], again["known"]) == (0, 2)
    chat.write_text(CHAT + "<|start|>user<|message|>More.<|end|>\n")
    (runs / "below" / "broken.ocml").rename(runs / "moved.ocml")
    (runs / "new.ocml").write_text(CHAT)
    os.utime(chat, ns=(1, 1))
    changed = scan(runs, "--to", target, code=1)
    assert (changed["done"], changed["known"]) == (3, 0)
    names = {Path(row["path"]).name: row["messages"] for row in rows_in(target, "files")}
    assert names == {"chat.ocml": 7, "broken.ocml": 2, "moved.ocml": 2, "new.ocml": 6}
    keys = [(row["file_key"], row["message"]) for row in rows_in(target, "messages")]
    assert len(keys) == len(set(keys))
    before = stable_views(target)
    assert scan(runs, "--to", target, "--again", code=1)["done"] == 3
    assert stable_views(target) == before
    assert run("scan", "--compact", "--to", target).code == 0
    assert stable_views(target) == before
    assert [len(list((target / name).iterdir())) for name in ("files", "messages", "diagnostics")] == [1, 1, 1]
    assert scan(runs, "--to", target, code=1)["done"] == 0
    assert stable_views(target) == before
    chat.write_text(CHAT)
    assert scan(runs, "--to", target, code=1)["done"] == 1
    assert {row["messages"] for row in rows_in(target, "files") if row["path"] == str(chat)} == {6}


def test_what_is_revealed_has_its_own_directory(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.DEBUG"
    scan(runs, "--to", target, "--reveal", "tool,commentary", "--text", code=1)
    (call,) = rows_in(target, "calls", debug=True)
    assert (call["tool"], call["call"], call["reply"], call["state"], call["call_id"]) == (
        "functions.weather", 4, 5, "ok", "c1",
    )  # fmt: skip
    (made,) = (row for row in rows_in(target, "messages", debug=True) if row["message"] == 4)
    assert (made["recipient"], made["call_id"], made["text"], made["line"]) == (
        "functions.weather", "c1", '{"city":1}', 5,
    )  # fmt: skip
    assert stat.S_IMODE(target.stat().st_mode) == 0o700
    files = [path for path in target.rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    before = {path: path.read_bytes() for path in files}
    for options in (["--reveal", "tool"], ["--reveal", "tool,commentary"], ["--strict-safe"], []):
        assert "use another directory" in refusal(runs, "--to", target, *options)
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == before
    assert f"--to {tmp_path}/bare.DEBUG" in refusal(runs, "--to", tmp_path / "bare", "--reveal", "tool")
    assert "--leaks needs --reveal all" in refusal(runs, "--to", tmp_path / "bare", "--leaks")
    assert not (tmp_path / "bare").exists()


def test_leaks_are_scored(tmp_path: Path) -> None:
    thought = "the password of the vault in the cellar is the name of the oldest cat of the gardener"
    text = CHAT.replace("A hidden thought about plums.", thought).replace("Yes, it is.", thought)
    (tmp_path / "chat.ocml").write_text(text)
    scan(tmp_path / "chat.ocml", "--to", tmp_path / "out.DEBUG", "--reveal", "all", "--leaks")
    (row,) = rows_in(tmp_path / "out.DEBUG", "files", debug=True)
    assert (row["leak"] > 20, row["leak_level"], row["leak_message"]) == (True, "I-LEAK", 6)


def test_a_strict_scan_counts_nothing_hidden(runs: Path, tmp_path: Path) -> None:
    scan(runs, "--to", tmp_path / "out", "--strict-safe")
    rows = {Path(row["path"]).name: row for row in rows_in(tmp_path / "out", "files")}
    assert "hidden" not in rows["chat.ocml"]
    assert (rows["chat.ocml"]["messages"], rows["broken.ocml"]["errors"]) == (2, 0)
    assert rows_in(tmp_path / "out", "diagnostics") == []
    assert {row["message"] for row in rows_in(tmp_path / "out", "messages")} == {1, 2}


def test_files_are_recognized_by_their_content(runs: Path, tmp_path: Path) -> None:
    options: list[str | Path] = ["--to", tmp_path / "out", "--by-content", "--root", runs]
    scan(runs, *options, code=1)
    moved = tmp_path / "elsewhere"
    runs.rename(moved)
    for path in moved.rglob("*.ocml"):
        os.utime(path)
    options[-1] = moved
    assert scan(moved, *options, code=1)["done"] == 0
    rows = rows_in(tmp_path / "out", "files")
    assert {row["path"] for row in rows} == {"chat.ocml", "below/broken.ocml"}
    assert len({row["content_hash"] for row in rows}) == 2


@pytest.mark.slow
def test_files_come_from_a_manifest(runs: Path, tmp_path: Path) -> None:
    paths = [str(runs / "chat.ocml"), str(runs / "below" / "broken.ocml")]
    (tmp_path / "list.txt").write_text("\n".join(paths))
    with (tmp_path / "list.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "size", "mtime_ms"])
        writer.writerows([path, Path(path).stat().st_size, Path(path).stat().st_mtime_ns // 10**6] for path in paths)
    import pyarrow as pa  # slow to import
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"path": paths, "etag": ["a", "b"], "size": [1, 2]}), tmp_path / "list.parquet")
    for name in ("list.txt", "list.csv", "list.parquet"):
        assert scan(f"@{tmp_path / name}", "--to", tmp_path / f"out.{name}", code=1)["done"] == 2
        assert {row["path"] for row in rows_in(tmp_path / f"out.{name}", "files")} == set(paths)
    (tmp_path / "wrong.csv").write_text('"path","size"\n,1\n')
    assert "needs a column `path`" in refusal(f"@{tmp_path / 'wrong.csv'}", "--to", tmp_path / "wrong")


@pytest.mark.slow
def test_an_object_store_gives_the_same_tables(runs: Path, tmp_path: Path) -> None:
    scan(runs, "--to", f"file://{tmp_path}/remote", code=1)
    scan(runs, "--to", tmp_path / "local", code=1)
    assert stable_views(tmp_path / "remote") == stable_views(tmp_path / "local")
    assert scan(runs, "--to", f"file://{tmp_path}/remote", code=1)["known"] == 2
    summary = scan(f"file://{runs}", "--to", tmp_path / "urls", code=1)
    assert (summary["done"], summary["by_state"]) == (2, {"ok": 2})
    assert {row["path"] for row in rows_in(tmp_path / "urls", "files")} == {
        f"file://{runs}/chat.ocml", f"file://{runs}/below/broken.ocml",
    }  # fmt: skip
    assert len(rows_in(tmp_path / "urls", "messages")) == len(rows_in(tmp_path / "local", "messages"))


@pytest.mark.slow
def test_members_of_an_archive_are_files(runs: Path, tmp_path: Path) -> None:
    (runs / "below" / "zipped.ocml.gz").write_bytes(gzip.compress(CHAT.encode()))
    (runs / "empty.ocml").touch()
    shard, cut = tmp_path / "shards" / "a.tar", tmp_path / "shards" / "cut.tar"
    shard.parent.mkdir()
    with tarfile.open(shard, "w") as archive:
        archive.add(runs, "runs")
        archive.add(runs / "empty.ocml", "runs/chat.ocml")  # of two members with the same name, the last one is used
        archive.add(runs / "chat.ocml", "runs/chat.ocml")
    with tarfile.open(shard) as archive:
        last = archive.getmember("runs/below/broken.ocml").offset_data
    cut.write_bytes(shard.read_bytes()[: last + 70])
    options: list[str | Path] = ["--to", tmp_path / "out", "--by-content", "--text"]
    summary = scan(shard.parent, *options, code=2)
    assert summary["by_state"] == {"empty": 1, "ok": 3, "truncated": 1, "unreadable": 1}
    rows = {row["path"].removeprefix(f"{shard.parent}/"): row for row in rows_in(tmp_path / "out", "files")}
    assert {path: row["messages"] for path, row in rows.items() if row["state"] == "ok"} == {
        "a.tar::runs/chat.ocml": 6, "a.tar::runs/below/broken.ocml": 2, "a.tar::runs/below/zipped.ocml.gz": 6,
    }  # fmt: skip
    assert rows["cut.tar"]["reason"] == "archive-damaged"
    scan(runs / "chat.ocml", "--to", tmp_path / "alone", "--by-content", "--text")
    (alone,) = rows_in(tmp_path / "alone", "files")
    assert rows["a.tar::runs/chat.ocml"]["content_hash"] == alone["content_hash"]
    os.utime(shard)
    assert scan(shard.parent, *options, code=2)["done"] == 0
    assert run("scan", "--estimate", shard.parent).out.startswith("6 files")
    tables = open_tables(str(tmp_path / "out"))
    with connect(tables) as database:
        browser = Browser(database, tables.contents)
        browser.stack.append(BrowserListing(Kind.FILES))
        page = browser.page()
        assert {row[-1] for row in browser.shown(page).rows} == {"", CHANGED}  # and none is missing
        with pytest.raises(ViewerError, match="cannot open archive members"):
            browser.place_of(page, [row[0].endswith("::runs/chat.ocml") for row in page.rows].index(True))


def test_an_estimate_writes_nothing(tmp_path: Path) -> None:
    write_corpus(tmp_path / "runs", 8, turns=2)
    result = run("scan", "--estimate", tmp_path / "runs")
    assert result.code == 0
    assert result.out.startswith("8 files, 0.0 MB; read a sample of 8\n")
    assert "MB/s per core" in result.out
    assert [path.name for path in tmp_path.iterdir()] == ["runs"]


def test_a_mistake_is_reported_in_one_sentence(runs: Path, tmp_path: Path) -> None:
    assert "Specify a directory for the tables: --to DIR" in refusal(runs)
    assert "no such file" in refusal(tmp_path / "missing", "--to", tmp_path / "out")
    assert "is not empty and contains no tables" in refusal(runs, "--to", runs)
    assert "--address needs --engine ray" in refusal(runs, "--to", tmp_path / "out", "--address", "a:1")
    assert "cannot be used together" in refusal(runs, "--to", tmp_path / "out", "--resume", "--again")
    assert "is not a size" in refusal(runs, "--to", tmp_path / "out", "--max-size", "much")
    assert "scan has no brief level" in refusal(runs, "--to", tmp_path / "out", "--reveal", "brief")
    assert "cannot be opened" in refusal(runs, "--to", "nowhere://out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "scan.json").write_text('{"contents":{"schema":0}}')
    assert "was written by another version" in refusal(runs, "--to", tmp_path / "old")


def test_a_second_scan_at_the_same_time_is_refused(runs: Path, tmp_path: Path) -> None:
    from viewer.corpus.scan import Directory
    from viewer.corpus.tables import Contents

    with Directory(str(tmp_path / "out"), Contents()) as directory:
        directory.hold("first")
        assert "is in use by run first" in refusal(runs, "--to", tmp_path / "out")


def test_a_scan_lists_the_files_that_every_command_lists(tmp_path: Path) -> None:
    folder = tmp_path / "above" / "runs"
    (folder / "below" / ".hidden").mkdir(parents=True)
    sqlite3.connect(folder / "empty.db").execute("create table a (b)")
    for name in ("loop", "below/loop"):
        (folder / name).symlink_to(folder)
    (folder / "above").symlink_to(tmp_path / "above")
    (folder / "dangling.ocml").symlink_to("nowhere")
    os.mkfifo(folder / "below" / "pipe.ocml")
    for name in (
        "chat.ocml",
        "a\nb.ocml",
        "10.ocml",
        "9.ocml",
        "below/x.ocml",
        "below/.hidden/x.ocml",
        "x.py",
        "below.md.gz",
    ):
        (folder / name).write_text(CHAT)
    (tmp_path / "above" / "not-in-runs.ocml").write_text(CHAT)
    listed = [found.path for found in find_transcripts(str(folder))]
    assert [Path(path).name for path in listed] == [
        "9.ocml", "10.ocml", "a\nb.ocml", "chat.ocml", "dangling.ocml", "x.ocml",
    ]  # fmt: skip
    summary = scan(folder, "--to", folder / "out", code=2)
    assert summary["by_state"] == {"not-a-transcript": 1, "ok": 5, "unreadable": 1}
    assert summary["skipped"] == 3
    rows = rows_in(folder / "out", "files")
    assert {row["path"] for row in rows if row["state"] != "not-a-transcript"} == set(listed)
    assert scan(folder, "--to", folder / "out", code=2)["listed"] == 7


@pytest.mark.parametrize("width", [30, 79, 119])
def test_progress_fits_into_the_terminal(width: int) -> None:
    totals = Totals(listed=1_000_000, listed_bytes=10**12, done=400_000, done_bytes=4 * 10**11)
    totals.codes.update({"E-BODY-CONSTRAINT-VIOLATION": 123_456, "W-CALL-UNANSWERED": 99_999})
    lines = bar_lines(totals, 15.8e6, width)
    assert all(len(line) <= width for line in lines)
    assert ("━" in lines[0]) == (width == 119)


def test_files_read_in_blocks_give_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.ocml").write_text(small_transcript(1))
    (tmp_path / "large.ocml").write_text("".join(small_transcript(seed, 40) for seed in range(2)))
    assert not uses_columns_of(tmp_path / "small.ocml", "numpy")
    assert uses_columns_of(tmp_path / "large.ocml", "numpy")
    in_blocks = [rows_in_blocks(tmp_path, audience) for audience in (END_USER, Audience(strict=True), EVERYTHING)]
    monkeypatch.setenv(VARIABLE, "plain")
    assert not uses_columns_of(tmp_path / "large.ocml", "numpy")
    assert in_blocks == [rows_in_blocks(tmp_path, each) for each in (END_USER, Audience(strict=True), EVERYTHING)]


def rows_in_blocks(folder: Path, audience: Audience) -> FileRows:
    rows = rows_of(str(folder / "large.ocml"), audience, text=True)
    rows.file["seconds"] = 0.0
    assert rows.messages
    return rows


def uses_columns_of(path: Path, name: str) -> bool:
    """True if a scan reads this file with the columns of this backend."""
    document = Document(open_source(str(path)))
    document.read_in_blocks(BLOCKS)
    return document.index.columns.name == name


def test_a_compressed_archive_is_a_row_and_no_transcript(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "a.ocml").write_text(CHAT)
    for name in ("shard.tar.gz", "shard.TGZ"):
        with tarfile.open(folder / name, "w:gz") as archive:
            archive.add(tmp_path / "a.ocml", "a.ocml")
    with tarfile.open(folder / "outer.tar", "w") as archive:
        archive.add(tmp_path / "a.ocml", "a.ocml")
        archive.add(folder / "shard.tar.gz", "inner.tar.gz")
    (folder / "chat.tar.gz.ocml").write_text(CHAT)
    scan(folder, "--to", tmp_path / "out", code=2)
    rows = {row["path"].rpartition("/")[2]: (row["state"], row["reason"]) for row in rows_in(tmp_path / "out", "files")}
    refused = ("unreadable", "archive-compressed")
    read = ("ok", None)
    assert rows == {
        "shard.tar.gz": refused,
        "shard.TGZ": refused,
        "outer.tar::inner.tar.gz": refused,
        "outer.tar::a.ocml": read,
        "chat.tar.gz.ocml": read,
    }
    assert not [row for row in rows_in(tmp_path / "out", "messages") if row["message"] > 6]
