"""DeepEval: test runs, test cases, and traces."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
)
from viewer.formats.tables.prompts import traced_prompt_kind
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_OUTPUT = "actualOutput|actual_output"
_ERROR = Fault("status", {"SUCCESS": None, "IN_PROGRESS": None}, (W_RUN_ERROR, "unknown"))


def _said(at: str, role: str, place: int = 0) -> tuple[RecordRule, ...]:
    """Return the rules for what the user or the application said. Anything other than text is unknown."""
    return tuple(
        RecordRule(
            (When(at, kind=kind),),
            Kind.SAID if kind is JsonKind.STRING else Kind.UNKNOWN,
            role,
            at,
            classify=kind is JsonKind.STRING,
            goes_on=True,
            place=place,
        )
        for kind in (JsonKind.STRING, JsonKind.OBJECT, JsonKind.ARRAY, JsonKind.NUMBER)
    )


def _hidden(*paths: str) -> tuple[RecordRule, ...]:
    """Return the rules for values that the user did not see."""
    return tuple(RecordRule((has(at),), Kind.UNKNOWN, "", at, goes_on=True) for at in paths)


_TOOLS = (
    RecordRule(
        (),
        Kind.CALL,
        "assistant",
        "inputParameters|input_parameters|input",
        call_id="uuid",
        name="name",
        time="startTime",
        also=(
            RecordRule(
                (has("output"),),
                Kind.REPLY,
                "tool",
                "output",
                call_id="uuid",
                name="name",
                outcome=Outcomes(ok=("status=SUCCESS",), failed=("status=ERRORED",)),
            ),
        ),
    ),
)
_SPANS = tuple(f"{kind}Spans" for kind in ("base", "agent", "llm", "retriever"))
_SPAN = (*_hidden("input", "output"), RecordRule((), None))
_TRACE = (
    *_said("input", "user", -1),
    RecordRule((has("toolSpans"),), each="toolSpans[]", rules=_TOOLS),
    *(RecordRule((has(spans),), each=f"{spans}[]", rules=_SPAN) for spans in _SPANS),
    *_said("output", "assistant", 1),
    RecordRule((has("llmSpans"),), None, faults=(_ERROR,)),
)
_CONTEXT = "retrievalContext|retrieval_context|context"
_CASE = (
    RecordRule((has("turns"),), each="turns[]", rules=CHAT),
    *_said("input", "user", -1),
    RecordRule((has(_CONTEXT),), Kind.INJECTED, "user", _CONTEXT, goes_on=True),
    RecordRule((has("toolsCalled|tools_called"),), each="toolsCalled[]|tools_called[]", rules=_TOOLS),
    *_said(_OUTPUT, "assistant", 1),
    *_hidden("scenario", "expectedOutput|expected_output", "expectedTools|expected_tools"),
    RecordRule((has("trace"),), Kind.REPLAYED, each="trace", rules=_TRACE),
    RecordRule((has(f"input|turns|{_OUTPUT}"),), None),
)
_CASES = ("testCases", "test_cases", "conversationalTestCases", "conversational_test_cases")

DEEPEVAL = RecordFormat(
    name="deepeval",
    title="DeepEval test run",
    container=Container.JSON,
    signatures=(
        Signature(94, ("testCases|test_cases", "conversationalTestCases|metricsScores|testPassed|hyperparameters")),
        Signature(92, ("testCases[].input", "testCases[].success|testCases[].metricsData|testCases[].actualOutput")),
        Signature(94, ("llmSpans", "agentSpans", "baseSpans")),
        Signature(90, ("input", _OUTPUT), none_of=("messages", "role", "type")),
    ),
    records=(
        *(
            RecordRule((has(name),), each=f"{name}[]", rules=(RecordRule((), None, starts=True, goes_on=True), *_CASE))
            for name in _CASES
        ),
        RecordRule((has("|".join(_CASES)),), None),
        RecordRule((has("llmSpans"),), None, starts=True, goes_on=True),
        *(replace(rule, when=(has("llmSpans"), *rule.when)) for rule in _TRACE),
        RecordRule((has(_OUTPUT),), None, starts=True, goes_on=True),
        *_CASE,
    ),
    hooks=Hooks(classify=traced_prompt_kind),
)
