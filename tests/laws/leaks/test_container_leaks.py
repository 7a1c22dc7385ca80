"""Containers leak no hidden content: every field, name, column, comment, and table contains a canary."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.support import containers
from tests.support.leaks.finder import Finder, canary
from tests.support.printing import SURFACES, some
from tests.support.program import run

Word = Callable[[], str]
SHOWN = "Which river is longer?"


def inspect(folder: Path, word: Word) -> str:
    spec = {"task": word(), "model": "m", "task_args": {word(): word()}, "metadata": {word(): word()}}
    sample = {
        "id": word(),
        "epoch": 1,
        "input": word(),
        "target": word(),
        "choices": [word()],
        "metadata": {word(): word()},
        "store": {word(): word()},
        "scores": {word(): {"value": word(), "explanation": word()}},
        "attachments": {word(): word()},
        "events": [{"event": "model", "output": {"completion": word()}}],
        "error": {"message": word(), "traceback": word()},
        word(): word(),
        "messages": [
            {"role": "system", "content": word(), "id": word()},
            {"role": "user", "content": SHOWN, "id": word(), word(): word()},
            {"role": "assistant", "content": [{"type": "reasoning", "reasoning": word(), "signature": word()}]},
            {"role": word(), "content": word()},
        ],
    }
    path = folder / "run.eval"
    header = {"version": 2, "status": "error", "eval": spec, "results": {word(): word()}, "error": {"message": word()}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = word().encode()
        archive.writestr("header.json", json.dumps(header))
        archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
        archive.writestr(f"../{word()}", word())
        archive.writestr(f"samples/../{word()}_epoch_1.json", word())
        archive.writestr("samples/2_epoch_1.json", f'{{"id":2,"messages":[{{"role":"user","content":{{"x":"{word()}')
        archive.writestr("summaries.json", json.dumps([{"id": word(), "input": word(), "target": word()}]))
    return str(path)


def parts(word: Word) -> list[dict[str, object]]:
    return [
        {"type": "text", "text": SHOWN, word(): word()},
        {"type": "thinking", "thinking": word(), "signature": word()},
        {"type": "toolRequest", "id": word(), "toolCall": {"value": {"name": word(), "arguments": {word(): word()}}}},
        {"type": word(), "text": word()},
    ]


def goose(folder: Path, word: Word) -> str:
    head = {"working_dir": f"/proj/{word()}", "parent_session_id": None}
    messages = [
        {"role": "user", "created": 1, "content": parts(word), "metadata": {"userVisible": True, word(): word()}},
        {"role": "user", "created": 2, "content": [{"type": "text", "text": word()}], "metadata": {"userVisible": 0}},
        {"role": word(), "created": 3, "content": [{"type": "text", "text": word()}]},
    ]
    path = containers.goose_database(folder / "sessions.db", [(head, messages), ({**head, "session_type": word()}, [])])
    database = sqlite3.connect(path)
    database.execute("UPDATE sessions SET name = ?, description = ?", (word(), word()))
    database.execute("INSERT INTO messages VALUES (90, '20260304_1', 'user', ?, 9, 0, '{}')", (f'["{word()}',))
    database.execute(
        "INSERT INTO messages VALUES (91, ?, 'user', ?, 9, 0, '{}')", (word(), json.dumps(parts(word)[:1]))
    )
    database.execute("UPDATE messages SET session_id = 'none' WHERE id = 91")
    other = word()
    database.execute(f"CREATE TABLE {other} ({word()} TEXT)")
    database.execute(f"INSERT INTO {other} VALUES (?)", (word(),))
    database.commit()
    database.close()
    return path


def session(word: Word) -> dict[str, object]:
    return {
        "info": {"id": f"ses_{word()}", "directory": f"/proj/{word()}", "title": word(), word(): word()},
        "messages": [
            {
                "info": {"id": f"msg_{word()}", "role": "user", "summary": {"title": word()}, word(): word()},
                "parts": [
                    {"type": "text", "text": SHOWN, word(): word()},
                    {"type": "text", "text": word(), "synthetic": True},
                    {"type": "reasoning", "text": word()},
                    {"type": word(), "text": word()},
                ],
            },
            {"info": {"id": f"msg_{word()}", "role": word()}, "parts": [{"type": "text", "text": word()}]},
        ],
    }


def crush(folder: Path, word: Word) -> str:
    text = {"type": "text", "text": SHOWN, word(): word()}
    hidden = [
        {"type": "reasoning", "thinking": word(), "signature": word()},
        {"type": "tool_call", "tool_call_id": word(), "name": word(), "input": word()},
        {"type": "tool_result", "tool_call_id": word(), "content": word(), "metadata": word()},
        {"type": "shell_command", "command": word(), "output": word()},
        {"type": "finish", "reason": word(), "message": word()},
        {"type": word(), "text": word()},
    ]
    messages = [
        {"role": "user", "parts": [text, *hidden], "model": word()},
        {"role": "assistant", "parts": [{"type": "text", "text": word()}], "is_summary": 1},
        {"role": word(), "parts": [{"type": "text", "text": word()}]},
    ]
    owned = {"meta": {"id": "2", "parent_session_id": word(), "title": word()}, "messages": messages[2:]}
    sessions = [{"meta": {"id": "1", "title": word()}, "messages": messages}, owned]
    path = containers.crush_database(folder / "crush.db", sessions)
    database = sqlite3.connect(path)
    database.execute("INSERT INTO messages VALUES ('x', '1', 'user', ?, '', 9, 9, '', 0)", (f'["{word()}',))
    database.commit()
    database.close()
    return path


def opencode(folder: Path, word: Word) -> str:
    return containers.opencode_database(folder / "opencode.db", [session(word)])


def storage(folder: Path, word: Word) -> str:
    path = Path(containers.opencode_storage(folder / "storage", [session(word)]))
    part = next((path / "part").iterdir())
    (part / f"{word()}.json").write_text(f'{{"type":"text","text":"{word()}')
    (part / f"{word()}.txt").write_text(word())
    return str(path)


def openhands(folder: Path, word: Word) -> str:
    message = {"role": "user", "content": [{"type": "text", "text": SHOWN}]}
    events: list[dict[str, object]] = [
        {"id": word(), "kind": "MessageEvent", "source": "user", "llm_message": message, "extended_content": [word()]},
        {"id": word(), "kind": "SystemPromptEvent", "system_prompt": {"text": word()}, word(): word()},
        {"id": word(), "kind": word(), "source": "user", "content": word()},
    ]
    path = Path(containers.event_folder(folder / "events", events))
    (path / "event-00009-x.json").write_text(f'{{"kind":"MessageEvent","content":"{word()}')
    (path / word()).write_text(word())
    return str(path)


def parquet(folder: Path, word: Word) -> str:
    arrow, files = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    row = {
        "messages": [
            {"role": "system", "content": word(), "thinking": word()},
            {"role": "user", "content": SHOWN, "thinking": word()},
        ],
        "rejected": word(),
        "tools": json.dumps([{"name": word()}]),
        word(): word(),
        "image": word().encode(),
    }
    table = arrow.Table.from_pylist([row]).replace_schema_metadata({word(): word()})
    files.write_table(table, folder / "rows.parquet")
    return str(folder / "rows.parquet")


def chatgpt(folder: Path, word: Word) -> str:
    def node(id: str, parent: str | None, role: str, text: str, **more: object) -> dict[str, object]:
        content = {"content_type": "text", "parts": [text], word(): word()}
        author = {"role": role, "name": None, "metadata": {word(): word()}}
        message = {"id": id, "author": author, "content": content, "weight": 1.0, "recipient": "all", **more}
        return {"id": id, "parent": parent, "children": [], "message": message}

    nodes = [
        node("u", None, "user", SHOWN, metadata={word(): word()}),
        node("s", "u", "system", word()),
        node("t", "s", "assistant", word(), recipient=word()),
        node("a", "t", word(), word()),
    ]
    one = {"title": word(), "conversation_id": "c1", "current_node": "a", word(): word()}
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.comment = word().encode()
        archive.writestr("chat.html", word())
        archive.writestr("user.json", json.dumps({"email": word()}))
        archive.writestr("conversations.json", json.dumps([one | {"mapping": {each["id"]: each for each in nodes}}]))
        archive.writestr(f"{word()}/{word()}.json", json.dumps({"messages": [{"role": "user", "content": word()}]}))
    return str(path)


@pytest.mark.surfaces
@pytest.mark.share(test=2)
@pytest.mark.parametrize(
    "make", [inspect, chatgpt, goose, crush, opencode, storage, openhands, parquet], ids=lambda make: make.__name__
)
def test_no_command_prints_what_is_hidden_in_a_container(tmp_path: Path, make: Callable[[Path, Word], str]) -> None:
    chance, words = Random(7), list[str]()

    def word() -> str:
        words.append(canary(chance))
        return words[-1]

    path = make(tmp_path, word)
    finder = Finder(words)
    shown = False
    for command, *options in some(SURFACES, make.__name__):
        for named in (path, f"{path}:1"):
            done = run(command, named, *options)
            assert finder.leaks(done.out) == [], (command, *options)
            assert finder.leaks(done.err) == [], (command, *options)
            shown |= SHOWN in done.out
    assert shown
    listed = run("view", tmp_path)
    assert finder.leaks(listed.out + listed.err) == []
