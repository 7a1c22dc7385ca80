"""Build containers from the samples of record formats."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.support.samples import ROOT

Json = Mapping[str, Any]


def documents(format: str) -> dict[str, Json]:
    """Return the samples of a format that are one JSON object, by name."""
    found: dict[str, Json] = {}
    for path in sorted((ROOT / "valid" / format).glob("*.in.json")):
        try:
            value = json.loads(path.read_text("utf-8"))
        except ValueError:
            continue
        if isinstance(value, dict):
            found[path.name.removesuffix(".in.json")] = value
    return found


def lines(format: str) -> dict[str, list[Any]]:
    """Return the samples of a format that are valid JSON lines, by name."""
    found = {}
    for path in sorted((ROOT / "valid" / format).glob("*.jsonl")):
        try:
            found[path.stem] = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        except ValueError:
            continue
    return found


def seen_and_hidden(format: str, name: str) -> tuple[list[str], list[str]]:
    """Return the shown and hidden words of a sample."""
    [path] = (ROOT / "valid" / format).glob(f"{name}*.seen.json")
    value = json.loads(path.read_text("utf-8"))
    return value["seen"], value["hidden"]


def eval_log(path: Path, log: Json, *, compression: int = zipfile.ZIP_DEFLATED, ends: bool = True) -> str:
    """Write an Inspect log as a ZIP archive. Without `ends`, write it as it is during an evaluation."""
    header = {name: value for name, value in log.items() if name != "samples"}
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"], "plan": {}}))
        for sample in log.get("samples") or []:
            name = f"samples/{sample['id']}_epoch_{sample.get('epoch', 1)}.json"
            archive.writestr(name, json.dumps(sample, indent=2))
        if ends:
            archive.writestr("summaries.json", "[]")
            archive.writestr("header.json", json.dumps(header, indent=2))
    return str(path)


def goose_database(path: Path, sessions: Iterable[tuple[Json, Iterable[Json]]]) -> str:
    """Write a Goose database with the head and the messages of each session."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT DEFAULT 'user',"
        " working_dir TEXT NOT NULL, created_at TIMESTAMP, updated_at TIMESTAMP, parent_session_id TEXT);"
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL,"
        " content_json TEXT NOT NULL, created_timestamp INTEGER NOT NULL, tokens INTEGER, metadata_json TEXT);"
    )
    for number, (head, messages) in enumerate(sessions, 1):
        id = f"20260304_{number}"
        values = (id, "SECRET_NAME", "SECRET_TITLE", head.get("session_type", "user"), head["working_dir"])
        times = (f"2026-03-04 09:10:{number:02}", f"2026-03-04 10:10:{number:02}", head.get("parent_session_id"))
        database.execute("INSERT INTO sessions VALUES (?,?,?,?,?,?,?,?)", values + times)
        for each in messages:
            metadata = json.dumps(each["metadata"]) if "metadata" in each else None
            database.execute(
                "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)"
                " VALUES (?,?,?,?,?)",
                (id, each["role"], json.dumps(each["content"]), each["created"], metadata),
            )
    database.commit()
    database.close()
    return str(path)


def crush_database(path: Path, sessions: Iterable[Json]) -> str:
    """Write a Crush database from sessions."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT NOT NULL,"
        " message_count INTEGER DEFAULT 0, updated_at INTEGER NOT NULL, created_at INTEGER NOT NULL);"
        "CREATE TABLE messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, role TEXT NOT NULL,"
        " parts TEXT NOT NULL, model TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,"
        " provider TEXT, is_summary_message INTEGER DEFAULT 0 NOT NULL);"
    )
    for number, session in enumerate(sessions, 1):
        meta = session["meta"]
        values = (meta["id"], meta.get("parent_session_id"), meta.get("title", ""), number, number)
        database.execute("INSERT INTO sessions VALUES (?,?,?,0,?,?)", values)
        for at, each in enumerate(session["messages"]):
            parts = json.dumps([_wrapped(part) for part in each["parts"]])
            row = (f"{number}-{at}", meta["id"], each["role"], parts, each.get("model"), at, at)
            database.execute("INSERT INTO messages VALUES (?,?,?,?,?,?,?,NULL,?)", (*row, each.get("is_summary", 0)))
    database.commit()
    database.close()
    return str(path)


def _wrapped(part: Json) -> Json:
    """Return a part as the database stores it."""
    if "data" in part:
        return part
    data = {name: value for name, value in part.items() if name != "type"}
    if part["type"] == "tool_call":
        data["id"] = data.pop("tool_call_id")
    return {"type": part["type"], "data": data}


def opencode_database(path: Path, sessions: Iterable[Json]) -> str:
    """Write an OpenCode database from exported sessions."""
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT,"
        " directory TEXT NOT NULL, title TEXT, version TEXT, time_created INTEGER, time_updated INTEGER);"
        "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER,"
        " data TEXT NOT NULL);"
        "CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,"
        " time_updated INTEGER, data TEXT NOT NULL);"
    )
    for number, session in enumerate(sessions, 1):
        info = session["info"]
        values = (info["id"], "p", info.get("parentID"), "SECRET_SLUG", info["directory"], "SECRET_TITLE", "1.0")
        database.execute(
            "INSERT INTO session VALUES (?,?,?,?,?,?,?,?,?)", (*values, number, 1_772_615_411_000 + number)
        )
        for at, message in enumerate(session["messages"]):
            own = {name: value for name, value in message["info"].items() if name not in ("id", "sessionID")}
            id = message["info"]["id"]
            database.execute("INSERT INTO message VALUES (?,?,?,?,?)", (id, info["id"], at, at, json.dumps(own)))
            for count, part in enumerate(message["parts"]):
                database.execute(
                    "INSERT INTO part VALUES (?,?,?,?,?,?)",
                    (f"{id}_{count:03}", id, info["id"], at, at, json.dumps(part)),
                )
    database.commit()
    database.close()
    return str(path)


def opencode_storage(path: Path, sessions: Iterable[Json]) -> str:
    """Write the storage folder of OpenCode from exported sessions."""
    for name in ("session/global", "message", "part"):
        (path / name).mkdir(parents=True, exist_ok=True)
    for session in sessions:
        info = session["info"]
        _write(path / "session" / "global" / f"{info['id']}.json", info)
        for message in session["messages"]:
            id = message["info"]["id"]
            _write(path / "message" / info["id"] / f"{id}.json", message["info"])
            for count, part in enumerate(message["parts"]):
                _write(path / "part" / id / f"prt_{count:03}.json", part)
    return str(path)


def event_folder(path: Path, events: Iterable[Json]) -> str:
    """Write the events of OpenHands, one per file."""
    path.mkdir(parents=True)
    for number, event in enumerate(events):
        _write(path / f"event-{number:05}-{'a' * 8}.json", event)
    return str(path)


def _write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=2), "utf-8")


def database_with(path: Path, script: str, fill: Callable[[sqlite3.Connection], object] = lambda _: None) -> str:
    """Write a database with a script."""
    database = sqlite3.connect(path)
    database.executescript(script)
    fill(database)
    database.commit()
    database.close()
    return str(path)
