"""Langfuse, LangSmith, and MLflow: model calls, other spans, LangChain messages, errors, and drift."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.json_cases import messages
from tests.support.program import run
from tests.support.record_samples import (
    SECRET,
    assert_cuts_show_nothing_hidden,
    assert_read_as_expected,
    events_of,
    samples_of,
    seen,
    told,
)
from tests.support.samples import Sample
from viewer.formats import detect
from viewer.model.events import Started
from viewer.model.visibility import is_user_safe, message_kind

NAMES = ("langfuse", "langsmith", "mlflow")
SAMPLES = [sample for name in NAMES for sample in samples_of(name)]
EXAMPLES = Path(__file__).parents[2] / "data" / "formats"
Told = tuple[list[str], list[tuple[str, str]], list[str]]
U, A = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}


def observation(asked: object, answered: object, kind: str = "GENERATION", **more: object) -> dict[str, object]:
    ids = {"id": "1", "traceId": "t", "parentObservationId": None}
    return {**ids, "type": kind, "startTime": "2026-01-02T03:04:05Z", "input": asked, "output": answered, **more}


def langfuse(*arguments: object, **more: object) -> Told:
    return told(observation(*arguments, **more), "langfuse")  # type: ignore[arg-type]


def ran(inputs: object, outputs: object, kind: str = "llm", **more: object) -> dict[str, object]:
    ids = {"id": "1", "trace_id": "t", "parent_run_id": None, "run_type": kind}
    return {**ids, "start_time": "2026-01-02T03:04:05", "inputs": inputs, "outputs": outputs, **more}


def langsmith(*arguments: object, **more: object) -> Told:
    return told(ran(*arguments, **more), "langsmith")  # type: ignore[arg-type]


def spans(*given: dict[str, object], **more: object) -> dict[str, object]:
    return {"info": {"trace_id": "t"}, "data": {"spans": list(given)}, **more}


def weave(inputs: object, output: object, **more: object) -> Told:
    times = {"started_at": "2026-01-02T03:04:05Z", "ended_at": "2026-01-02T03:04:06Z"}
    ids: dict[str, object] = {
        "id": "1",
        "trace_id": "t",
        "parent_id": None,
        "op_name": "weave:///a/b/op/c:1",
        "attributes": {},
    }
    return told({**ids, **times, "inputs": inputs, "output": output, **more}, "otel")


def test_only_calls_of_a_model_are_read_in_weave() -> None:
    asked = {"messages": [{"role": "system", "content": "s"}, U], "model": "m"}
    chosen = {"choices": [{"message": {**A, "reasoning_content": "r"}}]}
    message = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "b"}]}
    assert weave(asked, chosen)[0] == weave(asked, message)[0] == ["a", "b"]
    others: list[tuple[object, object]] = [
        (asked, "b"),
        ({"question": "a"}, "b"),
        ({"messages": "a"}, chosen),
        ("a", chosen),
        (asked, {"type": "thinking", "text": "b"}),
        (asked, None),
    ]
    for inputs, output in others:
        assert weave(inputs, output, exception="x")[0] == []


def mlflow(inputs: object, outputs: object, kind: str = "CHAT_MODEL", **more: object) -> Told:
    attributes = {"mlflow.spanType": json.dumps(kind)}
    attributes |= {"mlflow.spanInputs": json.dumps(inputs), "mlflow.spanOutputs": json.dumps(outputs)}
    ids = {"context": {"trace_id": "t", "span_id": "1"}, "parent_id": None}
    return told(spans({**ids, "attributes": attributes, **more}), "mlflow")


def constructed(kind: str, **fields: object) -> dict[str, object]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": fields}


@pytest.mark.surfaces
@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=75, test=8)
def test_a_sample_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=4, batch=100)
def test_an_input_that_is_cut_anywhere_shows_nothing_hidden(sample: Sample) -> None:
    assert_cuts_show_nothing_hidden(sample)


EXCHANGES: list[tuple[object, object]] = [
    ([U], A),
    ([U], [A]),
    ([U], {"choices": [{"message": A}]}),
    ({"messages": [U]}, A),
    ({"messages": [U], "tools": "SECRET_1", "system": "SECRET_2"}, {"messages": [A]}),
    ([U, {"role": "tool", "content": "SECRET_1"}, {"role": "bot", "content": "SECRET_2"}], A),
    ([U], {"choices": [{"message": A}, {"message": {"role": "assistant", "content": "SECRET_1"}}]}),
    ([{"type": "human", "content": "a"}], {"type": "ai", "role": "assistant", "content": "b"}),
]


def test_the_input_and_the_output_of_a_call_are_messages() -> None:
    for asked, answered in EXCHANGES[:-1]:
        assert langfuse(asked, answered)[0] == ["a", "b"], (asked, answered)
        assert langfuse(json.dumps(asked), json.dumps(answered))[0] == ["a", "b"]
        assert mlflow(asked, answered)[0] == ["a", "b"], (asked, answered)
    assert langfuse("a", "b")[0] == ["a", "b"]
    for name in ("HumanMessage", "HumanMessageChunk"):
        assert langsmith({"messages": [constructed(name, content="a")]}, A)[0] == ["a", "b"]
    for outputs in (A, {"choices": [{"message": A}]}, {"messages": [A]}):
        assert langsmith({"messages": [U]}, outputs)[0] == ["a", "b"], outputs


HIDDEN_CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"k": "SECRET_1"}'}
OF_OTHER_APIS: list[tuple[object, object]] = [
    (
        [{"role": "user", "parts": [{"type": "text", "content": "a"}, {"type": "thinking", "content": "SECRET_1"}]}],
        [{"role": "assistant", "parts": [{"type": "text", "content": "b"}], "finish_reason": "stop"}],
    ),
    (
        {"contents": [{"role": "user", "parts": [{"text": "a"}]}], "config": {"system_instruction": "SECRET_1"}},
        {"content": {"role": "model", "parts": [{"text": "SECRET_2", "thought": True}, {"text": "b"}]}},
    ),
    ({"contents": "a"}, {"candidates": [{"content": {"role": "model", "parts": [{"text": "b"}]}}]}),
    (
        [U, {"role": "developer", "parts": [{"type": "text", "content": "SECRET_1"}]}, HIDDEN_CALL],
        {"object": "response", "instructions": "SECRET_2", "output": [HIDDEN_CALL, {"type": "message", **A}]},
    ),
    (U, {"index": 0, "message": A}),
    ({"prompt": "a", "system": "SECRET_1"}, [{"toolCallId": "1", "toolName": "f", "input": "SECRET_2"}, A]),
    ({"messages": [U]}, {"type": "AIMessageChunk", "content": "b", "tool_calls": []}),
    ({"input": [U], "instructions": "SECRET_1"}, {"output": [{"type": "reasoning", "summary": ["SECRET_2"]}, A]}),
]


def test_the_messages_of_any_api_are_read() -> None:
    for asked, answered in OF_OTHER_APIS:
        for reading in (langfuse, langsmith, mlflow):
            shown, hidden, _ = reading(asked, answered)
            assert shown == ["a", "b"], (asked, answered)
            assert all(kind != "said" for kind, _ in hidden)
        assert langfuse(json.dumps(asked, indent=1), json.dumps(answered, indent=1))[0] == ["a", "b"]


def test_the_details_of_a_thought_are_analysis_in_every_reader() -> None:
    details = [{"type": "reasoning.text", "text": "SECRET_1"}, {"type": "reasoning.summary", "summary": "SECRET_2"}]
    said = {**A, "reasoning_details": details}
    chunk = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": said}]}
    cases: list[tuple[str, Any]] = [
        ("json", [U, said]),
        ("json", {"choices": [{"message": said}]}),
        ("langfuse", observation([U], said)),
        (
            "langsmith",
            ran(
                {"messages": [U]},
                {"messages": [constructed("AIMessage", content="b", additional_kwargs={"reasoning_details": details})]},
            ),
        ),
        ("rows", {"prompt": [U], "completion": [said]}),
        ("call-log", {"request_body": {"messages": [U]}, "response_body": {"choices": [{"message": said}]}}),
        ("call-log", {"request_body": {"messages": [U]}, "response_body": [chunk]}),
    ]
    for format, value in cases:
        data = json.dumps(value).encode()
        shown, hidden, _ = told(value, format)
        assert shown[-1] == "b", format
        assert "SECRET_1" in "".join(text for _, text in hidden), format
        assert "SECRET_2" in "".join(text for _, text in hidden), format
        found = messages(events_of(format, data))
        assert {message_kind(each) for each in found if not is_user_safe(each)} == {"thought"}, format


PRINTED = (
    *("Response(output='SECRET_2')", "ChatCompletion(id='SECRET_2', choices=[])", "AIMessage(content='SECRET_2')"),
    *("<openai.types.Reply object at 0x7f03 SECRET_2>", "<Response id=SECRET_2>", "my.module.Name(key='SECRET_2')"),
    *("[TextBlock(text='SECRET_2')]", 'RunResult:\n- Last agent: Agent(name="SECRET_2")', "'Reply(a=SECRET_2)'"),
    *("OrderedDict([('a', 'SECRET_2')])", "id='SECRET_2' choices=[Choice(x=1)]", "dict_keys(['SECRET_2'])"),
    *("b'SECRET_2'", "ParsedChatCompletion[Reply](id='SECRET_2')", " \n ChatResponse(message=SECRET_2)"),
    *("text='SECRET_2' usage=None", "('SECRET_2', 3)", "Reply {\n  id: 'SECRET_2' }", "{ role: 'SECRET_2' }"),
    *("namespace(a='SECRET_2')", "<coroutine object f at 0x SECRET_2>", '{\n  "reasoning": "SECRET_2'),
    *("AssistantMessage [messageType=SECRET_2]", "{role=assistant, content=SECRET_2}", "&{Role:SECRET_2}"),
    *("AgentResult(1, 'SECRET_2')", "AgentResult(True, 'SECRET_2')", "(None, 'SECRET_2')", "R(o='SECRET_2')"),
    *(
        "AgentResult (output='SECRET_2')",
        'Ok(Answer { text: "SECRET_2" })',
        "&{SECRET_2 [] nil}",
        "{SECRET_2 [] <nil>}",
    ),
    *('%{output: "SECRET_2"}', '{:output "SECRET_2"}', 'object(X)#3 (2) { ["thought"]=> string(8) "SECRET_2" }'),
    *('array(2) { ["thought"]=> "SECRET_2" }', "Agent@6d06d69c[text=SECRET_2]", "struct Agent{output: 'SECRET_2'}"),
    *("\u200bAgentResult(output='SECRET_2')", "Result: AgentResult(output='SECRET_2')", "Foo(x=1, y='SECRET_2"),
    *('```json\n{"thought": "SECRET_2"}\n```', "A(x=1) thought='SECRET_2'", "A(x=1) B(y='SECRET_2')"),
    *(
        "thought: SECRET_2\nanswer: b",
        "- role: assistant\n  content: SECRET_2",
        "---\noutput:\n  reasoning: >\n    SECRET_2",
    ),
    *('choices {\n  message {\n    content: "SECRET_2"\n  }\n}', 'role: "assistant" content: "SECRET_2"'),
    *(
        'parts {\n  text: "SECRET_2"\n  thought: true\n}',
        "role=assistant content=SECRET_2",
        "thought = SECRET_2\nx = b",
    ),
    *("AgentResult(thought='SECRET_2') is \u2026", "It is AgentResult(x=1, thought='SECRET_2'), as asked."),
    *("I got {'thought': 'SECRET_2'} back", 'It is {"a": 1, "tool_calls": ["SECRET_2"]}.', "b (thought='SECRET_2')"),
    *("b\n[AIMessage(content='SECRET_2')]", "b <Agent thought='SECRET_2'>", "b: AgentFinish(log='SECRET_2')"),
    *("R\u00e9sultat(output='SECRET_2')", "(True, 'SECRET_2')", "Array\n(\n  [thought] => SECRET_2\n)"),
)
"""Answers that a program printed, in several languages."""
NOT_PRINTED = (
    *("Call area(x=1) to do it", "print('b') works", "Yes (see b=3).", "Note(s): b is 1", "<p>b</p>", "x=3, so b"),
    *("Paris (population=2)", "[b](https://example.org)", "x = 3", '"b", he said', "P(X=1) is b", "# b", "b: {c}"),
    *("map[key] is a lookup", "set([1,2]) is b", "Foo(x=1) is how you call it.", "dict([('b', 1)]) makes b"),
    *("`Foo(x=1)` is b", "Foo(x=1), which is b", "Foo(x=1). This is b", "P(X=1) = 0.5", "<function> tags", "{b}"),
    *("Note: b", "Name: Ann\nAge: b", "Use `A(thought='x')` for b", "Thought b", "title: b\nsteps:\n  - a", "x = b"),
    *("server {\n  listen 80;\n}", "def f(thought='x'): b", 'a {\n  content: "b";\n}', "role: b of the king"),
    *("Array (or list) is b", "(1, 2)", "Answer (short): b", "Result: 5", '```json\n{"b": 1}\n```', "b@example.com"),
)


@pytest.mark.slow
def test_a_printed_conversation_or_object_is_unknown() -> None:
    for asked in (
        "system: SECRET_1\nuser: a",
        "developer: SECRET_1",
        "Human: a\nSystem: SECRET_1",
        "user: a\nassistant: SECRET_1\nuser: b",
        "[{'role': 'system', 'content': 'SECRET_1'}]",
        "{'messages': [SystemMessage(content='SECRET_1')]}",
        "role='system' content='SECRET_1'",
        '{"messages": [{"role": "system", "content": "SECRET_1"}], cut',
    ):
        for answered in (
            "{'tool_calls': ['SECRET_2']}",
            "content='' tool_calls=['SECRET_2']",
            "[{'type': 'SECRET_2'}]",
            *PRINTED,
        ):
            shown, hidden, _ = langfuse(asked, answered)
            assert (shown, [kind for kind, _ in hidden]) == ([], ["unknown"] * 2), (asked, answered)
    for answered in NOT_PRINTED:
        assert langfuse([U], answered)[0] == ["a", answered]
    for asked in ("Who is the user: me?", "[draft] hello", "{not json", "Tool: hammer", "## System"):
        assert langfuse(asked, "None of them: [1]")[0][-1:] == ["None of them: [1]"]
    assert langfuse("Tool: hammer", "b")[0] == ["Tool: hammer", "b"]


def test_the_only_agent_of_a_workflow_is_the_main_agent() -> None:
    def ids(id: str, parent: str | None) -> dict[str, Any]:
        return {"id": id, "parentObservationId": parent}

    root = observation(None, None, "AGENT", **ids("r", None))
    agents = [observation(None, None, "AGENT", **ids(each, "r")) for each in ("1", "2")]
    calls = [observation([U], A, **ids(f"c{each}", each)) for each in ("1", "2")]
    for ordered in ([root, agents[0], calls[0]], [calls[0], agents[0], root]):
        assert told({"observations": ordered}, "langfuse")[0] == ["a", "b"]
    for more in ([root, *agents, *calls], [root, agents[0], *calls, observation([U], A, **ids("x", "r")), agents[1]]):
        shown = told({"observations": more}, "langfuse")[0]
        assert shown == (["a", "b"] if len(more) == 6 else []), more
    asking = observation([U], None, "AGENT", **ids("r", None))
    assert told({"observations": [asking, agents[0], calls[0]]}, "langfuse")[0] == []


def test_any_other_input_or_output_of_a_call_is_unknown() -> None:
    for value in ({"x": "SECRET_1"}, {"role": "tool", "content": "SECRET_1"}, {"text": "SECRET_1"}):
        for reading in (langfuse, langsmith, mlflow):
            shown, hidden, _ = reading(value, {"y": "SECRET_1"})
            assert (shown, len(hidden)) == ([], 2), (reading, value)
            assert all("SECRET_1" in text for _, text in hidden)


def test_other_spans_are_unknown() -> None:
    for kind in ("SPAN", "EVENT", "AGENT", "TOOL", "RETRIEVER", "EMBEDDING", "generation", ""):
        assert langfuse([{"role": "user", "content": "SECRET_1"}], "SECRET_2", kind)[0] == []
    for kind in ("chain", "tool", "retriever", "prompt", "parser", "embedding", "LLM"):
        assert langsmith({"messages": [{"role": "user", "content": "SECRET_1"}]}, {"output": "SECRET_2"}, kind)[0] == []
    for kind in ("CHAIN", "AGENT", "TOOL", "RETRIEVER", "UNKNOWN"):
        shown, hidden, _ = mlflow({"messages": [{"role": "user", "content": "SECRET_1"}]}, "SECRET_2", kind)
        assert (shown, [found for found, _ in hidden]) == ([], ["unknown", "unknown"])


def test_the_messages_of_langchain_have_their_kinds() -> None:
    call = {"name": "f", "args": {"k": "SECRET_1"}, "id": "c"}
    cases: list[tuple[dict[str, object], list[str]]] = [
        (constructed("SystemMessage", content="SECRET_1"), ["instruction"]),
        (constructed("ToolMessage", content="SECRET_1", tool_call_id="c"), ["reply"]),
        (constructed("FunctionMessage", content="SECRET_1", name="f"), ["reply"]),
        (constructed("AIMessage", content="", tool_calls=[call]), ["call"]),
        (
            constructed(
                "AIMessage",
                content=[{"type": "tool_use", "id": "c", "name": "f", "input": {"k": "SECRET_1"}}],
                tool_calls=[call],
            ),
            ["call"],
        ),
        (
            constructed(
                "AIMessage",
                content="",
                additional_kwargs={"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "SECRET_1"}}]},
            ),
            ["call"],
        ),
        (constructed("AIMessage", content="", additional_kwargs={"reasoning_content": "SECRET_1"}), ["thought"]),
        (constructed("RemoveMessage", content="SECRET_1"), ["unknown"]),
        (constructed("ChatMessage", content="SECRET_1", role="critic"), ["unknown"]),
        ({"type": "tool", "content": "SECRET_1", "tool_call_id": "c"}, ["reply"]),
        ({"type": "system", "data": {"content": "SECRET_1"}}, ["instruction"]),
        ({"type": "x", "content": "SECRET_1"}, ["unknown"]),
        ({"type": "x", "data": {"content": "SECRET_1"}}, ["unknown"]),
    ]
    for message, kinds in cases:
        shown, hidden, _ = langsmith({"messages": [[message]]}, None)
        assert (shown, [kind for kind, _ in hidden]) == ([], kinds), message
        assert "SECRET_1" in hidden[0][1]
    spoken: list[dict[str, object]] = [
        constructed("ChatMessage", content="a", role="user"),
        {"type": "human", "content": "a"},
        {"type": "human", "data": {"content": "a"}},
        {"type": "ai", "content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": "SECRET_1"}]},
    ]
    for one in spoken:
        assert langsmith({"messages": [[one]]}, None)[0] == ["a"], one


def test_the_first_of_several_generations_is_the_answer() -> None:
    first, second = constructed("AIMessage", content="b"), constructed("AIMessage", content="SECRET_1")
    outputs = {"generations": [[{"message": first}, {"message": second}], [{"message": second}]]}
    shown, hidden, _ = langsmith({"messages": [[U], [{"role": "user", "content": "SECRET_2"}]]}, outputs)
    assert shown == ["a", "b"]
    assert {kind for kind, _ in hidden} == {"unknown"}
    shown, hidden, _ = langfuse([U], outputs)
    assert (shown, [kind for kind, _ in hidden]) == (["a", "b"], ["unknown"])
    shown, hidden, _ = mlflow([U], {"generations": [{"text": "SECRET_2"}]})
    assert (shown, [kind for kind, _ in hidden]) == (["a"], ["unknown"])
    shown, hidden, _ = langsmith({"prompts": ["SECRET_1"]}, {"generations": [[{"text": "SECRET_2"}]]})
    assert (shown, [kind for kind, _ in hidden]) == ([], ["unknown", "unknown"])


def test_an_error_is_a_notice() -> None:
    for reading, stated in (
        (langfuse, {"level": "ERROR", "statusMessage": "SECRET_1"}),
        (langsmith, {"error": "SECRET_1"}),
        (mlflow, {"status_code": "ERROR", "status_message": "SECRET_1"}),
        (mlflow, {"status": {"code": "STATUS_CODE_ERROR", "message": "SECRET_1"}}),
    ):
        shown, hidden, codes = reading({"messages": [U]}, None, **stated)
        assert (shown, ("notice", "SECRET_1") in hidden, codes) == (["a"], True, ["W-RUN-ERROR/unknown"]), reading


def test_the_messages_of_mlflow_chat_are_the_conversation() -> None:
    attributes = {
        "mlflow.spanType": "LLM",
        "mlflow.chat.messages": json.dumps([U, A]),
        "mlflow.spanInputs": '"SECRET_1"',
        "mlflow.spanOutputs": '{"x": "SECRET_2"}',
    }
    assert told(spans({"span_id": "1", "attributes": attributes}), "mlflow")[0] == ["a", "b"]
    assert mlflow("a", 'b "c"')[0] == ["a", 'b "c"']
    assert mlflow(None, None)[:2] == mlflow(7, True)[:2] == ([], [])


def test_a_conversation_of_several_traces_is_one_transcript() -> None:
    rows = [
        ran({"messages": [U]}, A, trace_id="1", extra={"metadata": {"thread_id": "x"}}),
        ran(
            {"messages": [U, A, {"role": "user", "content": "c"}]},
            None,
            trace_id="2",
            extra={"metadata": {"thread_id": "x"}},
        ),
    ]
    data = json.dumps(rows).encode()
    events = events_of("langsmith", data)
    assert seen(events, data) == ["a", "b", "c"]
    assert sum(isinstance(event, Started) for event in events) == 1


def called(number: int, instructions: str | None, *said: str) -> dict[str, object]:
    """Return a model call below the root. The last of the alternating messages is its answer."""
    roles = ("user", "assistant") * len(said)
    said_by = [{"role": role, "content": text} for role, text in zip(roles, said, strict=False)]
    asked = [*([{"role": "system", "content": instructions}] if instructions else []), *said_by[:-1]]
    start = f"2026-01-02T03:04:{number:02}Z"
    return {**observation(asked, said_by[-1]), "id": str(number), "parentObservationId": "r", "startTime": start}


def returned(result: object, *calls: dict[str, object], **more: object) -> list[str]:
    """Return what the user sees of a trace whose root returned this result."""
    root = {**observation(None, result, "SPAN"), "id": "r", **more}
    return told({"id": "t", "observations": [root, *calls]}, "langfuse")[0]


def test_the_conversation_is_the_chain_whose_answer_the_trace_returned() -> None:
    router, title = called(1, "router", "a", "SECRET_1"), called(2, "title", "SECRET_2", "SECRET_3")
    for b, more in (("an answer", {}), ("b", {"input": "a"})):
        answer, judge = called(5, "main", "a", b), called(6, "judge", "a", b, "SECRET_4", "SECRET_5")
        follow_up = called(7, "main", "a", b, "SECRET_6", "SECRET_7")
        state = {"messages": [{"type": "human", "content": "a"}, {"type": "ai", "content": b}]}
        for result in (b, {"answer": b}, f'{{"answer": "{b}"}}', state, [{"role": "assistant", "content": f" {b}\n"}]):
            for others in ((router,), (title,), (judge,), (title, router), (title, router, judge, follow_up)):
                assert returned(result, answer, *others, **more) == ["a", b], (result, others)
        roots = [{**call, "parentObservationId": None} for call in (title, answer)]
        trace = {"id": "t", "observations": roots, "output": b, **more}
        assert told(trace, "langfuse")[0] == ["a", b]

    asked = {"input": {"question": "a"}}
    title, judge = called(1, None, "SECRET_2", "b"), called(6, "judge", "a", "b", "SECRET_4", "the answer")
    drafts = called(1, None, "a", "SECRET_1"), called(2, None, "SECRET_2", "the answer")
    improved = called(1, None, "a", "SECRET_1"), called(2, None, "a", "SECRET_1", "SECRET_3", "the answer")
    scored = {"answer": "the answer", "score": "10"}
    for result, calls, shown in (
        ("b", (called(5, "main", "a", "b"), title), ["a", "b"]),
        ("b", (title, called(5, "main", "a", "b")), ["a", "b"]),
        ("the answer", drafts, ["a", "the answer"]),
        ("the answer", improved, ["a", "the answer"]),
        ("the answer", (called(5, "main", "a", "b"), judge), ["a", "the answer"]),
        (scored, (called(1, None, "a", "the answer"), called(2, None, "SECRET_1", "10")), ["a", "the answer"]),
        (scored, (called(1, None, "a", "SECRET_2"), called(2, None, "SECRET_1", "10")), ["a"]),
        (scored, (called(1, "x", "a", "the answer"), called(2, "y", "a", "10")), ["a"]),
        ("b", (called(1, "x", "SECRET_1", "b"), called(2, "y", "SECRET_2", "b")), []),
    ):
        assert returned(result, *calls, **asked) == shown, (result, calls)
    parts = {"role": "user", "content": [{"type": "text", "text": each} for each in ("a", "c")]}
    call = {**called(1, None, "a", "b"), "input": [parts]}
    assert returned("b", call, called(2, None, "SECRET_1", "b"), input={"messages": [parts]}) == ["ac", "b"]
    for result in ("10", scored):
        assert returned(result, called(1, None, "SECRET_1", "b"), called(2, None, "SECRET_2", "10")) == []
    both = called(1, None, "SECRET_1", "the answer"), called(2, None, "SECRET_2", "the answer")
    assert returned("the answer", *both) == []


def test_a_call_in_a_later_record_of_its_trace_only_continues_what_was_said() -> None:
    first, other = called(1, "main", "a", "b"), called(2, "main", "a", "SECRET_1")
    judge, title = called(3, "judge", "a", "b", "SECRET_2", "SECRET_3"), called(4, "main", "SECRET_4", "SECRET_5")
    answer = {**called(5, "main", "a", "b"), "input": []}
    follow_up, last = called(6, "main", "a", "b", "c", "d"), called(7, "main", "a", "b", "c", "d", "e", "f")
    branch = called(8, "judge", "a", "b", "c", "SECRET_6")
    for calls, shown in (
        ((first, judge), "ab"),
        ((first, judge, follow_up), "abcd"),
        ((first, other, title, judge), "ab"),
        ((first, other, called(9, "main", "a", "SECRET_1", "SECRET_2", "SECRET_3")), "ab"),
        ((first, first, follow_up, branch, last), "abcdef"),
        ((first, judge, {**judge, "id": "x"}, called(9, "judge", "a", "b", "SECRET_2", "SECRET_3", "x", "y")), "ab"),
        ((first, {**called(2, "judge", "a", "b")}, judge), "ab"),
        ((first, {**answer, "output": {"role": "assistant", "content": "SECRET_7"}}), "ab"),
        ((called(1, "main", "a", ""), {**first, "id": "x"}, follow_up), "abcd"),
        ((called(1, "triage", "a", ""), first, called(6, "judge", "a", "b", "SECRET_7")), "ab"),
    ):
        for more in ({}, {"sessionId": "s"}):
            rows = [json.dumps({**call, **more, "parentObservationId": None}) for call in calls]
            for data in ("\n".join(rows), f"[{','.join(rows)}]"):
                assert told(data.encode(), "langfuse")[0] == list(shown), (calls, data[0])
    rows = [json.dumps({**call, "parentObservationId": None, "sessionId": "s"}) for call in (first, follow_up)]
    later = called(7, "other", "a", "b", "c", "d", "e", "f")
    rows.append(json.dumps({**later, "traceId": "u", "parentObservationId": None, "sessionId": "s"}))
    assert told("\n".join(rows).encode(), "langfuse")[0] == list("abcdef")


def records_of(format: str, answers: list[tuple[str, dict[str, Any]]]) -> bytes:
    """Return model calls of one trace that answer the same question, one record per line. More members of each call go
    into the call itself and, if they are in `inner`, into its attributes."""
    lines: list[dict[str, Any]] = []
    for number, (text, more) in enumerate(answers):
        answer, inner = {"role": "assistant", "content": text}, more.get("inner", {})
        outer = {name: value for name, value in more.items() if name != "inner"}
        id, time, parent = f"i{number}", f"2026-01-02T03:04:0{number}Z", outer.pop("parent", None)
        parts = [
            {"role": who, "parts": [{"type": "text", "content": said}]}
            for who, said in (("user", "a"), ("assistant", text))
        ]
        lines.append(
            {
                "opik": {
                    "id": id,
                    "parent_span_id": parent,
                    "type": "llm",
                    "start_time": time,
                    "input": {"messages": [U]},
                    "output": {"choices": [{"message": answer}]},
                    "metadata": inner,
                },
                "mlflow": {
                    "span_id": id,
                    "parent_span_id": parent,
                    "start_time_unix_nano": number,
                    "attributes": {
                        "mlflow.spanType": '"LLM"',
                        "mlflow.spanInputs": json.dumps([U]),
                        "mlflow.spanOutputs": json.dumps(answer),
                        **inner,
                    },
                },
                "langfuse": {
                    **observation([U], answer),
                    "id": id,
                    "parentObservationId": parent,
                    "startTime": time,
                    "metadata": inner,
                },
                "langsmith": {
                    **ran({"messages": [U]}, answer),
                    "id": id,
                    "parent_run_id": parent,
                    "start_time": time,
                    "extra": {"metadata": inner},
                },
                "agents-trace": {
                    "object": "trace.span",
                    "id": id,
                    "parent_id": parent,
                    "started_at": time,
                    "span_data": {"type": "generation", "input": [U], "output": [answer], **inner},
                },
                "braintrust": {
                    "span_id": id,
                    "root_span_id": "t",
                    "span_parents": [parent] if parent else None,
                    "created": time,
                    "span_attributes": {"type": "llm", **inner},
                    "input": [U],
                    "output": [{"message": answer}],
                },
                "otel": {
                    "traceId": "t",
                    "spanId": id,
                    "parentSpanId": parent or "",
                    "startTimeUnixNano": str(number),
                    "attributes": {
                        "gen_ai.operation.name": "chat",
                        "gen_ai.input.messages": json.dumps(parts[:1]),
                        "gen_ai.output.messages": json.dumps(parts[1:]),
                        **inner,
                    },
                },
            }[format]
            | {"trace_id": "t"}
            | outer
        )
    if format == "mlflow":
        lines = [{"info": {"trace_id": "t"}, "data": {"spans": [line]}} for line in lines]
    return "\n".join(map(json.dumps, lines)).encode()


SIDE_NAMES: tuple[dict[str, Any], ...] = (
    *({"name": name} for name in ("draft", "generate_title", "LLMJudge", "score_answer", "query-router", "Critic 2")),
    *({"inner": {key: "draft"}} for key in ("name", "purpose", "stage", "kind", "langgraph_node")),
    *({"tags": ["title"]}, {"environment": "langfuse-llm-as-a-judge"}, {"inner": {"purpose": "scorer"}}),
)


@each("format", ("opik", "mlflow", "langfuse", "langsmith", "agents-trace", "braintrust", "otel"), quick=4)
def test_a_call_whose_name_says_that_it_makes_no_answer_is_hidden(format: str) -> None:
    for more in SIDE_NAMES:
        first, last = ("SECRET_1", more), ("b", {"name": "answer"})
        for answers in ([first, last], [first, ("SECRET_2", more), last], [last, first]):
            shown, hidden, codes = told(records_of(format, answers), format)
            assert (shown, codes) == (["a", "b"], []), more
            assert "SECRET_1" in [text for _, text in hidden]
        assert told(records_of(format, [first]), format)[0] == [], more
    for name in ("openrouter", "subtitles", "chat", "Router.acompletion", "travel-planner", "describe", ""):
        assert told(records_of(format, [("b", {"name": name})]), format)[0] == ["a", "b"], name


def test_a_name_hides_the_calls_in_a_step_and_no_answer_that_the_step_returned() -> None:
    draft = {**called(1, None, "a", "the answer"), "name": "draft"}
    judge = {**called(2, None, "SECRET_1", "SECRET_2"), "name": "judge"}
    node = {**observation(None, None, "SPAN"), "id": "n", "parentObservationId": "r", "name": "judge"}
    inner = {**called(2, None, "a", "SECRET_2"), "parentObservationId": "n"}
    assert returned("the answer", draft) == returned("the answer", draft, judge) == ["a", "the answer"]
    assert returned({"draft": "the answer", "title": "x"}, draft) == returned(None, draft) == []
    assert returned(None, node, inner, called(3, None, "a", "b")) == ["a", "b"]


def test_without_a_result_doubtful_chains_of_each_trace_are_hidden() -> None:
    answer, router = called(5, "main", "a", "SECRET_1"), called(1, "router", "a", "SECRET_2")
    title = called(2, "title", "SECRET_3", "SECRET_4")
    for result in (None, "c", {"answer": "c"}):
        assert returned(result, router, answer) == ["a"]
        assert returned(result, answer, title) == returned(result, title, router, answer) == []
        judge = called(6, "judge", "a", "b", "SECRET_5", "SECRET_6")
        assert returned(result, called(5, "main", "a", "b"), judge) == ["a", "b"]
        turns = [called(5, "main", "a", "b"), called(6, "main", "a", "b", "c", "d")]
        assert returned(result, title, *turns) == ["a", "b", "c", "d"]
        retried = [called(5, "main", "a", "SECRET_7"), called(6, "main", "a", "b")]
        assert returned(result, *retried) == ["a", "b"]
    for returns, answers in ((True, ["b", "d"]), (False, [])):
        rows: list[dict[str, object]] = []
        for trace, said in enumerate((["a"], ["a", "b", "c"])):
            last = "bd"[trace] if returns else f"SECRET_{trace}"
            root = {**observation(said[-1], last if returns else None, "SPAN"), "id": f"r{trace}"}
            calls = called(1, "router", *said, f"SECRET_{trace + 2}"), called(2, "main", *said, last)
            given = [root, *({**call, "parentObservationId": f"r{trace}"} for call in calls)]
            start = f"2026-01-02T03:{trace:02}"
            rows += [{**each, "id": f"{each['id']}{trace}", "traceId": f"t{trace}", "sessionId": "s"} for each in given]
            for number, row in enumerate(rows[-3:]):
                row["startTime"] = f"{start}:{number:02}Z"
            rows[-3]["id"] = f"r{trace}"
        shown = told("\n".join(map(json.dumps, rows)).encode(), "langfuse")[0]
        assert [text for text in shown if text in answers] == answers
        assert not [text for text in shown if "SECRET" in text]


def test_a_call_below_a_tool_is_another_agents_and_messages_next_to_the_spans_are_reported() -> None:
    said: Any = [{"role": "user", "content": "SECRET_1"}]
    inner = {"id": "2", "parentObservationId": "1"}
    record = {"observations": [observation(None, None, "TOOL"), observation(said, None, **inner)]}
    data = json.dumps(record).encode()
    assert [message.header.kind.value for message in messages(events_of("langfuse", data))] == ["subagent"]

    beside = {"role": "assistant", "content": "SECRET_1"}
    shown, _, codes = told({"id": "t", "output": beside, "observations": [observation([U], A)]}, "langfuse")
    assert (shown, codes) == (["a", "b"], ["W-SIBLING-UNREAD"])


def test_a_renamed_type_hides_the_span() -> None:
    words = {"langfuse": b'"GENERATION"', "langsmith": b'"run_type": "llm"', "mlflow": b"CHAT_MODEL"}
    for sample in SAMPLES:
        name = sample.path.parent.name
        if words[name] not in sample.text and sample.base == "graph-state":
            continue  # messages without a span
        data = sample.text.replace(words[name], words[name].replace(b"llm", b"x").replace(b"E", b"X"))
        assert data != sample.text and seen(events_of(name, data), data) == [], sample.name


def test_a_prompt_that_a_template_made_is_unknown() -> None:
    text = "<|im_start|>system\nSECRET_1<|im_end|>"
    for reading in (langfuse, mlflow):
        shown, hidden, _ = reading(text, "b")
        assert (shown, hidden) == (["b"], [("unknown", text)])


@pytest.mark.slow
def test_the_rules_on_other_examples_show_no_secret() -> None:
    for path in EXAMPLES.iterdir():
        if not path.name.endswith(".seen.json"):
            for name in NAMES:
                done = run("show", "--json", "--format", name, str(path))
                assert SECRET not in done.out + done.err, (name, path.name)


def test_a_batch_of_langsmith_joins_the_start_and_the_end_of_a_run() -> None:
    ids = {"id": "1", "trace_id": "1", "dotted_order": "2026"}
    asked = {"messages": [{"role": "system", "content": "SECRET_1"}, U]}
    post = {**ids, "run_type": "llm", "start_time": "2026-01-02T03:04:05", "inputs": asked}
    chosen = {"choices": [{"message": A}, {"message": {"role": "assistant", "content": "SECRET_2"}}]}
    for outputs, answer in ((chosen, ["b"]), ({"output": "SECRET_3"}, []), ({"messages": [A]}, [])):
        patch = {**ids, "end_time": "2026-01-02T03:04:06", "outputs": outputs}
        shown, _, codes = told({"post": [post], "patch": [patch]}, "langsmith")
        assert (shown, codes) == (["a", *answer], [])
        assert detect(json.dumps({"post": [], "patch": [patch]}).encode()).format == "langsmith"


def test_the_state_of_a_graph_is_a_list_of_messages() -> None:
    given = [
        {"type": "human", "content": "a", "additional_kwargs": {}},
        {"type": "ai", "content": "b", "additional_kwargs": {}, "tool_calls": []},
        {"type": "tool", "content": "SECRET_1", "tool_call_id": "c", "additional_kwargs": {}},
        {"type": "remove", "content": "SECRET_2", "additional_kwargs": {}},
    ]
    for state, format in (({"messages": given}, "langsmith"), (given, "chat-history")):
        assert detect(json.dumps(state).encode()).format == format
        assert told(state, "langsmith")[0] == ["a", "b"]
