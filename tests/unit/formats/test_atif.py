"""Agent trajectories: the messages of each step, copied context, other agents, and odd values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.program import run
from tests.support.record_formats import (
    EXAMPLES,
    SECRET,
    assert_cuts_do_not_matter,
    assert_forced_hides,
    assert_truncation_hides,
    hidden,
    lines,
    problems,
    reading,
    shown,
)
from viewer.formats import detect

Json = dict[str, Any]
FORMAT = "atif"


def trajectory(*steps: Json, version: object = "ATIF-v1.7", **members: Any) -> Json:
    head = {"schema_version": version, "session_id": "s", "agent": {"name": "a", "version": "1", "model_name": "m"}}
    return head | {"steps": list(steps)} | members


def user(message: object = "Hello.", **members: Any) -> Json:
    return {"step_id": 1, "source": "user", "message": message} | members


def agent(message: object = "Hi.", **members: Any) -> Json:
    return {"step_id": 2, "source": "agent", "message": message} | members


def call(id: str = "c1", arguments: object = None) -> Json:
    return {
        "tool_call_id": id,
        "function_name": "now",
        "arguments": {"q": "SECRET_ARG"} if arguments is None else arguments,
    }


def results(*found: Json) -> Json:
    return {"results": list(found)}


FULL = agent(
    reasoning_content="SECRET_TH",
    tool_calls=[call()],
    observation=results({"source_call_id": "c1", "content": "SECRET_OBS"}),
    timestamp="2026-01-02T03:04:05Z",
    metrics={"prompt_tokens": 5},
    extra={"note": "SECRET_EXTRA"},
)


def kinds(data: object) -> list[str]:
    return [message.header.kind.value for message in reading(data, FORMAT).messages]  # type: ignore[attr-defined]


def test_a_step_is_its_thought_message_calls_and_replies_in_this_order() -> None:
    data = trajectory(user(), FULL)
    assert kinds(data) == ["said", "thought", "said", "call", "reply"]
    assert shown(data, FORMAT) == ["Hello.", "Hi."]
    assert problems(data, FORMAT) == []
    assert {message.time_ms for message in reading(data, FORMAT).messages[1:]} == {1767323045000}  # type: ignore[attr-defined]
    backwards = dict(reversed([*FULL.items()]))
    assert kinds(trajectory(backwards)) == ["thought", "said", "call", "reply"]


def test_only_user_and_agent_steps_are_said() -> None:
    for source in ("system", "critic", "", None, 5, ["user"]):
        data = trajectory(user(), user("SECRET_1", source=source))
        assert shown(data, FORMAT) == ["Hello."], source
        kind = "instruction" if source == "system" else "unknown"
        assert [each for each, _ in hidden(data, FORMAT)] == [kind]
    nameless = {"message": "SECRET_1"}
    assert shown(trajectory(nameless), FORMAT) == []


def test_copied_context_is_replayed_whatever_the_source() -> None:
    for step in (user("SECRET_1"), agent("SECRET_1"), user("SECRET_1", source="system")):
        data = trajectory(step | {"is_copied_context": True}, agent())
        assert (kinds(data), shown(data, FORMAT)) == (["replayed", "said"], ["Hi."])
        odd: object
        for odd in ("true", 1, {}):
            assert shown(trajectory(step | {"is_copied_context": odd}), FORMAT) == [], odd
    for usual in (False, None):
        assert shown(trajectory(user(is_copied_context=usual)), FORMAT) == ["Hello."]
    example = json.loads((EXAMPLES / "atif.json").read_text("utf-8"))
    example["steps"][1]["is_copied_context"] = True
    assert shown(example, FORMAT) == ["Let me check.", "Noon."]


def test_an_observation_of_a_user_or_system_step_is_injected() -> None:
    for source in ("user", "system"):
        data = trajectory(user("", source=source, observation=results({"content": "SECRET_1"})), agent())
        assert hidden(data, FORMAT) == [("injected", "SECRET_1")]


def test_a_result_without_an_id_belongs_to_the_only_call() -> None:
    def ids(*steps: Json) -> list[str | None]:
        messages = reading(trajectory(*steps), FORMAT).messages
        return [each.header.call_id for each in messages if each.header.kind.value == "reply"]  # type: ignore[attr-defined]

    result: Json = {"source_call_id": None, "content": "SECRET_1"}
    assert ids(agent(tool_calls=[call()], observation=results(result))) == ["c1"]
    assert ids(agent(tool_calls=[call(), call("c2")], observation=results(result))) == [None]
    assert ids(agent(observation=results(result))) == [None]
    unknown = trajectory(agent(observation=results({"source_call_id": "c9", "content": "SECRET_1"})))
    assert problems(unknown, FORMAT) == ["W-CALL-ID-UNKNOWN"]


def test_parallel_calls_have_their_own_results() -> None:
    back = results({"source_call_id": "c2", "content": "SECRET_2"}, {"source_call_id": "c1", "content": "SECRET_1"})
    data = trajectory(agent("", tool_calls=[call(), call("c2")], observation=back))
    assert kinds(data) == ["call", "call", "reply", "reply"]
    assert problems(data, FORMAT) == []


def test_empty_and_missing_messages_are_not_messages() -> None:
    assert kinds(trajectory(agent("", tool_calls=[call()]))) == ["call"]
    assert kinds(trajectory(agent(None, tool_calls=[call()]))) == ["call"]
    assert problems(trajectory(agent("", tool_calls=[call()])), FORMAT) == []
    assert problems(trajectory({"source": "agent", "text": "SECRET_1"}), FORMAT) == ["W-CONTENT-MISSING"]
    assert problems(trajectory({"source": "user", "text": "SECRET_1"}), FORMAT) == ["W-CONTENT-MISSING"]


def test_parts_are_text_labels_or_unknown() -> None:
    parts = [
        {"type": "text", "text": "Look:"},
        {"type": "image", "source": {"media_type": "image/png", "path": "images/SECRET_PATH.png"}},
        {"type": "smell", "text": "SECRET_1"},
        {"text": "SECRET_2"},
    ]
    data = trajectory(user(parts))
    assert shown(data, FORMAT) == ["Look:\n[image/png]"]
    assert [kind for kind, _ in hidden(data, FORMAT)] == ["unknown", "unknown"]
    assert problems(data, FORMAT) == ["W-PART-UNKNOWN", "W-PART-UNKNOWN"]
    seen = results({"source_call_id": "c1", "content": parts[:2]})
    assert hidden(trajectory(agent(tool_calls=[call()], observation=seen)), FORMAT)[1] == (
        "reply",
        "Look:\n[image/png]",
    )


def test_values_of_wrong_types_are_hidden() -> None:
    for message in (5, True, {"text": "SECRET_1"}, [["SECRET_1"]], {"type": "text", "text": {"a": "SECRET_1"}}):
        assert not any(SECRET in text for text in shown(trajectory(user(message), agent(message)), FORMAT)), message
    for observation in ("SECRET_1", {"content": "SECRET_1"}, ["SECRET_1"]):
        data = trajectory(agent(observation=observation))
        assert shown(data, FORMAT) == ["Hi."]
        assert any("SECRET_1" in text for _, text in hidden(data, FORMAT)), observation
    for steps in ({"a": user("SECRET_1")}, "SECRET_1", None):
        assert shown(trajectory() | {"steps": steps}, FORMAT) == []
    assert shown({"steps": [user("SECRET_1")]}, FORMAT) == []


def test_arguments_that_are_not_an_object_are_a_problem() -> None:
    for arguments in ("now", ["now"], 5):
        data = trajectory(agent(tool_calls=[call(arguments=arguments)], observation=results({"source_call_id": "c1"})))
        assert problems(data, FORMAT) == ["E-CALL-SCHEMA/not-an-object"], arguments


def test_other_agents_are_hidden_at_every_depth() -> None:
    inner = trajectory(user("SECRET_3"), FULL, trajectory_id="t2")
    other = trajectory(user("SECRET_1"), agent("SECRET_2"), trajectory_id="t1", subagent_trajectories=[inner])
    nameless = trajectory(agent("SECRET_4"))
    del nameless["session_id"], nameless["schema_version"]
    reference = {"source_call_id": "c1", "content": "SECRET_5", "subagent_trajectory_ref": [{"trajectory_id": "t1"}]}
    data = trajectory(
        user(), agent(tool_calls=[call()], observation=results(reference)), subagent_trajectories=[other, nameless]
    )
    assert shown(data, FORMAT) == ["Hello.", "Hi."]
    found = reading(data, FORMAT)
    pairs = zip(found.messages, found.texts, strict=True)
    threads = {each.header.thread for each, text in pairs if SECRET in text}  # type: ignore[attr-defined]
    assert threads == {0, 1, 2, 3}
    assert [text for kind, text in hidden(data, FORMAT) if kind == "subagent"] == [
        *("SECRET_1", "SECRET_2", "SECRET_3", "Hi.", "SECRET_4")
    ]
    for _ in range(12):
        inner = trajectory(user("SECRET_DEEP"), subagent_trajectories=[inner])
    assert shown(trajectory(user(), subagent_trajectories=[inner]), FORMAT) == ["Hello."]


def test_declared_tools_are_an_instruction() -> None:
    tool = {"name": "now", "description": "SECRET_1", "parameters": {"type": "object", "required": ["zone"]}}
    data = trajectory(
        FULL, agent={"name": "a", "version": "1", "tool_definitions": [{"type": "function", "function": tool}]}
    )
    assert kinds(data)[0] == "instruction"
    assert "E-CALL-SCHEMA/missing-argument" in problems(data, FORMAT)


def test_versions_are_recognized_and_newer_ones_reported() -> None:
    for version in ("ATIF-v1.0", "ATIF-v1.8", "ATIF-1.7"):
        assert detect(json.dumps(trajectory(user(), version=version)).encode()).format == FORMAT
        assert problems(trajectory(user(), version=version), FORMAT) == []
    for version in ("ATIF-v1.9", "ATIF-v2.0"):
        data = trajectory(user(), FULL, {"source": "oracle", "text": "SECRET_1"}, version=version)
        assert shown(data, FORMAT) == ["Hello.", "Hi."]
        assert problems(data, FORMAT) == ["W-FORMAT-VERSION", "W-RECORD-UNKNOWN"]


def test_one_trajectory_per_line_is_one_transcript_each() -> None:
    data = lines(trajectory(user()), trajectory(user("Again."), session_id="s2"))
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Hello.", "Again."]
    assert len(reading(data, FORMAT).transcripts) == 2


def test_one_step_per_line_is_one_trajectory() -> None:
    steps = ",\n".join(json.dumps(step) for step in (user(), agent(), user("Bye.")))
    data = json.dumps(trajectory()).replace('"steps": []', f'"steps": [\n{steps}\n]').encode()
    assert detect(data).format == FORMAT
    assert shown(data, FORMAT) == ["Hello.", "Hi.", "Bye."]


def test_numbers_of_steps_do_not_matter() -> None:
    data = trajectory(user(step_id=9), agent(step_id=9, llm_call_count=0), user("Bye.", step_id=1))
    assert (shown(data, FORMAT), problems(data, FORMAT)) == (["Hello.", "Hi.", "Bye."], [])


def test_a_written_trajectory_is_read_back_unchanged() -> None:
    data = json.dumps(trajectory(user(), FULL, user("SECRET_SYS", source="system"), agent("Bye."))).encode()
    back = run("convert", "--to", "atif", "--reveal", "all", "-", stdin=data).out.encode()
    assert kinds(back) == kinds(data)
    assert reading(back, FORMAT).texts == reading(data, FORMAT).texts
    safe = run("convert", "--to", "atif", "-", stdin=data).out
    assert SECRET not in safe
    assert shown(safe.encode(), FORMAT) == ["Hello.", "Hi.", "Bye."]


EXAMPLE = (EXAMPLES / "atif.json").read_bytes()
MANY = json.dumps(
    trajectory(user("SECRET_1", is_copied_context=True), FULL, subagent_trajectories=[trajectory(agent("SECRET_2"))])
).encode()


def test_the_example_has_no_problem_and_its_call_is_answered() -> None:
    assert problems(EXAMPLE, FORMAT) == []


def test_how_the_input_is_cut_does_not_matter() -> None:
    for data in (EXAMPLE, MANY, json.dumps(json.loads(EXAMPLE), indent=2).encode()):
        assert_cuts_do_not_matter(data, FORMAT)


@pytest.mark.slow
def test_a_trajectory_that_is_cut_shows_nothing_hidden() -> None:
    for data in (EXAMPLE, MANY):
        assert_truncation_hides(data, FORMAT)


def test_renaming_a_source_hides_its_text() -> None:
    for source in ("user", "agent"):
        for renamed in (
            EXAMPLE.replace(b'"source":"%s"' % source.encode(), b'"source":"x"'),
            EXAMPLE.replace(b'"source":', b'"x":'),
        ):
            texts = shown(renamed, FORMAT)
            assert set(texts) < set(shown(EXAMPLE, FORMAT))


def test_other_formats_read_as_this_one_show_nothing_hidden() -> None:
    assert_forced_hides(FORMAT)
