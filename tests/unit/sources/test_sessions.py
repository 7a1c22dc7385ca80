"""Agent sessions: which ones are found, in what order, and which files are never opened."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.containers import (
    documents,
    event_folder,
    goose_database,
    lines,
    opencode_database,
    opencode_storage,
    seen_and_hidden,
)
from viewer.checks.analysis import Analysis
from viewer.document.session_head import HEAD, SMALL, read_head
from viewer.sources.sessions import Surroundings, find_sessions, group_of, newest_session, places

USER = '{"type":"user","uuid":"u%d","sessionId":"s","cwd":"%s","message":{"role":"user","content":"%s"}}\n'
META = '{"type":"user","uuid":"u0","sessionId":"s","isMeta":true,"message":{"role":"user","content":"SECRET_META"}}\n'
SUMMARY = '{"type":"summary","leafUuid":"x","summary":"SECRET_SUMMARY"}\n'


def write(path: Path, text: str, age: float = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    modified = time.time() - age
    os.utime(path, (modified, modified))
    return path


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    here = tmp_path / "work" / "app"
    here.mkdir(parents=True)
    return Surroundings(tmp_path / "home", here, {})


def claude(around: Surroundings, name: str, text: str = "Hi.", age: float = 100, folder: Path | None = None) -> Path:
    directory = str(folder or around.here)
    dashed = "".join(char if char.isalnum() else "-" for char in directory)
    return write(around.home / ".claude/projects" / dashed / name, META + SUMMARY + USER % (1, directory, text), age)


def test_the_current_directory_comes_first_then_those_above_then_the_newest(around: Surroundings) -> None:
    other = claude(around, "other.jsonl", age=1, folder=Path("/elsewhere"))
    above = claude(around, "above.jsonl", age=50, folder=around.here.parent)
    old = claude(around, "old.jsonl", age=900)
    new = claude(around, "new.jsonl", age=500)
    assert [session.path for session in find_sessions(around)] == [str(path) for path in (new, old, above, other)]
    assert [group_of(session, around) for session in find_sessions(around)][:3] == [0, 0, 1]


def test_a_title_is_the_first_prompt_of_the_safe_view(around: Surroundings) -> None:
    claude(around, "one.jsonl", text="Fix the  test\\nplease")
    head = read_head(find_sessions(around)[0])
    assert head.title == "Fix the test please"
    assert head.turns == 1


def test_a_long_session_is_read_to_its_head_only(around: Surroundings) -> None:
    claude(around, "long.jsonl", text="x" * 2 * HEAD)
    write(
        around.home / ".claude/projects/p/more.jsonl", USER % (1, "/p", "First") + (USER % (2, "/p", "y" * 500)) * 300
    )
    heads = {session.path.rsplit("/", 1)[1]: read_head(session) for session in find_sessions(around)}
    assert (heads["more.jsonl"].title, heads["more.jsonl"].turns) == ("First", None)


def test_a_directory_that_a_file_states_counts(around: Surroundings) -> None:
    path = around.home / ".codex/sessions/2026/01/02/rollout-1.jsonl"
    write(path, json.dumps({"type": "session_meta", "payload": {"id": "t", "cwd": str(around.here)}}) + "\n")
    (session,) = find_sessions(around)
    assert (session.agent, session.directory) == ("codex", str(around.here))


def test_a_variable_replaces_the_folder_in_the_home(around: Surroundings, tmp_path: Path) -> None:
    claude(around, "home.jsonl")
    write(tmp_path / "elsewhere/projects/p/moved.jsonl", USER % (1, "/p", "Hi."))
    moved = Surroundings(around.home, around.here, {"CLAUDE_CONFIG_DIR": str(tmp_path / "elsewhere")})
    assert [Path(session.path).name for session in find_sessions(moved)] == ["moved.jsonl"]


def test_archived_sessions_are_listed_on_request(around: Surroundings) -> None:
    write(around.home / ".codex/archived_sessions/rollout-1.jsonl", "{}\n")
    (around.home / ".codex/sessions").mkdir(parents=True)
    assert find_sessions(around) == []
    assert len(find_sessions(around, archived=True)) == 1


def test_symbolic_links_and_files_of_other_users_are_not_opened(
    around: Surroundings, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = write(around.home / "private.jsonl", USER % (1, "/p", "Hi."))
    folder = around.home / ".claude/projects/p"
    folder.mkdir(parents=True)
    (folder / "link.jsonl").symlink_to(real)
    (folder.parent / "linked").symlink_to(around.home)
    assert find_sessions(around) == []
    claude(around, "own.jsonl")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert find_sessions(around) == []


def test_only_the_chosen_agents_are_searched(around: Surroundings) -> None:
    claude(around, "one.jsonl")
    assert find_sessions(around, frozenset({"codex"})) == []


def test_the_newest_running_session_of_this_directory_is_followed(around: Surroundings) -> None:
    assert newest_session(around, 600) is None
    claude(around, "other.jsonl", age=1, folder=Path("/elsewhere"))
    here = claude(around, "here.jsonl", age=60)
    claude(around, "done.jsonl", age=5000)
    found = newest_session(around, 600)
    assert found is not None
    assert found.path == str(here)


def test_places_say_what_exists(around: Surroundings) -> None:
    claude(around, "one.jsonl")
    found = {place.folder: place.exists for place in places(around) if place.agent == "claude-code"}
    assert found == {
        str(around.home / ".claude/projects"): True,
        str(around.home / ".config/claude/projects"): False,
    }


def test_the_head_of_a_long_session_is_read_up_to_its_first_prompt(around: Surroundings) -> None:
    path = claude(around, "long.jsonl", text="Look at the shop.")
    later = "".join(USER % (number, around.here, "More. " * 50) for number in range(2, 100))
    write(path, path.read_text() + later)
    [session] = find_sessions(around)
    assert session.size > SMALL
    head = read_head(session)
    assert (head.title, head.turns) == ("Look at the shop.", None)
    assert read_head(session, least=HEAD).turns is not None


def test_a_prompt_in_the_last_part_of_the_head_is_a_title(around: Surroundings) -> None:
    path = claude(around, "late.jsonl")
    hook = {"type": "attachment", "uuid": "h", "sessionId": "s", "attachment": {"type": "hook", "text": "SECRET" * 500}}
    for count in (6, 15):
        write(path, (json.dumps(hook) + "\n") * count + USER % (1, around.here, "Late.") + META * 200)
        assert read_head(find_sessions(around)[0]).title == "Late."


def test_a_prompt_that_a_later_record_shows_is_a_title(around: Surroundings) -> None:
    path = around.home / ".codex/sessions/2026/01/02/rollout-1.jsonl"
    prompt: dict[str, object] = {
        "type": "message",
        "role": "user",
        "content": [{"type": "input_text", "text": "<b>Fix</b> it."}],
    }
    records: list[tuple[str, dict[str, object]]] = [
        ("session_meta", {"id": "t", "cwd": "/p", "instructions": "SECRET" * 1000}),
        ("response_item", prompt),
        ("turn_context", {"cwd": "/p"}),
        ("event_msg", {"type": "user_message", "message": "<b>Fix</b> it."}),
    ]
    write(path, "".join(json.dumps({"type": type, "payload": record}) + "\n" for type, record in records) * 9)
    assert read_head(find_sessions(around)[0]).title == "<b>Fix</b> it."


def test_a_title_costs_no_checks(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    claude(around, "one.jsonl")
    monkeypatch.setattr(Analysis, "check_all", lambda self: pytest.fail("the list shows no problems"))
    assert read_head(find_sessions(around)[0]).title == "Hi."


def test_a_file_of_another_format_in_a_known_place_is_detected(around: Surroundings) -> None:
    path = claude(around, "other.jsonl")
    write(path, '{"messages":[{"role":"system","content":"SECRET"},{"role":"user","content":"Hello there."}]}\n')
    assert read_head(find_sessions(around)[0]).title == "Hello there."


def test_a_damaged_session_has_no_title(around: Surroundings) -> None:
    claude(around, "bad.jsonl").write_bytes(b"\xff\xfe\x00\x01" * 50)
    assert read_head(find_sessions(around)[0]).title == ""


def test_sessions_in_databases_and_folders_are_listed_one_by_one(around: Surroundings) -> None:
    data = around.home / ".local/share"
    for folder in (data / "goose/sessions", data / "opencode", around.home / ".openhands/conversations/c1"):
        folder.mkdir(parents=True)
    head = {"working_dir": str(around.here)}
    hidden = {"role": "user", "created": 1, "content": [{"type": "thinking", "thinking": "SECRET_THOUGHT"}]}
    said = {"role": "user", "created": 2, "content": [{"type": "text", "text": "Count the files."}]}
    other = {**head, "session_type": "sub_agent"}
    goose_database(data / "goose/sessions/sessions.db", [(head, [hidden, said]), (other, [said])])
    opencode_database(data / "opencode/opencode.db", [documents("opencode")["refusal"]])
    event_folder(around.home / ".openhands/conversations/c1/events", lines("openhands")["refusal"])
    found = {session.agent: session for session in find_sessions(around)}
    assert sorted(found) == ["goose", "opencode", "openhands"]
    assert found["goose"].path.endswith("sessions.db:20260304_1")
    assert found["goose"].directory == str(around.here)
    titles = {agent: read_head(session).title for agent, session in found.items()}
    assert titles["goose"] == "Count the files."
    assert (titles["opencode"], titles["openhands"]) == ("Read my neighbor's mail.", expected_title("openhands"))
    assert "SECRET" not in repr(titles)
    assert newest_session(around, 10**9) is None


def test_a_session_in_a_database_and_in_a_file_is_listed_once(around: Surroundings) -> None:
    data = around.home / ".local/share"
    refusal = documents("opencode")["refusal"]
    opencode_storage(data / "opencode/storage", [refusal])
    opencode_database(data / "opencode/opencode.db", [refusal])
    stored = next((data / "opencode/storage/session/global").iterdir())
    head = {"working_dir": str(around.here)}
    (data / "goose/sessions").mkdir(parents=True)
    goose_database(data / "goose/sessions/sessions.db", [(head, [])])
    old = write(data / "goose/sessions/20260304_1.jsonl", "{}\n", age=10**9)
    write(data / "goose/sessions/20250101_1.jsonl", "{}\n", age=10**9)
    for age, wanted in ((10**9, f"opencode.db:{stored.stem}"), (0, stored.name)):
        os.utime(stored, (time.time() - age,) * 2)
        found = [session.path for session in find_sessions(around)]
        assert len(found) == 3
        assert any(path.endswith(wanted) for path in found)
        assert str(old) not in found


def expected_title(format: str) -> str:
    return seen_and_hidden(format, "refusal")[0][0]


def test_a_broken_database_lists_no_sessions(around: Surroundings) -> None:
    write(around.home / ".local/share/goose/sessions/sessions.db", "SQLite format 3\0 but no more")
    assert find_sessions(around) == []
