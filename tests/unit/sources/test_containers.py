"""Containers: every sample of a format, put into the containers of that format, reads like the sample itself."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import containers
from tests.support.containers import database_with, documents, eval_log, lines, seen_and_hidden
from tests.support.program import run
from tests.support.samples import ROOT
from viewer.cli.items import named_items
from viewer.document.document import Document, open_document
from viewer.errors import ViewerError
from viewer.model.visibility import END_USER, Audience, Reveal
from viewer.render.json_lines import projection_lines
from viewer.sources.containers.database import Database
from viewer.sources.folder import find_transcripts, list_transcripts

REVEALED = Audience(frozenset({Reveal.ALL}), thread=None)


def printed(document: Document, audience: Audience = END_USER) -> list[dict[str, Any]]:
    return [json.loads(str(line)) for line in projection_lines(document.project(audience))]


def bodies(path: str) -> list[str]:
    return [line["body"].strip() for line in printed(open_document(path)) if line["kind"] == "message"]


def revealed_bodies(path: str) -> list[str]:
    found = printed(open_document(path), REVEALED)
    return ["".join(line["body"].split()) for line in found if line["kind"] == "message"]


def sample_of(format: str, name: str) -> str:
    [seen] = (ROOT / "valid" / format).glob(f"{name}.*.seen.json")
    return str(seen).removesuffix(".seen.json")


def reasons(document: Document) -> list[str | None]:
    found = [finding.diagnostic for finding in document.findings()]
    return [each.reason for each in found if each.rule.code == "E-STREAM-TRUNCATED"]


def built(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield every container built from a sample: its path, the format, and the name of the sample."""
    for name, log in documents("inspect").items():
        yield eval_log(folder / f"{name}.eval", log), "inspect", name
    for name, session in documents("opencode").items():
        yield containers.opencode_database(folder / f"{name}.db", [session]), "opencode", name
        yield containers.opencode_storage(folder / f"{name} storage", [session]), "opencode", name
    for name, (head, *messages) in lines("goose").items():
        if name in ("drift", "run"):  # a database has every field, and no output of `goose run`
            continue
        known = [each for each in messages if "role" in each and "content" in each]
        yield containers.goose_database(folder / f"{name} goose.db", [(head, known)]), "goose", name
    for name, session in documents("crush").items():
        if name == "attachments":  # the database contains the data, which an export leaves out
            continue
        yield containers.crush_database(folder / f"{name} crush.db", [session]), "crush", name
    for name, events in lines("openhands").items():
        yield containers.event_folder(folder / name / "events", events), "openhands", name


@pytest.mark.slow
def test_every_sample_reads_the_same_in_its_containers(tmp_path: Path) -> None:
    count = 0
    for path, format, name in built(tmp_path):
        document = open_document(path)
        seen, hidden = seen_and_hidden(format, name)
        shown = [line["body"].strip() for line in printed(document) if line["kind"] == "message"]
        assert document.detection.format == format, path
        assert (sorted(shown) if "epochs" in name else shown) == (sorted(seen) if "epochs" in name else seen), path
        text = json.dumps(printed(document)) + " ".join(map(str, reasons(document)))
        assert [each for each in (*hidden, "SECRET_") if each in text] == [], path
        count += 1
    assert count > 30


@pytest.mark.slow
def test_the_debug_view_holds_the_same_as_that_of_the_sample(tmp_path: Path) -> None:
    for path, format, name in built(tmp_path):
        if name in ("parallel-calls", "refusal", "tool-errors"):
            assert revealed_bodies(path) == revealed_bodies(sample_of(format, name)), path


# Inspect.

RUN: dict[str, Any] = {
    "version": 2,
    "status": "success",
    "eval": {"task": "rivers", "model": "acme/large-1"},
    "samples": [
        {"id": id, "epoch": epoch, "messages": [{"role": "user", "content": f"Question {id}, {epoch}"}]}
        for id, epoch in (("10", 1), ("2", 1), ("2", 2), ("a:b/c", 1))
    ],
}


def test_samples_come_by_epoch_and_number(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "run.eval", RUN)
    assert bodies(path) == ["Question 2, 1", "Question 10, 1", "Question a:b/c, 1", "Question 2, 2"]


