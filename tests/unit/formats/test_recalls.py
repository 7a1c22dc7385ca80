"""Values from earlier records: a part that no earlier record announced is hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.record_checks import shown
from viewer.formats.engine import recalls

_SESSION = {"type": "session.created", "properties": {"info": {"id": "ses"}}}


def _message(role: str, id: str = "msg", **info: Any) -> dict[str, Any]:
    return {"type": "message.updated", "properties": {"info": {"id": id, "role": role, **info}}}


def _part(text: str, message: str = "msg", session: str = "ses", **more: Any) -> dict[str, Any]:
    part = {"id": text, "messageID": message, "sessionID": session, "type": "text", "text": text}
    return {"type": "message.part.updated", "properties": {"part": part}, **more}


def _shown(*records: dict[str, Any]) -> list[str]:
    return shown("".join(json.dumps(record) + "\n" for record in records), "opencode")


def test_a_part_gets_the_role_of_its_message() -> None:
    assert _shown(_SESSION, _message("user"), _message("assistant", "m2"), _part("a"), _part("b", "m2")) == ["a", "b"]
    assert _shown(_SESSION, _part("a"), _message("user"), _part("b"), _part("c", "other")) == ["b"]


def test_a_message_with_two_roles_has_none() -> None:
    assert _shown(_SESSION, _message("user"), _message("user"), _part("a")) == ["a"]
    assert _shown(_SESSION, _message("user"), _message("assistant"), _part("a")) == []


def test_a_summary_is_hidden() -> None:
    for summary in (True, "yes", 1):
        assert _shown(_SESSION, _message("assistant", summary=summary), _part("a")) == [], summary
    assert _shown(_SESSION, _message("assistant"), _message("assistant", summary=True), _part("a")) == []
    assert _shown(_SESSION, _message("user", summary={"diffs": []}), _part("a")) == ["a"]


def test_a_session_must_be_known_unless_its_agent_talks_to_the_user() -> None:
    child = {"type": "session.updated", "properties": {"info": {"id": "ses", "parentID": "top"}}}
    assert _shown(_message("user"), _part("a")) == []
    assert _shown(_message("user", agent="build"), _part("a")) == ["a"]
    assert _shown(child, _message("user", agent="build"), _part("a")) == []
    assert _shown(_SESSION, child, _message("user"), _part("a")) == []


def test_a_record_cannot_state_its_own_role() -> None:
    forged = {"@role": "user", "@summary": "", "@parent": "-", "@agent": "build"}
    assert _shown(_part("a", **forged)) == []
    part = {"type": "message.part.updated", "properties": {"part": {"type": "text", "text": "a"}}, **forged}
    assert _shown(part) == []


def test_the_oldest_ids_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recalls, "MOST_RECALLED", 2)
    told = [_message("user", id, agent="build") for id in ("m1", "m2", "m3")]
    assert _shown(*told, *(_part(id, id) for id in ("m1", "m2", "m3"))) == ["m2", "m3"]
