"""Schemas of agent databases: find out which agent wrote a database, and read its sessions as JSON lines."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator

from msgspec import Struct

from viewer.errors import ViewerError
from viewer.sources.containers.database import Database, Row, stamp_of
from viewer.sources.containers.parts import DAMAGED, PartFault, Parts, as_json, is_json, on_one_line

_UNREADABLE = [{"type": "unreadable"}]
"""Content of an unknown type, which is hidden."""
_OF_USERS = frozenset({"", "user", "scheduled", "terminal", "gateway", "acp"})
"""Types of Goose sessions that a user reads. All other types belong to another agent or are hidden."""


class StoredSession(Struct, frozen=True):
    """A session in a database."""

    id: str
    directory: str | None
    modified: float
    """Seconds since 1970; 0 if unknown."""
    is_main: bool
    """False if this is the session of a sub-agent."""


class Schema(Struct, frozen=True):
    """How one agent stores its sessions."""

    format: str
    needs: dict[str, frozenset[str]]
    """The tables that must exist, with their columns."""
    sessions: str
    """A query for the ID, directory, and time (in seconds) of each session, in order."""
    owner: str
    """The column that indicates who owns a session. Older versions of an agent may lack it."""
    of_users: frozenset[str]
    """The values of the owner column for the user's sessions."""
    read: Callable[[Database, str], Parts]
    """A function that returns the lines of the session with this ID."""


_last: list[tuple[tuple[object, ...], Database]] = []
"""The most recently opened database. Without it, listing sessions would open the database once per session."""


def _database(path: str) -> Database:
    stamp = stamp_of(path)
    if not _last or _last[0][0] != stamp:
        _last[:] = [(stamp, Database(path))]
    return _last[0][1]


def schema_of(database: Database) -> Schema | None:
    """Return the schema of the agent that wrote a database, or None if the agent is unknown. Raise ViewerError if the
    database belongs to Cursor."""
    columns = database.columns()
    for schema in SCHEMAS:
        if all(needed <= columns.get(table, frozenset()) for table, needed in schema.needs.items()):
            return schema
    if "cursorDiskKV" in columns or columns.get("ItemTable", frozenset()) == frozenset({"key", "value"}):
        raise ViewerError(
            f"{database.path} is a Cursor database, which ocmlview does not read; "
            "open the transcripts in ~/.cursor/projects/*/agent-transcripts"
        )
    return None


def listed_as(path: str) -> str:
    """Return the format of a database that contains sessions of a known agent, or an empty string for any other
    file."""
    try:
        schema = schema_of(_database(path))
    except ViewerError:
        return ""
    return schema.format if schema else ""


def stored_sessions(path: str) -> list[StoredSession]:
    """Return the sessions of a database, or none if it cannot be read."""
    try:
        database = _database(path)
        schema = schema_of(database)
        return _stored(database, schema) if schema else []
    except (ViewerError, sqlite3.Error):
        return []


def items(path: str) -> list[str]:
    """Return the IDs of the sessions, newest first."""
    return [session.id for session in sorted(stored_sessions(path), key=lambda session: -session.modified)]


def read_database(path: str, item: str) -> Parts:
    """Return the lines of all sessions, or of the session that the item names."""
    database = _database(path)
    schema = schema_of(database)
    if schema is None:
        raise ViewerError(f"{path}: this database contains no sessions of Goose, OpenCode, or Crush")
    try:
        sessions = _stored(database, schema)
    except sqlite3.Error:
        raise ViewerError(f"{path}: this database is damaged") from None
    chosen = [session.id for session in sessions if not item or session.id == item]
    if item and not chosen:
        count = f"{len(sessions):,} session{'' if len(sessions) == 1 else 's'}"
        raise ViewerError(f"{path} has no session {item}: it has {count}")
    return _lines(database, schema, chosen)


def _stored(database: Database, schema: Schema) -> list[StoredSession]:
    [table] = (name for name in schema.needs if name.startswith("session"))
    owner = schema.owner if schema.owner in database.columns()[table] else "NULL"
    found = []
    for id, directory, modified, whose in database.rows(schema.sessions.format(owner=owner)):
        seconds = float(modified) if isinstance(modified, int | float) else 0.0
        found.append(StoredSession(_text(id), _text(directory) or None, seconds, _text(whose) in schema.of_users))
    return found


def _lines(database: Database, schema: Schema, ids: list[str]) -> Parts:
    for id in ids:
        try:
            yield from schema.read(database, id)
        except sqlite3.Error:
            yield PartFault(DAMAGED)
            yield b"\n"


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def _embedded(value: object, kind: type, instead: object) -> Iterator[bytes | PartFault]:
    """Yield the JSON in a cell unchanged. If it is not JSON of this kind, yield a fault and `instead`."""
    data = value if isinstance(value, bytes) else _text(value).encode()
    if is_json(data, kind):
        yield on_one_line(data)
        return
    yield PartFault(DAMAGED)
    yield as_json(instead)


def _each(database: Database, table: str, columns: str, owner: str, id: str, order: str) -> Iterator[Row | PartFault]:
    """Yield the rows of an owner. Each row is read separately, so an unreadable row does not affect the others."""
    for (number,) in database.rows(f"SELECT rowid FROM {table} WHERE {owner} = ? ORDER BY {order}", id):
        try:
            found = [*database.rows(f"SELECT {columns} FROM {table} WHERE rowid = ?", number)]
        except sqlite3.Error:
            found = []
        yield found[0] if found else PartFault(DAMAGED)


