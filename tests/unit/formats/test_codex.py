"""Codex sessions: only typed prompts and the agent's answers are shown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import codes, examine, read
from tests.support.record_checks import (
    EXAMPLES,
    check_bytes,
    check_forced,
    check_prefixes,
    check_renamed,
    check_values,
    headers,
    kinds,
    shown,
)
from tests.support.samples import Sample, samples
from viewer.formats import detect
from viewer.index.calls import CallState
from viewer.model.messages import Kind

EXAMPLE = (EXAMPLES / "codex-rollout.jsonl").read_bytes()
META = {"type": "session_meta", "payload": {"id": "s1", "cli_version": "0.98.0"}}


def record(type: str, seconds: float = 0, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-04T09:00:{seconds:06.3f}Z", "type": type, "payload": payload}


def item(type: str, /, **payload: Any) -> dict[str, Any]:
    return record("response_item", type=type, **payload)


def event(type: str, /, **payload: Any) -> dict[str, Any]:
    return record("event_msg", type=type, **payload)


def user(*texts: str) -> dict[str, Any]:
    return item("message", role="user", content=[{"type": "input_text", "text": text} for text in texts])


def typed(text: str, **more: Any) -> dict[str, Any]:
    return event("user_message", message=text, **more)


def said(*texts: str, **more: Any) -> dict[str, Any]:
    return item("message", role="assistant", content=[{"type": "output_text", "text": text} for text in texts], **more)


def answered(text: str, **more: Any) -> dict[str, Any]:
    return event("agent_message", message=text, **more)


def lines(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def seen(*records: dict[str, Any]) -> list[str]:
    return shown(lines(META, *records), "codex")


def read_as(*records: dict[str, Any]) -> list[tuple[str, str]]:
    return kinds(lines(META, *records), "codex")


def states(*records: dict[str, Any]) -> list[CallState]:
    text = lines(META, *records)
    return [link.state for link in examine([text], text, "codex").calls.links]


def test_texts_that_the_user_did_not_see_are_hidden_with_their_kinds() -> None:
    rows: list[tuple[str, dict[str, Any]]] = [
        ("instruction", record("session_meta", id="s1", base_instructions={"text": "SECRET_"})),
        ("instruction", record("session_meta", id="s1", base_instructions="SECRET_")),
        ("instruction", record("session_meta", id="s1", instructions="SECRET_")),
        ("instruction", record("turn_context", user_instructions="SECRET_")),
        ("instruction", record("turn_context", developer_instructions="SECRET_")),
        (
            "instruction",
            record("turn_context", collaboration_mode={"settings": {"developer_instructions": "SECRET_"}}),
        ),
        ("instruction", item("message", role="developer", content=[{"type": "input_text", "text": "SECRET_"}])),
        ("instruction", item("message", role="system", content="SECRET_")),
        ("thought", item("reasoning", summary=[{"type": "summary_text", "text": "SECRET_"}])),
        ("thought", item("reasoning", summary=[], content=[{"type": "reasoning_text", "text": "SECRET_"}])),
        ("thought", event("agent_reasoning", text="SECRET_")),
        ("thought", event("agent_reasoning_raw_content", text="SECRET_")),
        ("thought", event("plan_update", plan=[{"step": "SECRET_"}])),
        ("call", item("function_call", name="shell", arguments='{"a":"SECRET_"}', call_id="c")),
        ("call", item("custom_tool_call", name="apply_patch", input="SECRET_", call_id="c")),
        ("call", item("local_shell_call", action={"command": ["SECRET_"]}, call_id="c")),
        ("call", item("web_search_call", action={"query": "SECRET_"})),
        ("call", item("tool_search_call", arguments={"query": "SECRET_"}, call_id="c")),
        ("reply", item("function_call_output", output="SECRET_", call_id="c")),
        ("reply", item("function_call_output", output=[{"type": "input_text", "text": "SECRET_"}], call_id="c")),
        ("reply", item("function_call_output", output={"content": "SECRET_", "success": False}, call_id="c")),
        ("reply", item("custom_tool_call_output", output="SECRET_", call_id="c")),
        ("reply", item("tool_search_output", tools=[{"name": "SECRET_"}], call_id="c")),
        ("reply", event("exec_command_end", call_id="c", aggregated_output="SECRET_", exit_code=0)),
        ("reply", event("patch_apply_end", call_id="c", stdout="SECRET_", success=True)),
        ("reply", event("mcp_tool_call_end", call_id="c", result={"Err": "SECRET_"})),
        ("notice", event("error", message="SECRET_")),
        ("notice", event("stream_error", message="SECRET_")),
        ("notice", event("warning", message="SECRET_")),
        ("notice", event("turn_aborted", reason="SECRET_")),
        ("notice", event("background_event", message="SECRET_")),
        ("notice", event("exited_review_mode", review_output={"overall_explanation": "SECRET_"})),
        ("subagent", event("collab_agent_spawn_end", new_thread_id="t2", prompt="SECRET_")),
        ("subagent", event("sub_agent_activity", agent_thread_id="t2", prompt="SECRET_")),
        ("subagent", record("inter_agent_communication", content="SECRET_")),
        ("subagent", item("agent_message", author="a", content=[{"type": "input_text", "text": "SECRET_"}])),
        ("replayed", record("compacted", message="SECRET_")),
        ("injected", typed("SECRET_", kind="environment_context")),
        ("injected", typed("SECRET_", kind=3)),
        ("unknown", event("hologram", message="SECRET_")),
        ("unknown", item("oracle", text="SECRET_")),
        ("unknown", item("message", role="critic", content="SECRET_")),
        ("unknown", item("message", role="tool", content="SECRET_")),
        ("unknown", item("message", role="assistant", channel="analysis", content="SECRET_")),
        ("unknown", item("message", role="assistant", recipient="functions.f", content="SECRET_")),
        ("unknown", event("item_completed", item={"type": "HookPrompt", "text": "SECRET_"})),
        ("unknown", record("world_state", state={"text": "SECRET_"})),
    ]
    for kind, one in rows:
        found = read_as(one)
        assert [name for name, body in found if "SECRET_" in body] == [kind], one
        assert seen(one) == []


def test_metadata_is_not_a_message() -> None:
    for type in ("token_count", "task_started", "task_complete", "thread_name_updated", "context_compacted"):
        assert read_as(event(type, last_agent_message="SECRET_", info={"text": "SECRET_"})) == []
    assert read_as(record("compacted", message="", replacement_history=[user("SECRET_")["payload"]])) == []


def test_encrypted_thoughts_are_never_decoded() -> None:
    found = read_as(item("reasoning", summary=[], encrypted_content="not encrypted: SECRET_"))
    assert [kind for kind, _ in found] == ["thought"]
    assert "SECRET_" not in found[0][1]


@pytest.mark.parametrize("swapped", [False, True])
def test_a_text_and_its_copy_are_one_message_in_either_order(swapped: bool) -> None:
    pairs = [(user("Hello"), typed("Hello\n")), (said("Hi!", phase="final_answer"), answered("Hi!"))]
    records = [each for pair in pairs for each in (reversed(pair) if swapped else pair)]
    assert read_as(*records) == [("said", "Hello"), ("said", "Hi!")]
    assert seen(*records) == ["Hello", "Hi!"]


def test_a_text_that_was_sent_twice_is_two_messages() -> None:
    pair = user("Again"), typed("Again")
    assert seen(*pair, *pair) == ["Again", "Again"]
    assert seen(pair[0], pair[0], pair[1], pair[1]) == ["Again", "Again"]
    assert seen(pair[1], pair[0], pair[1], pair[0]) == ["Again", "Again"]


def found(*records: dict[str, Any]) -> list[tuple[int | None, bytes]]:
    text = lines(META, *records)
    diagnostics = [each for each in examine([text], text, "codex").findings if each.code == "W-COPY-DIFFERS"]
    return [(each.message, text[each.start : each.end]) for each in diagnostics]


def test_two_copies_that_differ_stay_messages_and_are_reported() -> None:
    assert read_as(said("Hi!"), answered("Hello!")) == [("said", "Hi!"), ("said", "Hello!")]
    assert found(said("Hi!"), answered("Hello!")) == [(2, b"Hello!")]
    assert found(answered("Hello!"), said("Hi!")) == [(1, b"Hello!")]
    assert found(user("Do it."), typed("Do it")) == [(1, b"Do it.")]
    assert seen(user("Do it."), typed("Do it")) == ["Do it"]


@pytest.mark.slow
def test_a_text_without_a_copy_is_not_a_differing_copy() -> None:
    far = [event("token_count")] * 17
    for records in (
        [said("Hi!"), *far, answered("Hello!")],
        [said("Hi!"), said("Hello!"), answered("Hello!")],
        [answered("Hi!"), said("Hi!"), answered("Hello!")],
        [said("One."), user("Two."), typed("Two."), answered("One.")],
        [user("<custom>1</custom>"), user("Do it."), typed("Do it.")],
        [user("<environment_context>1"), typed("Do it.")],
        [said("Hi!"), typed("Hello!")],
        [said("Hi!", "Hello!"), answered("Hi!"), answered("Hello!")],
    ):
        assert found(*records) == [], records


def test_the_example_without_its_events_or_without_its_messages_shows_the_same_texts() -> None:
    records = [json.loads(line) for line in EXAMPLE.splitlines()]
    without_events = [each for each in records if each["type"] != "event_msg"]
    assert shown(lines(*without_events), "codex") == ["List the files.", "I look.", "Two files."]
    messages = [each for each in records if each["payload"].get("type") != "message"]
    assert shown(lines(*messages), "codex") == ["List the files.", "Two files."]


def test_the_example_has_no_text_twice_and_a_call_that_took_a_second() -> None:
    reading = read(EXAMPLE, "codex")
    assert len(reading.texts) == 10
    assert len(set(reading.texts)) == 10
    link = next(iter(examine([EXAMPLE], EXAMPLE, "codex").calls.links))
    assert (link.state, link.latency_ms) == (CallState.OK, 1000)


def test_only_the_known_phases_are_shown() -> None:
    for known in ("commentary", "final_answer", None):
        assert seen(said("Text", phase=known)) == ["Text"]
    for phase in ("Commentary", "final", "analysis", "", 3, ["final_answer"], {"a": 1}, True):
        assert seen(said("SECRET_", phase=phase)) == [], phase
    assert shown(EXAMPLE.replace(b'"phase":"commentary"', b'"phase":"Commentary"'), "codex") == [
        "List the files.",
        "Two files.",
    ]


def test_the_phase_of_an_item_hides_a_text_that_its_event_announced() -> None:
    assert seen(answered("SECRET_"), said("SECRET_", phase="draft")) == []
    assert seen(said("SECRET_", phase="draft"), answered("SECRET_")) == []


def test_user_items_that_the_program_wrote_are_injected() -> None:
    beginnings = (
        *("<environment_context>", "<user_instructions>", "<permissions instructions>", "<collaboration_mode>"),
        *("<skill>", "<skills_instructions>", "<plugins_instructions>", "<subagent_notification>", "<turn_aborted>"),
        *("<user_shell_command>", "<user_action>", "<apps_instructions>", "<model_switch>", "<INSTRUCTIONS>"),
        *("# AGENTS.md instructions for /w", "Another language model started to solve this problem", "\n <skill>"),
    )
    for beginning in beginnings:
        for one in (
            user(f"{beginning} SECRET_"),
            item("message", role="user", content=f"{beginning} SECRET_"),
            item("message", role="user", content=[f"{beginning} SECRET_"]),
            user(f"{beginning} SECRET_", "SECRET_"),
        ):
            assert seen(one) == [], beginning
            assert {kind for kind, _ in read_as(one)} == {"injected"}
    assert seen(user("Do it."), user("<skill>SECRET_</skill>")) == ["Do it."]
    assert seen(user("Do it.", "<skill>SECRET_</skill>")) == ["Do it."]


def test_a_user_item_without_an_event_is_shown_only_before_the_first_event() -> None:
    assert seen(user("First")) == ["First"]
    assert seen(user("First"), typed("First"), user("SECRET_")) == ["First"]
    assert seen(user("<custom> SECRET_")) == []
    assert seen(user("<b>Bold</b>"), typed("<b>Bold</b>")) == ["<b>Bold</b>"]
    far = [event("token_count")] * 20
    assert seen(user("SECRET_"), *far, typed("Typed")) == ["SECRET_", "Typed"]
    assert seen(typed("Typed"), *far, user("SECRET_")) == ["Typed"]


def test_a_user_item_is_hidden_until_it_is_settled() -> None:
    text = lines(META, typed("Before"), user("SECRET_"), *[event("token_count")] * 5)
    analysis = examine([text[:-1]], text, "codex")
    assert [message.header.kind for message in analysis.index][-1] is Kind.INJECTED


def test_only_the_part_of_an_item_that_an_event_repeats_is_shown() -> None:
    for records in ((user("Fix it", "SECRET_"), typed("Fix it")), (typed("Fix it"), user("Fix it", "SECRET_"))):
        assert seen(*records) == ["Fix it"]
        assert any("SECRET_" in body for _, body in read_as(*records))
    assert seen(user("Fix ", "it"), typed("Fix it")) == ["Fix it"]


def test_the_context_of_an_editor_is_hidden_and_the_request_after_it_is_shown() -> None:
    text = "# Context from my IDE setup:\n\n## Open tabs: SECRET_\n\n## My request for Codex:\nExplain.\n"
    for records in (
        [user(text)],
        [user(text), typed(text)],
        [typed(text), user(text)],
        [user(text), typed("Explain.")],
    ):
        assert seen(*records) == ["Explain."]
    assert seen(user("# Context from my IDE setup:\nSECRET_")) == []


def test_citations_and_the_tags_around_a_plan_are_hidden() -> None:
    citation = "<oai-mem-citation>SECRET_</oai-mem-citation>"
    assert seen(said(f"Done.{citation}"), answered("Done.")) == ["Done."]
    assert seen(answered("Done."), said(f"Done.{citation}")) == ["Done."]
    assert seen(said("Done.<oai-mem-citation>SECRET_")) == ["Done."]
    plan = "See:\n<proposed_plan>\n1. Test\n</proposed_plan>"
    done = event("item_completed", item={"type": "Plan", "text": "1. Test"})
    assert seen(said(plan), answered("See:"), done) == ["See:", "1. Test"]


def test_items_of_a_thread_are_copies_as_well() -> None:
    typed_item = event("item_completed", item={"type": "UserMessage", "content": [{"type": "text", "text": "Hello"}]})
    said_item = event("item_completed", item={"type": "AgentMessage", "content": [{"type": "Text", "text": "Hi!"}]})
    assert seen(user("Hello"), typed_item, said_item, said("Hi!")) == ["Hello", "Hi!"]
    assert seen(typed_item, said_item) == ["Hello", "Hi!"]


def test_an_attached_image_shows_as_a_label() -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="}
    content = [{"type": "input_text", "text": "<image name=[SECRET_]>"}, image, {"type": "input_text", "text": "Why?"}]
    records = item("message", role="user", content=content), typed("Why?")
    assert seen(*records) == ["[image/png, 8 B]\nWhy?"]


def test_an_event_gives_the_reply_of_a_call_its_outcome() -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    output = item("function_call_output", output="Exit code: 1", call_id="c1")
    rows: list[tuple[CallState, list[dict[str, Any]]]] = [
        (CallState.OK, [output]),
        (CallState.FAILED, [event("exec_command_end", call_id="c1", exit_code=1), output]),
        (CallState.OK, [event("exec_command_end", call_id="c1", exit_code=0), output]),
        (CallState.TIMEOUT, [event("exec_command_end", call_id="c1", exit_code=124, timed_out=True), output]),
        (CallState.CANCELLED, [event("exec_command_end", call_id="c1", status="declined"), output]),
        (CallState.FAILED, [event("patch_apply_end", call_id="c1", success=False), output]),
        (CallState.FAILED, [event("mcp_tool_call_end", call_id="c1", result={"Ok": {"isError": True}}), output]),
        (CallState.FAILED, [event("mcp_tool_call_end", call_id="c1", result={"Err": "no"}), output]),
        (CallState.FAILED, [item("function_call_output", output={"content": "x", "success": False}, call_id="c1")]),
        (
            CallState.FAILED,
            [item("function_call_output", output='{"output":"x","metadata":{"exit_code":1}}', call_id="c1")],
        ),
        (
            CallState.FAILED,
            [item("function_call_output", output='{"output":"x","metadata":{"exit_code":127}}', call_id="c1")],
        ),
        (
            CallState.OK,
            [item("function_call_output", output='{"output":"x","metadata":{"exit_code":0}}', call_id="c1")],
        ),
    ]
    for state, records in rows:
        assert states(call, *records) == [state], records
        replies = [body for kind, body in read_as(call, *records) if kind == "reply"]
        assert len(replies) == 1, records


def test_output_that_is_not_json_is_not_an_error() -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    for text in ("[main 1234] Fix", "{ color: red }", "[ ok ] started", "{}, {}"):
        output = item("function_call_output", output=text, call_id="c1")
        assert codes(read(lines(META, call, output), "codex")) == [], text
    broken = item("function_call_output", output='{"output": 1 2}', call_id="c1")
    assert codes(read(lines(META, call, broken), "codex")) == ["E-BODY-CONSTRAINT-VIOLATION/json-malformed"]


def test_an_event_after_its_reply_is_not_a_second_message_and_reports_the_failure() -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    output = item("function_call_output", output="no", call_id="c1")
    records = call, output, event("exec_command_end", call_id="c1", exit_code=1, aggregated_output="no")
    assert [kind for kind, _ in read_as(*records)] == ["call", "reply"]
    assert "W-TOOL-FAILED" in codes(read(lines(META, *records), "codex"))


def test_many_parallel_commands_keep_one_reply_each() -> None:
    ids = [f"c{number}" for number in range(30)]
    calls = [item("function_call", name="shell", arguments="{}", call_id=each) for each in ids]
    ends = [event("exec_command_end", call_id=each, exit_code=1, aggregated_output="x") for each in ids]
    outputs = [item("function_call_output", output="x", call_id=each) for each in ids]
    assert states(*calls, *ends, *outputs) == [CallState.FAILED] * 30
    assert len(read_as(*calls, *ends, *outputs)) == 60


def test_an_aborted_turn_cancels_the_open_calls() -> None:
    call = item("function_call", name="shell", arguments="{}", call_id="c1")
    reading = read(lines(META, call, event("turn_aborted", reason="interrupted")), "codex")
    assert {"W-RUN-ERROR/aborted", "E-TOOL-CANCELLED/event"} <= set(codes(reading))
    assert states(call, event("turn_aborted", reason="interrupted")) == [CallState.CANCELLED]


def test_errors_are_reported_with_their_reasons() -> None:
    rows = [
        ("usage_limit_exceeded", "rate-limit"),
        ("context_window_exceeded", "context-length"),
        ("unauthorized", "auth"),
        ({"http_connection_failed": {"http_status_code": 500}}, "api"),
        (None, "unknown"),
    ]
    for info, reason in rows:
        reading = read(lines(META, event("error", message="SECRET_", codex_error_info=info)), "codex")
        assert codes(reading) == [f"W-RUN-ERROR/{reason}"]


def test_a_session_of_a_sub_agent_shows_nothing() -> None:
    for source in ({"source": {"subagent": "review"}}, {"source": {"subagent": {"other": "x"}}}):
        meta = record("session_meta", id="s2", **source)
        assert (
            shown(lines(meta, user("SECRET_"), typed("SECRET_"), said("SECRET_"), answered("SECRET_")), "codex") == []
        )
    meta = record("session_meta", id="s2", thread_source="subagent")
    assert shown(lines(meta, user("SECRET_")), "codex") == []
    assert {kind for kind, _ in kinds(lines(meta, user("SECRET_"), said("SECRET_")), "codex")} == {"subagent"}


def test_the_history_of_a_fork_is_replayed() -> None:
    def at(seconds: float, one: dict[str, Any]) -> dict[str, Any]:
        return one | {"timestamp": f"2026-03-04T09:00:{seconds:06.3f}Z"}

    fork = at(10, record("session_meta", id="s2", forked_from_id="s1"))
    plain = at(10, record("session_meta", id="s2"))
    parent = at(10.01, record("session_meta", id="s1"))
    history = [at(10.02, user("Old")), at(10.02, typed("Old")), at(10.03, said("Older"))]
    new = [at(15, event("task_started")), at(15, user("New")), at(15, typed("New")), at(16, said("Newer"))]
    for start in ([fork, parent], [fork], [plain, parent]):
        reading = read(lines(*start, *history, *new), "codex")
        assert shown(lines(*start, *history, *new), "codex") == ["New", "Newer"]
        assert codes(reading) == ["W-THREAD-BROKEN/parent-missing"]
        assert len(reading.transcripts) == 1


def test_a_resumed_session_is_one_transcript_and_another_session_starts_another_one() -> None:
    resumed = lines(record("session_meta", 1, id="s1"), user("One"), record("session_meta", 30, id="s1"), user("Two"))
    assert len(read(resumed, "codex").transcripts) == 1
    assert shown(resumed, "codex") == ["One", "Two"]
    other = lines(record("session_meta", 1, id="s1"), user("One"), record("session_meta", 30, id="s2"), user("Two"))
    assert len(read(other, "codex").transcripts) == 2


def test_a_rollback_supersedes_the_last_turns() -> None:
    records = [user("One"), typed("One"), said("1"), user("Two"), typed("Two"), said("2")]
    text = lines(META, *records, event("thread_rolled_back", num_turns=1), user("Three"), typed("Three"))
    index = examine([text], text, "codex").index
    assert [index.is_superseded(number) for number in range(1, 6)] == [False, False, True, True, False]
    for turns in (0, -1, "1", 10**30, 1.5, None, [1]):
        read(lines(META, *records, event("thread_rolled_back", num_turns=turns)), "codex")


def test_marks_of_a_template_hide_in_a_text_that_settles_later() -> None:
    for text in (
        "Yes.<tool_call>SECRET_</tool_call>",
        "<think>SECRET_</think>Yes.",
        "<|channel|>analysis<|message|>SECRET_",
    ):
        assert "SECRET_" not in "".join(seen(answered(text), *[event("token_count")] * 20)), text
        assert "SECRET_" not in "".join(seen(answered(text), said(text))), text
        assert "SECRET_" not in "".join(seen(said(text))), text


def test_early_files_hold_bare_items() -> None:
    sample = next(each for each in samples("valid/codex") if each.base == "early-version")
    assert detect(sample.text).format == "codex"
    assert shown(sample.text, "codex") == ["Sort the imports.", "Sorted."]


@pytest.mark.slow
def test_no_example_of_another_format_shows_hidden_text() -> None:
    check_forced("codex")


@each("sample", samples("valid/codex"), ids=lambda sample: sample.name, quick=0, test=4)
def test_other_readings_of_the_same_bytes_agree_and_hide_the_same(sample: Sample) -> None:
    check_bytes(sample.text, "codex")
    check_prefixes(sample.text, "codex", 127)
    check_renamed(sample.text, "codex")
    if sample.base in ("drift", "forked", "sub-agent-session"):
        check_values(sample.text, "codex")
    assert detect(sample.text).format == "codex", sample.name


def test_a_call_keeps_its_name_and_the_kind_of_its_text() -> None:
    call = item("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c1")
    header = headers(read(lines(META, call), "codex"))[0]
    assert (header.recipient, header.call_id, header.content_type) == ("functions.apply_patch", "c1", None)