def test_an_item_is_one_sample_in_every_command(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "run.eval", RUN)
    assert bodies(f"{path}:2") == ["Question 2, 1", "Question 2, 2"]
    assert bodies(f"{path}:2:2") == ["Question 2, 2"]
    assert bodies(f"{path}:a:b/c") == ["Question a:b/c, 1"]
    for command in (["show"], ["check"], ["stats"], ["view"], ["export", "-o", "-"], ["convert", "--to", "json"]):
        assert run(*command, f"{path}:10").code == 0, command
    assert "Question 10, 1" in run("show", f"{path}:10").out
    missing = run("show", f"{path}:11")
    assert (missing.code, missing.out) == (2, "")
    assert missing.err == f"ocmlview: {path} has no sample 11: it has 4 samples, named ID or ID:EPOCH\n"


def test_a_running_evaluation_is_read_from_its_journal(tmp_path: Path) -> None:
    path = eval_log(tmp_path / "run.eval", RUN, ends=False)
    assert len(bodies(path)) == 4
    assert "W-RUN-INCOMPLETE" in run("check", path).out


def test_an_archive_that_is_cut_off_gives_what_it_holds(tmp_path: Path) -> None:
    whole = Path(eval_log(tmp_path / "run.eval", RUN)).read_bytes()
    assert whole.count(b"PK\x01\x02") == 7
    cut = tmp_path / "cut.eval"
    for end in range(30, whole.index(b"PK\x01\x02"), 97):
        cut.write_bytes(whole[:end])
        try:
            found = bodies(str(cut))
        except ViewerError:
            continue
        assert set(found) <= {f"Question {each['id']}, {each['epoch']}" for each in RUN["samples"]}
    cut.write_bytes(whole[: whole.index(b"PK\x01\x02")])
    assert len(bodies(str(cut))) == 4


def test_a_damaged_member_is_a_finding_on_its_sample(tmp_path: Path) -> None:
    path = Path(eval_log(tmp_path / "run.eval", RUN))
    data = bytearray(path.read_bytes())
    at = data.index(b"samples/2_epoch_1.json") + len("samples/2_epoch_1.json") + 20
    data[at : at + 8] = b"\xff" * 8
    path.write_bytes(data)
    document = open_document(str(path))
    assert "part-damaged" in reasons(document)
    assert bodies(str(path)) == ["Question 10, 1", "Question a:b/c, 1", "Question 2, 2"]
    done = run("show", path)
    assert done.code == 1
    assert done.err == f"ocmlview: {path}: Part of the container is damaged. Its readable content is shown.\n"


