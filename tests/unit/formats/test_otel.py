"""Traces: three conventions, conversations over several spans, sub-agents, and attributes that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.json_cases import body, messages
from tests.support.printing import SURFACES, some
from tests.support.program import run
from tests.support.record_samples import SECRET, cuts, events_of, samples_of, seen, told
from viewer.formats import detect
from viewer.model.events import Started

SAMPLES = samples_of("otel")
EXAMPLES = Path(__file__).parents[2] / "data" / "formats"
Told = tuple[list[str], list[tuple[str, str]], list[str]]


def text(role: str, *contents: object) -> dict[str, object]:
    parts = [{"type": "text", "content": each} if isinstance(each, str) else each for each in contents]
    return {"role": role, "parts": parts}


def chat(inputs: list[Any], outputs: list[Any], **more: object) -> dict[str, object]:
    return {"gen_ai.input.messages": json.dumps(inputs), "gen_ai.output.messages": json.dumps(outputs), **more}


def span(number: int, attributes: dict[str, object], parent: int | None = None, **more: object) -> dict[str, object]:
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    times = {"startTimeUnixNano": f"{1767323045 + number}000000000"}
    ids = {"traceId": "t", "spanId": str(number), "parentSpanId": str(parent) if parent else ""}
    return {**ids, **times, "attributes": pairs, **more}


def trace(*spans: dict[str, object]) -> Told:
    return told({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}, "otel")


def lines(*spans: dict[str, object]) -> Told:
    return told("\n".join(json.dumps(each) for each in spans).encode(), "otel")


def one(attributes: dict[str, object], **more: Any) -> Told:
    return trace(span(1, attributes, **more))


@pytest.mark.surfaces
@pytest.mark.share(test=6)
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.base)
def test_a_sample_shows_what_its_expectation_says(sample) -> None:  # type: ignore[no-untyped-def]
    data = sample.text
    assert detect(data).format == "otel"
    whole = events_of("otel", data)
    assert seen(whole, data) == sample.seen["seen"]
    assert events_of("otel", data, [1] * len(data)) == whole
    everything = run("show", "--json", "--reveal", "all", "--threads", "all", str(sample.path)).out
    for hidden in sample.seen["hidden"]:
        assert hidden in everything or hidden in sample.seen.get("opaque", [])
    for command, *options in some(SURFACES, sample.name, 6):
        done = run(command, str(sample.path), *options)
        assert SECRET not in done.out + done.err, (command, options)


@pytest.mark.slow
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden() -> None:
    for sample in SAMPLES:
        if sample.base != "retry-and-side-calls":  # without the later calls, the first attempt is the answer
            for cut in cuts(sample.text):
                data = sample.text[:cut]
                assert SECRET not in "".join(seen(events_of("otel", data), data)), (sample.name, cut)


def test_a_renamed_part_or_role_hides_its_text() -> None:
    for output in (
        {"role": "assistant", "parts": [{"type": "x", "content": "SECRET_1"}]},
        {"role": "x", "parts": [{"type": "text", "content": "SECRET_1"}]},
        {"role": "assistant", "parts": {"type": "text", "content": "SECRET_1"}},
        {"parts": [{"type": "text", "content": "SECRET_1"}]},
        {"role": ["assistant"], "parts": [{"type": "text", "content": "SECRET_1"}]},
        {"role": "assistant", "type": "x", "parts": [{"type": "text", "content": "SECRET_1"}]},
    ):
        shown, hidden, codes = one(chat([text("user", "a")], [output]))
        assert shown == ["a"], output
        assert "SECRET_1" in str(hidden) and {"W-PART-UNKNOWN", "W-RECORD-UNKNOWN"} & set(codes), output


def test_each_part_has_its_kind() -> None:
    parts: list[tuple[dict[str, object], str]] = [
        ({"type": "reasoning", "content": "SECRET_1"}, "thought"),
        ({"type": "thinking", "content": "SECRET_1"}, "thought"),
        ({"type": "tool_call", "id": "1", "name": "f", "arguments": {"a": "SECRET_1"}}, "call"),
        ({"type": "server_tool_call", "id": "1", "name": "f", "server_tool_call": {"a": "SECRET_1"}}, "call"),
        ({"type": "tool_call_response", "id": "1", "response": "SECRET_1"}, "reply"),
        ({"type": "server_tool_call_response", "id": "1", "server_tool_call_response": {"a": "SECRET_1"}}, "reply"),
        ({"type": "other", "content": "SECRET_1"}, "unknown"),
    ]
    for part, kind in parts:
        for role in ("user", "assistant"):
            shown, hidden, _ = one(chat([], [text(role, part, "a")]))
            assert (shown, [found for found, _ in hidden]) == (["a"], [kind]), (role, part)
            assert "SECRET_1" in hidden[0][1]
    for role, kind in (("system", "instruction"), ("tool", "reply")):
        assert one(chat([text(role, "SECRET_1")], []))[:2] == ([], [(kind, "SECRET_1")])
    blob = {"type": "blob", "mime_type": "image/png", "modality": "image", "content": "iVBORw0KGgo="}
    assert one(chat([text("user", "a", blob)], []))[0] == ["a\n[image/png, 8 B]"]


def test_instructions_tools_and_documents_are_hidden() -> None:
    for name, kind in (
        ("gen_ai.system_instructions", "instruction"),
        ("gen_ai.tool.definitions", "instruction"),
        ("ai.prompt.tools", "instruction"),
        ("retrieval.documents.0.document.content", "reply"),
        ("gen_ai.tool.call.result", "reply"),
        ("gen_ai.tool.call.arguments", "call"),
        ("ai.toolCall.result", "reply"),
        ("ai.toolCall.args", "call"),
        ("ai.response.reasoning", "thought"),
        ("ai.response.object", "unknown"),
        ("ai.prompt", "unknown"),
        ("input.value", "unknown"),
        ("output.value", "unknown"),
    ):
        assert one({name: "SECRET_1"})[:2] == ([], [(kind, "SECRET_1")]), name


CONVENTIONS: dict[str, dict[str, object]] = {
    "gen_ai": chat([text("user", "a"), text("assistant", "b"), text("user", "c")], [text("assistant", "d")]),
    "openinference": {
        "llm.input_messages.2.message.role": "user",
        "llm.input_messages.2.message.content": "c",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "a",
        "llm.output_messages.0.message.content": "d",
        "llm.output_messages.0.message.role": "assistant",
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.1.message.content": "b",
    },
    "vercel": {
        "ai.prompt.messages": json.dumps(
            [{"role": role, "content": said} for role, said in (("user", "a"), ("assistant", "b"), ("user", "c"))]
        ),
        "ai.response.text": "d",
    },
    "traceloop": {
        **{f"gen_ai.prompt.{at}.role": role for at, role in enumerate(("user", "assistant", "user"))},
        **{f"gen_ai.prompt.{at}.content": said for at, said in enumerate("abc")},
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "d",
    },
    "value": {
        "input.value": json.dumps(
            {"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
        ),
        "output.value": json.dumps({"role": "assistant", "content": "d"}),
    },
}


def test_the_same_conversation_in_each_convention_gives_the_same_messages() -> None:
    for name, attributes in CONVENTIONS.items():
        assert one(attributes)[0] == (["a", "b", "d"] if name == "value" else ["a", "b", "c", "d"]), name
        bare = {"traceId": "t", "spanId": "1", "attributes": attributes}
        assert told([bare], "otel")[0] == one(attributes)[0]
        assert told(attributes, "otel")[0] == one(attributes)[0]


def test_one_span_is_read_by_one_convention() -> None:
    everything = {**CONVENTIONS["gen_ai"], **CONVENTIONS["openinference"], **CONVENTIONS["vercel"]}
    assert one({**everything, "input.value": "SECRET_1", "gen_ai.prompt.0.content": "SECRET_2"})[:2] == (
        ["a", "b", "c", "d"],
        [],
    )


def test_values_below_the_root_are_unknown() -> None:
    asked = [{"role": "user", "content": "SECRET_1"}]
    shown, hidden, _ = trace(span(1, {}), span(2, {"input.value": json.dumps(asked)}, 1))
    assert (shown, hidden) == ([], [("unknown", "SECRET_1")])


def test_evaluators_and_guardrails_talk_to_no_user() -> None:
    for kind in ("EVALUATOR", "GUARDRAIL", "RERANKER", "EMBEDDING"):
        guard: dict[str, object] = {"openinference.span.kind": kind}
        assert one({**guard, **CONVENTIONS["openinference"]})[0] == []
        said = chat([text("user", "SECRET_1")], [])
        shown, hidden, _ = trace(span(1, {}), span(2, guard, 1), span(3, said, 2), span(4, CONVENTIONS["gen_ai"], 1))
        assert (shown, hidden) == (["a", "b", "c", "d"], [("subagent", "SECRET_1")])


def test_a_history_is_repeated_without_new_messages() -> None:
    a, b, c, d = text("user", "a"), text("assistant", "b"), text("user", "c"), text("assistant", "d")
    first, second = span(1, chat([a], [b])), span(2, chat([a, b, c], [d]))
    assert trace(first, second)[:2] == (["a", "b", "c", "d"], [])
    assert trace(second, first)[0] == ["a", "b", "c", "d"]
    assert lines(first, second)[0] == ["a", "b", "c", "d"]
    trimmed = span(2, chat([b, c], [d]))
    assert trace(first, trimmed)[0] == ["a", "b", "c", "d"]
    again = span(2, chat([a, b, a], [b]))
    assert trace(first, again)[0] == ["a", "b", "a", "b"]


def test_the_longest_chain_is_shown() -> None:
    a, b, c, d = text("user", "a"), text("assistant", "b"), text("user", "c"), text("assistant", "d")
    side = chat([text("user", "SECRET_1")], [text("assistant", "SECRET_2")])
    for place in (0, 1, 2):
        calls = [chat([a], [b]), chat([a, b, c], [d])]
        calls.insert(place, side)
        shown, hidden, _ = trace(span(1, {}), *(span(2 + at, each, 1) for at, each in enumerate(calls)))
        assert shown == ["a", "b", "c", "d"]
        assert hidden == [("replayed", "SECRET_1"), ("replayed", "SECRET_2")]


def test_the_last_answer_to_one_question_is_shown() -> None:
    calls = [chat([text("user", "a")], [text("assistant", each)]) for each in ("SECRET_1", "SECRET_2", "b")]
    shown, hidden, _ = trace(span(1, {}), *(span(2 + at, each, 1) for at, each in enumerate(calls)))
    assert (shown, hidden) == (["a", "b"], [("replayed", "SECRET_1"), ("replayed", "SECRET_2")])


def test_a_stated_conversation_joins_traces() -> None:
    for name in ("gen_ai.conversation.id", "session.id", "ai.telemetry.metadata.sessionId"):
        spans = [
            span(1, chat([text("user", "a")], [text("assistant", "b")], **{name: "c"}), traceId="1"),
            span(2, chat([text("user", "c")], [text("assistant", "d")], **{name: "c"}), traceId="2"),
            span(3, chat([text("user", "a")], [text("assistant", "e")], **{name: "d"}), traceId="3"),
        ]
        data = "\n".join(map(json.dumps, spans)).encode()
        events = events_of("otel", data)
        assert seen(events, data) == ["a", "b", "c", "d", "a", "e"]
        assert [event.transcript.number for event in events if isinstance(event, Started)] == [1, 2]


def test_calls_and_replies_of_tool_spans_are_copies() -> None:
    call = {"type": "tool_call", "id": "c", "name": "f", "arguments": {"k": "SECRET_1"}}
    reply = {"type": "tool_call_response", "id": "c", "response": "SECRET_2"}
    tool: dict[str, object] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f"}
    ran: dict[str, object] = {"gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": "{}"}
    asked = text("user", "a")
    shown, hidden, codes = trace(
        span(1, {}),
        span(2, chat([asked], [text("assistant", call)]), 1),
        span(3, {**tool, **ran, "gen_ai.tool.call.result": "SECRET_2"}, 1, status={"code": 2, "message": "SECRET_3"}),
        span(4, chat([asked, text("assistant", call), text("tool", reply)], [text("assistant", "b")]), 1),
    )
    assert shown == ["a", "b"]
    assert [kind for kind, _ in hidden] == ["call", "reply", "notice"]
    assert codes == ["W-RUN-ERROR/unknown", "W-TOOL-FAILED"]


def nested(*kinds: str) -> list[dict[str, object]]:
    operations = {"agent": "invoke_agent", "tool": "execute_tool", "chain": "other"}
    spans = [span(1 + at, {"gen_ai.operation.name": operations[kind]}, at) for at, kind in enumerate(kinds)]
    return [*spans, span(9, chat([text("user", "SECRET_1")], [text("assistant", "SECRET_2")]), len(kinds))]


def test_an_agent_in_an_agent_or_in_a_tool_is_another_thread() -> None:
    for kinds in (("agent", "agent"), ("agent", "tool"), ("chain", "tool", "agent"), ("agent", "chain", "agent")):
        spans = nested(*kinds)
        for ordered in (spans, spans[::-1]):
            for reading in (trace, lines):
                shown, hidden, _ = reading(*ordered)
                assert (shown, [kind for kind, _ in hidden]) == ([], ["subagent"] * 2), kinds
    assert trace(*nested("agent"))[0] == trace(*nested("chain", "agent"))[0] == ["SECRET_1", "SECRET_2"]


def test_a_span_whose_parent_never_came_is_hidden() -> None:
    said = chat([text("user", "SECRET_1")], [])
    shown, hidden, codes = trace(span(2, said, 1))
    assert (shown, hidden) == ([], [("subagent", "SECRET_1")])
    assert codes == ["W-THREAD-BROKEN/parent-missing"]
    assert trace(span(2, said, 1, flags=769))[::2] == (["SECRET_1"], [])


def test_a_parent_of_zeros_is_none_and_other_zeros_count() -> None:
    said = chat([text("user", "a")], [])
    assert trace(span(1, said, parentSpanId="0" * 16))[0] == ["a"]
    assert trace(span(1, {}, spanId="00f0"), span(2, said, parentSpanId="00f0"))[0] == ["a"]
    assert trace(span(2, said, parentSpanId="f0"), span(1, {}, spanId="00f0"))[0] == []


def test_a_root_that_comes_first_waits_for_nothing_and_its_spans_for_the_end() -> None:
    a, b = text("user", "a"), text("assistant", "b")
    side = span(2, chat([text("user", "SECRET_1")], [text("assistant", "SECRET_2")]), 1)
    main = span(3, chat([a, b, text("user", "c")], [text("assistant", "d")]), 1)
    for order in ((span(1, {}), side, main), (side, main, span(1, {}))):
        assert lines(*order)[0] == ["a", "b", "c", "d"]


def test_traces_that_end_in_one_record_are_written_in_the_order_of_their_first_spans() -> None:
    names = [f"t{number}" for number in range(8)]
    said = {name: chat([text("user", name)], []) for name in names}
    below = [span(2, said[name], 1, traceId=name) for name in names]
    roots = [span(1, {}, traceId=name) for name in reversed(names)]
    assert told("\n".join(json.dumps(each) for each in (*below, {"spans": roots})).encode(), "otel")[0] == names
    for padding in ("", "x" * 30_000):
        names = [f"t{number} {padding}".strip() for number in range(40)]
        spans: list[dict[str, object]] = []
        for outer, inner in zip(names[::2], names[1::2], strict=True):
            called = [span(2, chat([text("user", name)], []), 1, traceId=name[:4]) for name in (outer, inner)]
            spans += [*called, span(1, {}, traceId=inner[:4]), span(1, {}, traceId=outer[:4])]
        assert trace(*spans)[0] == names, len(padding)
        document = json.dumps({"spans": spans}, indent=1).encode()
        assert told(document, "otel")[0] == names, len(padding)


def test_a_span_above_model_calls_repeats_them() -> None:
    asked, answer = text("user", "a"), text("assistant", "b")
    agent = chat([asked], [text("assistant", "SECRET_1")], **{"gen_ai.operation.name": "invoke_agent"})
    shown, hidden, _ = trace(span(1, agent), span(2, chat([asked], [answer]), 1))
    assert (shown, hidden) == (["a", "b"], [("replayed", "SECRET_1")])


def test_an_error_is_a_notice_with_the_code_that_the_span_states() -> None:
    for stated, reason in ((None, "unknown"), ("429", "rate-limit"), ("401", "auth"), ("x", "unknown")):
        error = {"error.type": stated} if stated else {}
        shown, hidden, codes = one(
            {**chat([text("user", "a")], []), **error}, status={"code": 2, "message": "SECRET_1"}
        )
        assert (shown, hidden, codes) == (["a"], [("notice", "SECRET_1")], [f"W-RUN-ERROR/{reason}"])
    assert one(chat([text("user", "a")], []), status={"code": 1, "message": "SECRET_1"})[:2] == (["a"], [])


def test_json_that_is_broken_or_cut_is_reported() -> None:
    for value, shown, code in (
        ('[{"role": "user", SECRET_1}]', [], "E-BODY-CONSTRAINT-VIOLATION/json-malformed"),
        (
            '[{"role":"user","parts":[{"type":"text","content":"a"}]},{"role":"user","parts":[{"type":"text","content":"SECRET_1',
            ["a"],
            "E-STREAM-TRUNCATED/log",
        ),
        ('[{"role":"user","parts":[{"type":"text","content":"a"}]},{"role":"assi', ["a"], "E-STREAM-TRUNCATED/log"),
    ):
        found, hidden, codes = one({"gen_ai.input.messages": value})
        assert (found, codes) == (shown, [code])
        assert [kind for kind, _ in hidden] == ["unknown"]


def test_a_message_list_of_typed_values_is_read() -> None:
    def typed(value: object) -> dict[str, object]:
        if isinstance(value, dict):
            return {"kvlistValue": {"values": [{"key": key, "value": typed(each)} for key, each in value.items()]}}
        return (
            {"arrayValue": {"values": [typed(each) for each in value]}}
            if isinstance(value, list)
            else {"stringValue": value}
        )

    said = [{"role": "user", "parts": [{"type": "text", "content": "a"}, {"type": "reasoning", "content": "SECRET_1"}]}]
    pair = {"key": "gen_ai.input.messages", "value": typed(said)}
    assert told({"traceId": "t", "attributes": [pair]}, "otel")[:2] == (["a"], [("thought", "SECRET_1")])


def test_times_are_nanoseconds_or_dates() -> None:
    for start in ("1767323045000000000", 1767323045000000000, "2026-01-02T03:04:05Z"):
        data = json.dumps({"traceId": "t", "startTime": start, "attributes": CONVENTIONS["gen_ai"]}).encode()
        assert messages(events_of("otel", data))[0].time_ms == 1767323045000


def test_repeated_attributes_hide_the_span() -> None:
    pairs = [{"key": "gen_ai.input.messages", "value": {"stringValue": json.dumps([text("user", "SECRET_1")])}}] * 2
    shown, hidden, codes = told({"traceId": "t", "attributes": pairs}, "otel")
    assert (shown, [kind for kind, _ in hidden], codes) == ([], ["unknown"], ["W-RECORD-UNKNOWN"])


def test_embeddings_and_spans_without_content_give_no_messages() -> None:
    assert one({"gen_ai.operation.name": "embeddings", "gen_ai.request.model": "m"}) == ([], [], [])


def test_the_rules_on_other_examples_show_no_secret() -> None:
    for path in EXAMPLES.iterdir():
        if not path.name.endswith(".seen.json"):
            done = run("show", "--json", "--format", "otel", str(path))
            assert SECRET not in done.out + done.err, path.name


def test_a_message_in_a_string_has_its_place_in_the_file() -> None:
    data = json.dumps({"traceId": "t", "attributes": CONVENTIONS["gen_ai"]}).encode()
    first = messages(events_of("otel", data))[0]
    start, end = first.span
    assert data[start:end].startswith(rb"{\"role\": \"user\"") and body(first, data) == "a"


def event(name: str, body: object, span: str = "1", **attributes: str) -> dict[str, object]:
    """Return a log record with an object of strings as its body."""
    pairs = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    values = body.items() if isinstance(body, dict) else ()
    inner = {"kvlistValue": {"values": [{"key": key, "value": _typed(value)} for key, value in values]}}
    given = inner if isinstance(body, dict) else {"stringValue": body}
    return {"traceId": "t", "spanId": span, "eventName": name, "attributes": pairs, "body": given}


def _typed(value: object) -> dict[str, object]:
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _typed(inner)} for key, inner in value.items()]}}
    return {"stringValue": value}


def logs(*records: dict[str, object]) -> dict[str, object]:
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(records)}]}]}


ASKED = event("gen_ai.user.message", {"content": "a"})
ANSWERED = event("gen_ai.choice", {"message": {"content": "b", "role": "assistant"}})


def test_log_records_are_the_events_of_their_span() -> None:
    system = event("gen_ai.system.message", {"content": "SECRET_1"})
    tool = event("gen_ai.tool.message", {"content": "SECRET_2", "id": "c"})
    shown, hidden, _ = told(logs(system, ASKED, tool, ANSWERED), "otel")
    assert shown == ["a", "b"]
    assert [kind for kind, _ in hidden] == ["instruction", "reply"]
    assert lines(logs(system, ASKED), logs(ANSWERED))[0] == ["a", "b"]
    odds: list[dict[str, object]] = [
        event("x", {"content": "SECRET_1"}),
        event("gen_ai.user.message", "SECRET_1"),
        {"body": "SECRET_1"},
    ]
    for odd in odds:
        assert told(logs(ASKED, odd), "otel")[0] == ["a"], odd
    for program in ("claude_code.", "codex.", "gemini_cli.", ""):
        asked = event(f"{program}user_prompt", "x", prompt="a")
        answered = event(f"{program}api_request", "x", model="m", prompt="SECRET_1")
        assert told(logs(asked, answered), "otel")[0] == ["a"], program


def test_log_records_of_another_agent_are_hidden_if_its_span_is_in_the_file() -> None:
    agents: list[dict[str, object]] = [
        span(1, {"gen_ai.operation.name": "invoke_agent"}),
        span(2, {"gen_ai.operation.name": "execute_tool"}, 1),
        span(3, {"gen_ai.operation.name": "chat"}, 2),
    ]
    inner = logs(event("gen_ai.user.message", {"content": "SECRET_1"}, "3"))
    outer = logs(event("gen_ai.user.message", {"content": "a"}, "1"))
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": agents}]}]}
    for order in ((inner, outer, spans), (spans, inner, outer)):
        assert lines(*order)[0] == ["a"]


def test_logfire_spans_before_the_conventions_are_read() -> None:
    asked = {"messages": [{"role": "system", "content": "SECRET_1"}, {"role": "user", "content": "a"}]}
    answer = {"role": "assistant", "content": "b", "reasoning_content": "SECRET_2"}
    for answered in ({"message": answer}, {"combined_chunk_content": "b"}):
        spoken: dict[str, object] = {"request_data": json.dumps(asked), "response_data": json.dumps(answered)}
        assert one(spoken)[0] == ["a", "b"], answered
    parts = [{"kind": "thinking", "text": "SECRET_3"}, {"kind": "text", "text": "b"}]
    events = [
        {"event.name": "gen_ai.user.message", "role": "user", "content": "a"},
        {"event.name": "gen_ai.assistant.message", "role": "assistant", "content": parts},
        {"event.name": "gen_ai.tool.message", "role": "tool", "content": "SECRET_4"},
        {"event.name": "gen_ai.choice", "message": {"role": "assistant", "content": "c"}},
        {"event.name": "gen_ai.odd", "content": "SECRET_5"},
    ]
    for name in ("all_messages_events", "events"):
        assert one({name: json.dumps(events)})[0] == ["a", "b", "c"], name


def test_what_follows_a_cut_in_broken_json_is_hidden() -> None:
    messages = json.dumps([text("user", "a"), text("user", "b...SECRET_1")])
    broken = messages.replace("SECRET_1", 'SECRET_1"}]},"role":"user","parts":[{"type":"text","content":"SECRET_2')
    shown, _, codes = one({"gen_ai.input.messages": broken})
    assert shown == ["a"] and "E-STREAM-TRUNCATED/log" in codes
    for mark in ("…", "... [truncated]", "<truncated 9 bytes>", "[900 chars omitted]"):
        cut = json.dumps([text("user", "a")])[:-1] + "," + mark
        assert one({"gen_ai.input.messages": cut})[0] == ["a"], mark
    assert (
        one({"gen_ai.input.messages": '[{"role":"user"]'})[2].count("E-BODY-CONSTRAINT-VIOLATION/json-malformed") == 1
    )


def test_a_span_with_an_unreadable_parent_is_not_a_root() -> None:
    sample = next(each for each in SAMPLES if each.base == "javascript-spans")
    spans = [span for span in json.loads(sample.text) if "SECRET_SUBAGENT" in json.dumps(span)]
    for span in spans:
        span["parentSpanContext"] = {"id": span["parentSpanContext"]["spanId"]}
    assert spans
    data = json.dumps(spans).encode()
    assert SECRET not in "".join(seen(events_of("otel", data), data))


def test_an_early_prompt_may_hold_parts() -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "a"}, {"type": "thinking", "content": "SECRET_1"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "b"}]}]
    system = {"role": "system", "parts": [{"type": "text", "content": "SECRET_2"}]}
    texts: dict[str, object] = {
        "gen_ai.prompt": json.dumps([system, *asked]),
        "gen_ai.completion": json.dumps(answered),
    }
    assert trace(span(1, texts))[0] == ["a", "b"]
    names = (
        "gen_ai.prompt.0.role",
        "gen_ai.prompt.0.content",
        "gen_ai.completion.0.role",
        "gen_ai.completion.0.content",
    )
    for answer, is_shown in (
        ("[TextBlock(text='SECRET_1')]", False),
        ("Message(id='SECRET_1')", False),
        ('{"answer": "b"}', True),
        ("b", True),
    ):
        shown, hidden, _ = trace(span(1, dict(zip(names, ("user", "a", "assistant", answer), strict=True))))
        assert shown == (["a", answer] if is_shown else ["a"]), answer
        assert hidden == ([] if is_shown else [("unknown", answer)])
