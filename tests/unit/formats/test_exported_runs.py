"""Exports of data sets, scanners, agents, and traces: samples, cuts, other values."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.agent_records import as_document, assert_others_are_hidden, found, kinds, shown
from tests.support.cases import each
from tests.support.record_samples import assert_cuts_show_nothing_hidden, assert_read_as_expected
from tests.support.samples import Sample, samples

NAMES = ("oasst", "garak", "agno", "agents-trace", "braintrust", "opik", "chat-replay")
UNREADABLE: tuple[Any, ...] = (1, "no", [])
SAMPLES = [sample for name in NAMES for sample in samples(f"valid/{name}")]


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=24, test=2, batch=32)
def test_a_sample_shows_what_its_expectation_says_and_no_cut_shows_more(sample: Sample) -> None:
    assert_read_as_expected(sample)
    assert_cuts_show_nothing_hidden(sample)


@pytest.mark.slow
def test_other_formats_show_nothing_that_is_hidden() -> None:
    for name in NAMES:
        assert_others_are_hidden(name)


def test_a_message_that_reviewers_did_not_accept_is_hidden() -> None:
    message = {"message_id": "1", "role": "assistant", "text": "a", "lang": "en"}
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, ["a"]),
        ({"deleted": False, "review_result": True, "synthetic": True, "model_name": "m"}, ["a"]),
        *(({"deleted": value}, []) for value in UNREADABLE),
        *(({"review_result": value}, []) for value in UNREADABLE),
        ({"deleted": True}, []),
        ({"review_result": False}, []),
        ({"synthetic": True, "note": "x"}, []),
        ({"synthetic": True, "hidden": True}, []),
    ]
    for fields, texts in cases:
        assert shown(as_document({**message, **fields}), "oasst") == texts, fields
    values: tuple[Any, ...] = (True, 1, "yes", [])
    conversations: list[tuple[dict[str, Any], bool]] = [
        *(({name: value}, False) for name in ("deleted", "spam") for value in values),
        *(({"review_result": value}, False) for value in (False, *UNREADABLE)),
        ({"hidden": True}, False),
        ({"synthetic": True, "deleted": False, "review_result": True, "spam": None}, True),
    ]
    for fields, is_shown in conversations:
        tree = {"message_tree_id": "1", "prompt": {**message, "replies": []}, **fields}
        thread = {"thread_id": "1", "thread": [message], **fields}
        for record in (tree, thread):
            assert bool(shown(as_document(record), "oasst")) is is_shown, record


def test_results_and_arguments_of_agno_that_no_message_repeats_are_read() -> None:
    def tool(number: int) -> dict[str, Any]:
        return {"tool_call_id": f"c{number}", "tool_args": {"k": f"asked {number}"}, "result": f"found {number}"}

    asked, answer = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    reply = {"role": "tool", "tool_call_id": "c1", "content": "found 1"}
    cases: list[tuple[list[dict[str, Any]], Any, list[str]]] = [
        ([asked, reply, answer], [tool(1), tool(2)], ["asked 2", "found 2"]),
        ([asked, answer], [tool(1), tool(2)], ["asked 1", "found 1", "asked 2", "found 2"]),
        ([asked, *[{**reply, "tool_call_id": f"x{each}"} for each in range(20)], reply, answer], [tool(1)], []),
        ([asked, reply, answer], tool(2), ["asked 2", "found 2"]),
        ([asked, answer], [{"tool_call_id": "c1", "tool_args": {"k": "asked 1"}}], ["asked 1"]),
    ]
    for said, tools, texts in cases:
        run = {"run_id": "r", "agent_id": "a", "session_id": "s", "content": "b", "messages": said, "tools": tools}
        data = as_document(run)
        assert shown(data, "agno") == ["a", "b"], tools
        replayed = [text for kind, text in kinds(data, "agno") if kind == "replayed"]
        assert [word in text for word, text in zip(texts, replayed, strict=True)] == [True] * len(texts), tools


def test_only_the_last_record_of_an_attempt_is_shown() -> None:
    attempt = {"entry_type": "attempt", "uuid": "u", "prompt": "a", "outputs": ["b", "SECRET"]}
    for status, texts in ((2, ["a", "b"]), (None, ["a", "b"]), (1, []), (3, []), ("x", [])):
        assert shown(as_document({**attempt, "status": status}), "garak") == texts, status
    for header in ({"recipient": "tool"}, {"to": "browser"}, {"intent": "debug"}, {"channel": "analysis"}):
        turns = [{"role": role, "content": {"text": role}} for role in ("user", "assistant")]
        turns[1] |= header
        assert shown(as_document({**attempt, "conversations": [{"turns": turns}]}), "garak") == ["user"], header


def test_the_input_of_a_run_is_shown_without_what_was_added() -> None:
    message = {"role": "user", "content": "a"}
    for content, given, texts in (
        ("a", None, ["a"]),
        ("a\n\nUse the following references from the knowledge base:\nSECRET", None, ["a"]),
        ("<context>SECRET", None, []),
        ("a SECRET", {"input_content": "a"}, ["a"]),
        ("a SECRET", {"input_content": ["a", message, {"x": "SECRET"}]}, ["a", "a"]),
        ("a SECRET", {"input_content": message}, ["a"]),
        ("a SECRET", {"input_content": {"a": "SECRET"}}, []),
        ("a SECRET", "a", ["a"]),
        ("a SECRET", ["a", message], ["a", "a"]),
        ("a SECRET", message, ["a"]),
        ("a SECRET", {"input_content": {**message, "hidden": True}}, []),
        ("a SECRET", {}, []),
    ):
        run = {"run_id": "r", "agent_id": "a", "input": given, "messages": [{"role": "user", "content": content}]}
        assert shown(as_document(run), "agno") == texts, (content, given)
        for parent, expected in ((None, texts), ("", texts), ("p", [])):
            session = {"session_id": "s", "agent_data": {}, "runs": [{**run, "parent_run_id": parent}]}
            document = as_document(session)
            assert shown(document, "agno") == expected, (content, given, parent)
            for cut in range(document.index(b"run_id"), len(document), 3) if parent else ():
                assert shown(document[:cut], "agno") == [], cut
    answered = {**run, "content": "b", "member_responses": [{**run, "run_id": "m", "content": "SECRET"}]}
    assert shown(as_document(answered), "agno") == ["b"]
    said = [message, {"role": "assistant", "content": "b"}]
    assert shown(as_document({**answered, "input": "a", "messages": said}), "agno") == ["a", "b"]


def test_only_the_content_of_a_run_in_a_known_state_is_an_answer_and_nothing_is_lost() -> None:
    answered: tuple[Any, ...] = (None, "COMPLETED", "PAUSED", "RUNNING", "REGENERATED")
    failed: tuple[Any, ...] = ("ERROR", "CANCELLED", "FAILED", "error", 1, [])
    for status in answered + failed:
        texts = ["a", "b"] if status in answered else ["a"]
        run = {"run_id": "r", "agent_id": "a", "input": {"input_content": "a"}, "content": "b", "status": status}
        session = {"session_id": "s", "agent_data": {}, "runs": [run]}
        assert shown(as_document(session), "agno") == texts, status
    said = [{"role": "user", "content": "a"}]
    for fields, is_answer in (
        ({"event": "RunResponse"}, True),
        ({"event": "TeamRunCompleted", "status": "COMPLETED"}, True),
        ({"event": "RunError", "status": None}, False),
        ({"event": "RunCancelled", "status": "COMPLETED"}, False),
        ({"event": "TeamRunError"}, False),
        ({"event": "ToolCallStarted"}, False),
        ({"event": 1}, False),
        ({"content": "AgentResult(x='b')"}, False),
        ({"content": '{"thought":"b"}'}, False),
    ):
        for more in ({"messages": said}, {"input": "a"}):
            run = {"run_id": "r", "agent_id": "a", "content": "b", **more, **fields}
            data = as_document({"session_id": "s", "agent_data": {}, "runs": [run]})
            assert shown(data, "agno") == (["a", "b"] if is_answer else ["a"]), run
            assert "b" in "".join(text for _, text in kinds(data, "agno")), run
            is_error = str(fields.get("event")).endswith(("Error", "Cancelled"))
            assert any("W-RUN-ERROR" in code for code in found(data, "agno")) is is_error, run
    message, asked = {"role": "assistant", "content": "b"}, {"role": "user", "content": "a"}
    whole: dict[str, Any] = {"run_id": "r", "agent_id": "a", "content": "b", "messages": [asked, message]}
    member = {"run_id": "m", "agent_id": "a", "content": "SECRET_1"}
    deep = {**member, "content": "x", "member_responses": [{**member, "member_responses": [member]}]}
    asides: tuple[dict[str, Any], ...] = (
        *({"member_responses": each} for each in ("SECRET_1", member, ["SECRET_1"], [["SECRET_1"]], [1, member])),
        *({"member_responses": [each]} for each in (deep, {"content": {"x": "SECRET_1"}}, {"x": "SECRET_1"})),
        {"member_responses": [{**member, "content": "x", "input": {"input_content": "SECRET_1"}}]},
        {"member_responses": [{**member, "content": "x", "input": {"input_content": {"x": "SECRET_1"}}}]},
        {"member_responses": [{"run_id": "m", "messages": [message], "reasoning_content": "SECRET_1"}]},
        {"reasoning_content": "SECRET_1"},
        *({"reasoning_steps": each} for each in ([{"title": "SECRET_1"}], "SECRET_1", ["SECRET_1"])),
        {"reasoning_messages": [{"role": "assistant", "content": "SECRET_1"}]},
        *({"step_results": each} for each in ([{"content": "SECRET_1"}], [[{"content": "SECRET_1"}]], "SECRET_1")),
        {"step_executor_runs": [{**whole, "messages": [{"role": "user", "content": "SECRET_1"}]}]},
        {"additional_input": [{"role": "user", "content": "SECRET_1"}]},
        {"followups": ["SECRET_1"]},
        {"tools": [{"tool_name": "f", "tool_call_id": "c", "result": "SECRET_1"}]},
    )
    for aside in asides:
        for extra in ({}, {"messages": None, "input": "a"}):
            data = as_document({"session_id": "s", "agent_data": {}, "runs": [{**whole, **extra, **aside}]})
            assert shown(data, "agno") == ["a", "b"], aside
            assert "SECRET_1" in "".join(text for _, text in kinds(data, "agno")), (aside, extra)
    repeated = [asked, {"role": "tool", "tool_call_id": "c", "content": "d"}, {**message, "reasoning_content": "e"}]
    copies = {"tools": [{"tool_call_id": "c", "result": "d"}], "reasoning_content": "e", "messages": repeated}
    texts = [text for _, text in kinds(as_document({**whole, **copies}), "agno")]
    assert (texts.count("d"), texts.count("e")) == (1, 1)


def test_an_answer_without_a_role_is_the_output_of_a_model_call() -> None:
    text = [{"type": "text", "text": "b"}]
    for output, texts in (
        ({"content": text}, ["b"]),
        ({"content": [{"type": "thinking", "thinking": "SECRET"}, *text]}, ["b"]),
        ({"content": text, "role": "assistant"}, ["b"]),
        ({"content": text, "role": "critic"}, []),
        ({"content": text, "type": "error"}, []),
        ({"content": text, "hidden": True}, []),
        ({"content": {"text": "SECRET"}}, []),
    ):
        span = {"id": "s", "trace_id": "t", "type": "llm", "start_time": "", "input": {}, "output": output}
        assert shown(as_document(span), "opik") == texts, output
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}
    answer = {"object": "response", "output": [message]}
    for outputs, texts in (
        ([answer], ["b"]),
        ([{**answer, "output": []}], []),
        ([{**answer, "object": "list"}], []),
        ([{**answer, "output": [{**message, "role": "critic"}]}], []),
    ):
        data = {"type": "generation", "input": [], "output": outputs}
        generation: dict[str, Any] = {"object": "trace.span", "id": "s", "trace_id": "t", "span_data": data}
        assert shown(as_document(generation), "agents-trace") == texts, outputs


def test_only_answers_of_the_panel_are_shown() -> None:
    for name, kind, answer, texts in (
        ("panel/editAgent", "success", ["b"], ["a", "b"]),
        ("panel/editAgent", "success", "b", ["a", "b"]),
        ("panel/editAgent", "other", "b", ["a"]),
        ("panel/editAgent", "success", {"text": "b"}, ["a"]),
        *((f"panel/{name}", "success", "b", ["a", "b"]) for name in ("askAgent", "default", "unknown", "vscode")),
        *((name, "success", "b", []) for name in ("title", "tool/runSubagent", "editAgent", "panel", "")),
        *((name, "success", "b", []) for name in ("panel/title", "summarizeConversationHistory-full", "debug")),
        *((f"panel/{name}", "success", "b", []) for name in ("editAgent-title", "EditAgent", "editagent", "agents")),
    ):
        log = {"kind": "request", "type": "ChatMLSuccess", "name": name, "response": {"type": kind, "message": answer}}
        export = {"exportedAt": "", "prompts": [{"prompt": "a", "logs": [log]}]}
        assert shown(as_document(export), "chat-replay") == texts, name
    for name, kind, answer, texts in (
        ("panel/editAgent", "truncated", "b", ["a", "b"]),
        ("panel/editAgent", "truncated", ["b"], ["a"]),
        ("panel/editAgent", "success", "b", ["a"]),
        ("title", "truncated", "b", []),
    ):
        log = {"kind": "request", "type": "ChatMLFailure", "name": name, "response": {"type": kind, "message": answer}}
        export = {"exportedAt": "", "prompts": [{"prompt": "a", "logs": [log]}]}
        assert shown(as_document(export), "chat-replay") == texts, (name, kind)


def test_chats_are_shown_without_references_to_characters_and_hidden_by_metadata_in_strings() -> None:
    for metadata, is_shown in (
        ('{"model": "m"}', True),
        ("{}", True),
        ("", True),
        (None, True),
        ('{"hidden": false}', True),
        ('{"hidden": true}', False),
        ('{"ui": {"visible": false}}', False),
        ('{"visibility": "internal"}', False),
        ({"hidden": True}, False),
    ):
        step: dict[str, object] = {"id": "1", "type": "assistant_message", "output": "b", "metadata": metadata}
        asked: dict[str, object] = {"id": "0", "type": "user_message", "output": "a"}
        thread: dict[str, object] = {"id": "t", "steps": [asked, step]}
        assert shown(as_document(thread), "chat-apps") == ["a", "b"][: 1 + is_shown], metadata
        assert shown(as_document({"data": [thread]}), "chat-apps") == ["a", "b"][: 1 + is_shown], metadata
        thread = {"id": "t", "steps": [asked], "metadata": metadata}
        assert shown(as_document({"data": [thread]}), "chat-apps") == ["a"][: int(is_shown)], metadata
    chat = {"internal": [], "visible": [["a &amp; b", "&lt;think&gt;SECRET&lt;/think&gt;&#x27;c&#39; &nbsp; &amp;lt;"]]}
    assert shown(as_document(chat), "chat-apps") == ["a & b", "'c' &nbsp; &lt;"]
    assert shown(json.dumps({**chat, "hidden": True}).encode(), "chat-apps") == []


def test_lists_in_a_list_are_batches() -> None:
    one = {"generated_text": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    for batch, texts in (
        ([[one], [one, one]], ["a", "b"] * 3),
        ([[one, 7]], []),
        ([[[one]]], []),
        ([[], [one]], ["a", "b"]),
    ):
        assert shown(as_document(batch), "call-log") == texts, batch