def archive(path: Path, *members: tuple[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> str:
    with zipfile.ZipFile(path, "w", compression) as file:
        file.writestr("header.json", json.dumps({"version": 2, "status": "success", "eval": RUN["eval"]}))
        for name, data in members:
            file.writestr(name, data)
    return str(path)


def sample(text: str = "Hello") -> bytes:
    return json.dumps({"id": 1, "epoch": 1, "messages": [{"role": "user", "content": text}]}).encode()


@pytest.mark.slow
def test_a_bomb_is_refused_with_one_finding(tmp_path: Path) -> None:
    bomb = b'{"id":1,"epoch":1,"x":"' + b"0" * 2_500_000 + b'"}'
    path = archive(tmp_path / "run.eval", ("samples/1_epoch_1.json", bomb), ("samples/2_epoch_1.json", sample()))
    document = open_document(path)
    assert reasons(document).count("part-too-large") == 1
    assert document.size < 2_000_000
    assert bodies(path) == ["Hello"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_hostile_names_are_not_read(tmp_path: Path) -> None:
    names = ("/samples/1_epoch_1.json", "samples/../2_epoch_1.json", "samples/C:\\3_epoch_1.json")
    path = archive(tmp_path / "run.eval", *((name, sample("Evil")) for name in names))
    document = open_document(path)
    assert bodies(path) == []
    assert reasons(document).count("part-unread") == 3
    assert [each.name for each in tmp_path.iterdir()] == ["run.eval"]
    twice = archive(
        tmp_path / "two.eval", ("samples/1_epoch_1.json", sample("First")), ("samples/1_epoch_1.json", sample("Last"))
    )
    assert (bodies(twice), reasons(open_document(twice))) == (["Last"], ["part-repeated"])


@pytest.mark.slow
def test_stored_members_and_thousands_of_them_are_read(tmp_path: Path) -> None:
    members = ((f"samples/{number}_epoch_1.json", sample(f"Question {number}")) for number in range(1200))
    path = archive(tmp_path / "run.eval", *members, compression=zipfile.ZIP_STORED)
    assert bodies(path)[-1] == "Question 1199"
    assert bodies(f"{path}:7") == ["Question 7"]


def test_an_encrypted_archive_and_other_archives_are_refused(tmp_path: Path) -> None:
    path = Path(archive(tmp_path / "run.eval", ("samples/1_epoch_1.json", sample())))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[at + 8] |= 1
    path.write_bytes(data)
    assert run("show", path).err == f"ocmlview: {path}: this ZIP file is encrypted\n"
    other = tmp_path / "other.eval"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("notes.txt", "SECRET_NOTE")
    done = run("check", other)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"ocmlview: {other}: this ZIP file is not an Inspect log; unpack it and open one of its files\n"


def test_zstd_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(archive(tmp_path / "run.eval", ("samples/1_epoch_1.json", sample()), compression=zipfile.ZIP_STORED))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02", data.index(b"PK\x01\x02") + 4)
    data[at + 10] = 93
    path.write_bytes(data)
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)
    done = run("show", path)
    assert (done.code, done.out) == (2, "")
    assert done.err == "ocmlview: this is a zstd file: install the Python package zstandard to read it\n"


# Databases.


def goose(folder: Path) -> str:
    head = {"working_dir": "/proj/ana/shop"}
    said = [
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "One?"}]},
        {"role": "assistant", "created": 1, "content": [{"type": "text", "text": "Yes."}]},
    ]
    other = [{"role": "user", "created": 1, "content": [{"type": "text", "text": "SECRET_AGENT"}]}]
    return containers.goose_database(
        folder / "sessions.db", [(head, said), (head, said), ({**head, "session_type": "sub_agent"}, other)]
    )


def test_a_database_is_neither_changed_nor_locked(tmp_path: Path) -> None:
    path = goose(tmp_path)
    before = Path(path).read_bytes()
    writer = sqlite3.connect(path)
    writer.execute("BEGIN EXCLUSIVE")
    assert bodies(path) == ["One?", "Yes.", "One?", "Yes."]
    assert bodies(f"{path}:20260304_2") == ["One?", "Yes."]
    assert [each.name for each in tmp_path.iterdir()] in (["sessions.db"], ["sessions.db", "sessions.db-journal"])
    writer.close()
    assert Path(path).read_bytes() == before


def test_rows_that_are_only_in_the_journal_are_read_too(tmp_path: Path) -> None:
    path = goose(tmp_path)
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    content = json.dumps([{"type": "text", "text": "Fresh."}])
    writer.execute(
        "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?,?,?,?)",
        ("20260304_1", "assistant", content, 2),
    )
    writer.commit()
    before = sorted((each.name, each.stat().st_size) for each in tmp_path.iterdir())
    assert bodies(f"{path}:20260304_1") == ["One?", "Yes.", "Fresh."]
    assert sorted((each.name, each.stat().st_size) for each in tmp_path.iterdir()) == before
    writer.close()


HOSTILE: dict[str, Callable[[Path], str]] = {
    "a view that never ends": lambda path: database_with(
        path,
        "CREATE TABLE sessions (id, working_dir, created_at, updated_at);"
        "CREATE VIEW messages AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        " SELECT i AS id, 's' AS session_id, 'user' AS role, '[]' AS content_json, 1 AS created_timestamp FROM n;",
    ),
    "no tables": lambda path: database_with(path, "CREATE TABLE t (a);"),
    "Cursor": lambda path: database_with(path, "CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB);"),
}


def test_databases_without_sessions_are_refused_with_one_sentence(tmp_path: Path) -> None:
    for name, make in HOSTILE.items():
        path = make(tmp_path / f"{name}.vscdb")
        done = run("show", path)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), name
        assert ("Cursor database" in done.err) == (name == "Cursor")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    done = run("show", broken)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)