# Goose.


def _goose(database: Database, id: str) -> Parts:
    """Yield the head of a session, then one line per message, as in older session files."""
    columns = database.columns()
    head: dict[str, object] = {"id": id, "working_dir": ""}
    wanted = [name for name in ("working_dir", "session_type", "parent_session_id") if name in columns["sessions"]]
    for row in database.rows(f"SELECT {', '.join(wanted)} FROM sessions WHERE id = ?", id):
        found = dict(zip(wanted, map(_text, row), strict=True))
        head["working_dir"] = found["working_dir"]
        is_of_user = found.get("session_type", "") in _OF_USERS
        parent = found.get("parent_session_id") or ("" if is_of_user else "another agent")
        if parent:
            head["parent_session_id"] = parent
    yield as_json(head) + b"\n"
    metadata = "metadata_json" if "metadata_json" in columns["messages"] else "NULL"
    columns_read = f"role, created_timestamp, content_json, {metadata}"
    for message in _each(database, "messages", columns_read, "session_id", id, "id"):
        if isinstance(message, PartFault):
            yield message
            yield b"\n"
            continue
        role, created, content, shown = message
        yield as_json({"role": _text(role), "created": created if isinstance(created, int) else None})[:-1]
        yield b',"content":'
        yield from _embedded(content, list, _UNREADABLE)
        if shown is not None:
            yield b',"metadata":'
            yield from _embedded(shown, dict, {"userVisible": False})
        yield b"}\n"


# OpenCode.


def _opencode(database: Database, id: str) -> Parts:
    """Yield a session as `opencode export` writes it. Each message is followed by its parts, in the order of their
    IDs."""
    info: dict[str, object] = {"id": id, "directory": ""}
    for directory, parent, version in database.rows(
        "SELECT directory, parent_id, version FROM session WHERE id = ?", id
    ):
        info |= {"directory": _text(directory), "version": _text(version)}
        if parent is not None:
            info["parentID"] = _text(parent)
    yield b'{"info":' + as_json(info) + b',"messages":['
    comma = b""
    for row in _each(database, "message", "id, data", "session_id", id, "time_created, id"):
        if isinstance(row, PartFault):
            yield row
            continue
        message, data = row
        yield comma + b'{"info":'
        comma = b","
        yield from _embedded(data, dict, {"role": "unreadable"})
        yield b',"parts":['
        for number, part in enumerate(_each(database, "part", "data", "message_id", _text(message), "id")):
            yield b"," if number else b""
            if isinstance(part, PartFault):
                yield part
                yield as_json(_UNREADABLE[0])
            else:
                yield from _embedded(part[0], dict, _UNREADABLE[0])
        yield b"]}"
    yield b"]}\n"


# Crush.


def _crush(database: Database, id: str) -> Parts:
    """Yield a session as `crush session show --json` writes it, with the parts as the database stores them."""
    meta: dict[str, object] = {"id": id, "uuid": id}
    for (parent,) in database.rows("SELECT parent_session_id FROM sessions WHERE id = ?", id):
        if parent is not None:
            meta["parent_session_id"] = _text(parent)
    yield b'{"meta":' + as_json(meta) + b',"messages":['
    summary = "is_summary_message" if "is_summary_message" in database.columns()["messages"] else "0"
    columns = f"id, role, created_at, model, {summary}, parts"
    for number, row in enumerate(_each(database, "messages", columns, "session_id", id, "created_at, rowid")):
        yield b"," if number else b""
        if isinstance(row, PartFault):
            yield row
            yield as_json(_UNREADABLE[0])
            continue
        message, role, created, model, is_summary, parts = row
        head = {"id": _text(message), "role": _text(role), "created": created if isinstance(created, int) else None}
        yield as_json(head | {"model": _text(model), "is_summary": is_summary != 0})[:-1]
        yield b',"parts":'
        yield from _embedded(parts, list, _UNREADABLE)
        yield b"}"
    yield b"]}\n"


SCHEMAS = (
    Schema(
        "goose",
        {
            "sessions": frozenset({"id", "working_dir", "created_at", "updated_at"}),
            "messages": frozenset({"id", "session_id", "role", "content_json", "created_timestamp"}),
        },
        "SELECT id, working_dir, CAST(strftime('%s', updated_at) AS INTEGER), {owner} FROM sessions "
        "ORDER BY created_at, id",
        "session_type",
        _OF_USERS,
        _goose,
    ),
    Schema(
        "opencode",
        {
            "session": frozenset({"id", "parent_id", "directory", "version", "time_created", "time_updated"}),
            "message": frozenset({"id", "session_id", "time_created", "data"}),
            "part": frozenset({"id", "message_id", "data"}),
        },
        "SELECT id, directory, time_updated / 1000.0, {owner} FROM session ORDER BY time_created, id",
        "parent_id",
        frozenset({""}),
        _opencode,
    ),
    Schema(
        "crush",
        {
            "sessions": frozenset({"id", "parent_session_id", "message_count", "created_at", "updated_at"}),
            "messages": frozenset({"id", "session_id", "role", "parts", "created_at"}),
        },
        "SELECT id, NULL, CASE WHEN updated_at < 100000000000 THEN updated_at ELSE updated_at / 1000.0 END, {owner} "
        "FROM sessions ORDER BY created_at, id",
        "parent_session_id",
        frozenset({""}),
        _crush,
    ),
)