def test_a_damaged_cell_is_hidden_and_reported(tmp_path: Path) -> None:
    path = goose(tmp_path)
    database = sqlite3.connect(path)
    cells = ('[{"type":"text","text":"SECRET_A"}', '[]},"role":"user","content":"SECRET_B"', '"SECRET_C"', "\ud83d"[:0])
    for cell in cells:
        database.execute(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?,?,?,?)",
            ("20260304_1", "user", cell, 3),
        )
    shown = json.dumps([{"type": "text", "text": "SECRET_D"}])
    database.execute(
        "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json) VALUES (?,?,?,?,?)",
        ("20260304_1", "user", shown, 3, "{"),
    )
    database.commit()
    database.close()
    document = open_document(f"{path}:20260304_1")
    assert bodies(f"{path}:20260304_1") == ["One?", "Yes."]
    assert reasons(document) == ["part-damaged"] * 5


# Folders.


def test_a_session_file_of_opencode_is_read_with_its_messages(tmp_path: Path) -> None:
    sessions = documents("opencode")
    storage = Path(containers.opencode_storage(tmp_path / "storage", [sessions["refusal"]]))
    id = sessions["refusal"]["info"]["id"]
    seen = seen_and_hidden("opencode", "refusal")[0]
    assert bodies(str(storage / "session" / "global" / f"{id}.json")) == seen
    assert bodies(f"{storage}:{id}") == seen
    [part, *_] = (storage / "part").rglob("*.json")
    part.write_text('{"type":"text","text":"SECRET_CUT')
    document = open_document(str(storage))
    assert reasons(document) == ["part-damaged"]
    assert "SECRET" not in json.dumps(printed(document))


def test_a_chat_of_vs_code_is_read_after_all_its_changes(tmp_path: Path) -> None:
    chat = json.loads(Path(sample_of("copilot-cli", "vs-code-chat")).read_text())
    changes: list[dict[str, Any]] = [{"kind": 0, "v": {**chat, "requests": []}}]
    for number, request in enumerate(chat["requests"]):
        parts = request["response"]
        at = ["requests", number, "response"]
        changes += [
            {"kind": 2, "k": ["requests"], "v": [{**request, "response": [{"value": "SECRET_RETRIED"}]}], "i": number},
            {"kind": 2, "k": at, "v": [*parts[:1], {"value": "SECRET_UNFINISHED"}], "i": 0},
            {"kind": 3, "k": [*at, 0, "SECRET_MISSING"]},
            {"kind": 2, "k": at, "v": parts[1:], "i": 1},
            {"kind": 1, "k": [*at[:2], "SECRET_NEW"], "v": {"SECRET_VALUE": 1}},
        ]
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(json.dumps(change) + "\n" for change in changes))
    assert bodies(str(path)) == bodies(sample_of("copilot-cli", "vs-code-chat"))
    assert run("check", path).code == run("check", sample_of("copilot-cli", "vs-code-chat")).code
    for broken in (
        '{"kind":1,"k":["requests",99,"response"],"v":[]}',
        '{"kind":2,"k":["requests"],"i":-1}',
        '{"kind":2,"k":["requests"],"v":"SECRET_TEXT"}',
        '{"kind":1,"k":["requests"],"k":["version"],"v":[]}',
        '{"kind":7,"k":["requests"],"v":[]}',
        '{"kind":0,"v":NaN}',
        "[]",
        '{"kind":1,"k":["requ',
    ):
        path.write_text("".join(json.dumps(change) + "\n" for change in changes) + broken)
        document = open_document(str(path))
        assert bodies(str(path)) == bodies(sample_of("copilot-cli", "vs-code-chat")), broken
        assert reasons(document) == ["part-damaged"], broken


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"kind":"MessageEvent","source":"user","llm_message":{"role":"user","content":"SECRET_LINKED"}}')
    folder = Path(containers.event_folder(tmp_path / "events", lines("openhands")["refusal"]))
    (folder / "event-00099-x.json").symlink_to(secret)
    document = open_document(str(folder))
    assert reasons(document) == ["part-damaged"]
    assert "SECRET_LINKED" not in json.dumps(printed(document, REVEALED))
    assert run("show", folder).code == 1


# Parquet.


@pytest.mark.slow
def test_rows_of_parquet_read_as_the_same_rows_in_json(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = [
        {
            "messages": [{"role": "user", "content": f"Question {number}"}, {"role": "assistant", "content": "Yes."}],
            "tools": '[{"name":"SECRET_TOOL"}]',
            "chosen": None,
            "weight": 1.5,
            "image": b"SECRET_IMAGE",
        }
        for number in range(1, 201)
    ]
    path = str(tmp_path / "rows.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows), path, row_group_size=30)
    document = open_document(path)
    assert (document.detection.format, document.tally.transcripts) == ("rows", 200)
    assert bodies(path)[-2:] == ["Question 200", "Yes."]
    for number in (1, 30, 31, 200):
        assert bodies(f"{path}:{number}") == [f"Question {number}", "Yes."]
    assert run("show", f"{path}:201").err == f"ocmlview: {path} has no row 201: the last one is 200\n"
    assert "SECRET" not in json.dumps(printed(document))
    texts = [{"messages": json.dumps(row["messages"])} for row in rows[:3]]
    parquet.write_table(arrow.Table.from_pylist(texts), tmp_path / "texts.parquet")
    assert bodies(str(tmp_path / "texts.parquet"))[:2] == ["Question 1", "Yes."]
    other = tmp_path / "other.parquet"
    parquet.write_table(arrow.Table.from_pylist([{"price": 1}]), other)
    assert run("show", other).code == 2
    data = Path(path).read_bytes()
    (tmp_path / "cut.parquet").write_bytes(data[:-200])
    assert run("show", tmp_path / "cut.parquet").err.endswith("this Parquet file is damaged\n")
    (tmp_path / "hurt.parquet").write_bytes(data[:100] + b"\xff" * 400 + data[500:])
    assert reasons(open_document(str(tmp_path / "hurt.parquet"))) == ["part-damaged"]


def test_parquet_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(b"PAR1" + bytes(20))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = run("show", path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f'ocmlview: {path}: Parquet needs the extra "parquet": pip install "ocmlview[parquet]"\n'


# Items of plain files.


def test_an_item_of_a_plain_file_is_one_transcript_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    rows = [{"prompt": f"Question {number}", "completion": "Yes.", "rejected": "SECRET"} for number in range(1, 31)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    document = open_document(f"{path}:17")
    assert bodies(f"{path}:17") == ["Question 17", "Yes."]
    revealed = printed(document, REVEALED)
    assert [line["line"] for line in revealed if line["kind"] == "message"] == [17, 17, 17]
    assert [line["number"] for line in revealed if line["kind"] == "message"] == [1, 2, 3]
    assert (document.tally.transcripts, document.message_count) == (1, 3)
    assert run("show", f"{path}:31").err == f"ocmlview: {path} has no transcript 31: the last one is 30\n"
    assert (
        run("show", f"{path}:x").err
        == f"ocmlview: {path} has no transcript x: it has 30 transcripts, named by number or by session ID\n"
    )
    assert run("show", f"{path}:").err == f"ocmlview: no such file: {path}:\n"
    followed = run("show", "-f", f"{path}:3")
    assert (followed.code, followed.out.count("Question")) == (0, 1)
    assert "is one item of a file: reading it once instead of following it" in followed.err


def test_a_file_whose_name_has_a_colon_comes_first(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"prompt":"One","completion":"1"}\n{"prompt":"Two","completion":"2"}\n')
    (tmp_path / "a.jsonl:2").write_text('{"prompt":"Three","completion":"3"}\n')
    assert bodies(str(tmp_path / "a.jsonl:2")) == ["Three", "3"]
    assert bodies(str(tmp_path / "a.jsonl:1")) == ["One", "1"]
    assert bodies(str(tmp_path / "a.jsonl:2:1")) == ["Three", "3"]


def test_a_folder_lists_containers_as_files(tmp_path: Path) -> None:
    eval_log(tmp_path / "run.eval", RUN)
    goose(tmp_path)
    containers.event_folder(tmp_path / "c1" / "events", lines("openhands")["refusal"])
    containers.opencode_storage(tmp_path / "storage", [documents("opencode")["refusal"]])
    database_with(tmp_path / "other.db", "CREATE TABLE t (a);")
    found = {each.name: each.format for each in find_transcripts(str(tmp_path))}
    assert found == {
        "run.eval": "inspect",
        "sessions.db": "goose",
        "c1/events": "openhands",
        "storage": "opencode",
    }
    assert {each.name for each in list_transcripts(str(tmp_path))} >= {"run.eval", "sessions.db", "storage"}
    assert run("stats", tmp_path).code == 0


def test_what_is_too_large_is_one_sentence_or_one_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Path(eval_log(tmp_path / "run.eval", RUN))
    data = bytearray(path.read_bytes())
    end = data.rindex(b"PK\x05\x06")
    data[end + 12 : end + 16] = b"\xff\xff\xff\x7f"
    path.write_bytes(data)
    assert run("show", path).err == f"ocmlview: {path}: the directory of this ZIP file is too large\n"
    folder = Path(containers.event_folder(tmp_path / "events", lines("openhands")["refusal"]))
    monkeypatch.setattr("viewer.sources.containers.folders.LARGEST_TEXT", 300)
    document = open_document(str(folder))
    assert set(reasons(document)) == {"part-too-large"}
    monkeypatch.setattr("viewer.sources.containers.database.LARGEST_TEXT", 1000)
    stored = goose(tmp_path)
    database = sqlite3.connect(stored)
    content = json.dumps([{"type": "text", "text": "x" * 2000}])
    database.execute("UPDATE messages SET content_json = ? WHERE id = 2", (content,))
    database.commit()
    database.close()
    document = open_document(stored)
    assert reasons(document) == ["part-damaged"]
    assert bodies(stored) == ["One?", "One?", "Yes."]


def test_a_row_that_never_comes_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("viewer.sources.containers.database.MOST_STEPS", 1_000_000)
    database = Database(goose(tmp_path))
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 0"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        list(database.rows(endless))
    with pytest.raises(sqlite3.OperationalError):
        list(database.rows("DELETE FROM messages"))


# Data exports of ChatGPT.


def chatgpt_export(path: Path, *, folder: str = "") -> str:
    """Write an export whose conversations are in two files. The second file has the third conversation."""
    conversations = json.loads(Path(sample_of("chatgpt", "several-conversations")).read_bytes())
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{folder}chat.html", "<p>SECRET_HTML</p>")
        archive.writestr(f"{folder}user.json", '{"email":"SECRET_MAIL"}')
        archive.writestr(f"{folder}conversations-1.json", b"\xef\xbb\xbf" + json.dumps(conversations[2:]).encode())
        archive.writestr(f"{folder}conversations-0.json", json.dumps(conversations[:2], indent=1))
        archive.writestr(f"{folder}old/conversations-2.json", "[SECRET_OLD]")
    return str(path)


def test_an_export_of_chatgpt_is_read_from_its_archive(tmp_path: Path) -> None:
    seen, _ = seen_and_hidden("chatgpt", "several-conversations")
    for name, folder in (("export.zip", ""), ("packed.zip", "export/")):
        path = chatgpt_export(tmp_path / name, folder=folder)
        document = open_document(path)
        assert (document.detection.format, document.note) == ("chatgpt", "read from a ZIP archive")
        assert [text for text in bodies(path) if text in seen] == seen
        assert document.tally.transcripts == 3
        assert "SECRET" not in run("show", "--json", path).out


def test_a_conversation_of_an_export_is_named_by_number_or_by_id(tmp_path: Path) -> None:
    path = chatgpt_export(tmp_path / "export.zip")
    ids = open_document(path).tally.sessions
    assert len(set(ids)) == 3
    for number, id in enumerate(ids, 1):
        assert bodies(f"{path}:{id}") == bodies(f"{path}:{number}")
    assert bodies(f"{path}:{ids[1]}")[0] == "Second?"
    assert named_items(f"{path}:") == [f"{path}:{name}" for name in ("1", "2", "3", *ids)]
    unknown = run("show", f"{path}:nowhere")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err == (
        f"ocmlview: {path} has no transcript nowhere: it has 3 transcripts, named by number or by session ID\n"
    )


def test_a_conversation_of_a_plain_file_is_named_by_its_id() -> None:
    path = sample_of("chatgpt", "several-conversations")
    assert bodies(f"{path}:c2") == bodies(f"{path}:2") != []
