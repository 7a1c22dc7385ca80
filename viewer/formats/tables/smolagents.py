"""smolagents: the memory of an agent, results of runs, and records of runs on GAIA."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Narrowing,
    Outcomes,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    lacks,
    only,
    starts,
)
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_ADDED = lazy_regex(r"(?m:^)[ \t]*You have been provided with these (?:additional|initial) arguments")
"""A pattern that matches the start of the arguments that the program adds to a task."""
_MANAGED = "You're a helpful agent named '"
"""The start of a task that another agent assigns."""


def _split(text: str) -> list[tuple[Kind, int, int]]:
    """Split a task into what the user typed, and the arguments that the program added."""
    added = _ADDED.search(text)
    if added is None:
        return [(Kind.SAID, 0, len(text))]
    runs = [(Kind.SAID, 0, added.start())] if text[: added.start()].strip() else []
    return [*runs, (Kind.INJECTED, added.start(), len(text))]


_TIME, _NUMBER = "timing.start_time|start_time", "step_number|step"
_OUTPUT = "model_output|llm_output|model_output_message.content"
_CALL = (
    RecordRule(
        (is_("function.name|name", "python_interpreter"), When("function.arguments|arguments", kind=JsonKind.STRING)),
        Kind.CALL,
        "assistant",
        "function.arguments|arguments",
        call_id="id",
        name="function.name|name",
        text=True,
    ),
    RecordRule((), Kind.CALL, "assistant", "function.arguments|arguments", call_id="id", name="function.name|name"),
)
_ERRORS = Fault(
    "error.type",
    {
        "AgentMaxStepsError": (W_RUN_INCOMPLETE, "stopped"),
        "AgentGenerationError": (W_RUN_ERROR, "api"),
        **dict.fromkeys(
            ("AgentParsingError", "AgentExecutionError", "AgentToolCallError", "AgentToolExecutionError", "AgentError")
        ),
    },
    (W_RUN_ERROR, "unknown"),
)
"""The problem to report for an error. After most errors, the agent tries again, so nothing is reported."""
_IS_STEP = has(_NUMBER)
_FAILED = Outcomes(failed=("error",))


def _answer(output: str, merge: Merge | None = None, *, whole: bool = False) -> tuple[RecordRule, ...]:
    """Return the rules for what the agent answered. Anything other than text and numbers is hidden."""
    return (
        *(
            RecordRule(
                (When(output, kind=kind),),
                Kind.SAID,
                "assistant",
                output,
                merge=merge,
                numbers=True,
                whole=whole,
                goes_on=whole,
            )
            for kind in (JsonKind.STRING, JsonKind.NUMBER)
        ),
        *(
            RecordRule((When(output, kind=kind),), Kind.UNKNOWN, "assistant", output, whole=whole, goes_on=whole)
            for kind in JsonKind
            if kind not in (JsonKind.STRING, JsonKind.NUMBER, JsonKind.NULL)
        ),
    )


_LAST = "output|final_answer"
_IS_CALL, _RESULT, _CALL_ID = has("tool_calls[0]"), "observations", "tool_calls[0].id"
_HAS_ONE, _IS_FINAL = lacks("tool_calls[1]"), is_("tool_calls[0].function.name|tool_calls[0].name", "final_answer")
_ACTION = (
    RecordRule((has(_OUTPUT),), Kind.THOUGHT, "assistant", _OUTPUT, time=_TIME),
    RecordRule((_IS_CALL,), each="tool_calls[]", rules=_CALL, time=_TIME),
    RecordRule(
        (lacks("tool_calls[0]"), has("code_action")),
        Kind.CALL,
        "assistant",
        "code_action",
        default_name="python_interpreter",
        text=True,
        time=_TIME,
    ),
    RecordRule((has(_RESULT),), Kind.REPLY, "tool", _RESULT, call_id=_CALL_ID, outcome=_FAILED),
    RecordRule(
        (has(_RESULT), has("tool_calls[1]")),
        each="tool_calls[1:]",
        rules=(RecordRule((), Kind.REPLY, "tool", call_id="id"),),
    ),
    RecordRule(
        (lacks(_RESULT), _IS_CALL, _HAS_ONE, has("error")),
        Kind.REPLY,
        "tool",
        "error.message|error",
        call_id=_CALL_ID,
        outcome=_FAILED,
    ),
    RecordRule(
        (lacks(_RESULT), _IS_FINAL, _HAS_ONE, lacks("error"), has("action_output")),
        Kind.REPLY,
        "tool",
        "action_output",
        call_id=_CALL_ID,
    ),
    RecordRule((has("error"),), Kind.NOTICE, "system", "error.message|error", faults=(_ERRORS,)),
)
_ANSWER = (*_ACTION, *_answer("action_output"))
_NO_ANSWER = RecordRule((has("action_output"),), Kind.UNKNOWN, "assistant", "action_output")
_STEP = (
    RecordRule((starts("task", _MANAGED),), None, narrows=Narrowing(Kind.SUBAGENT), goes_on=True),
    RecordRule((_IS_STEP, flag("is_final_answer")), None, also=_ANSWER),
    RecordRule((_IS_STEP, is_("error.type", "AgentMaxStepsError")), None, also=_ANSWER),
    RecordRule((_IS_STEP, lacks("is_final_answer|error"), _IS_FINAL, _HAS_ONE), None, also=_ANSWER),
    RecordRule((_IS_STEP,), None, also=(*_ACTION, _NO_ANSWER)),
    RecordRule(
        (has("plan"),),
        None,
        also=tuple(RecordRule((has(name),), Kind.THOUGHT, "assistant", name, time=_TIME) for name in ("facts", "plan")),
    ),
    RecordRule((has("system_prompt"),), Kind.INSTRUCTION, "system", "system_prompt.system_prompt|system_prompt"),
    RecordRule((has("task"), only("task", "task_images")), Kind.SAID, "user", "task", split=True),
    RecordRule((has("task"),), Kind.UNKNOWN, "user", "task"),
)
"""The rules for a step of the memory. An answer after too many steps is final too; early versions have no flag for
final answers."""
_STEPS = "steps|messages"
_RUN = (
    RecordRule((has(_STEPS),), None, starts=True, goes_on=True),
    RecordRule(
        (has(_STEPS), has("system_prompt")),
        Kind.INSTRUCTION,
        "system",
        "system_prompt.system_prompt|system_prompt",
        goes_on=True,
    ),
    RecordRule((has(_STEPS),), each="steps[]|messages[]", rules=_STEP),
    *(
        replace(rule, when=(has(_STEPS), is_("state", "success", "max_steps_error"), *rule.when))
        for rule in _answer("output", Merge(Mode.FINAL), whole=True)
    ),
    RecordRule((has(_STEPS),), None),
)
_MESSAGES = (
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content"),
    RecordRule((is_("role", "assistant"),), Kind.THOUGHT, "assistant", "content"),
    RecordRule((), Kind.UNKNOWN, "assistant", "content|"),
)
_RECORD = (
    RecordRule((has("question"),), Kind.SAID, "user", "question"),
    RecordRule((has("augmented_question"),), Kind.INJECTED, "user", "augmented_question"),
    RecordRule((has("intermediate_steps"),), each="intermediate_steps[]", rules=_MESSAGES),
    RecordRule(
        (has("agent_error"),),
        Kind.NOTICE,
        "system",
        "agent_error",
        faults=(Fault("agent_error", default=(W_RUN_ERROR, "unknown")),),
    ),
    *_answer("prediction"),
)
"""The rules for a record of a run on the GAIA benchmark, in which the agent receives more than the question."""
_OUTPUTS = "model_output|action_output|code_action|observations|llm_output|model_output_message|tool_calls[0].function"
_OTHERS = ("messages", "role", "type", "source", "history")

SMOLAGENTS = RecordFormat(
    name="smolagents",
    title="smolagents run",
    container=Container.JSON,
    signatures=(
        Signature(93, ("step_number", _OUTPUTS), none_of=_OTHERS, decides=True),
        Signature(93, ("step", "start_time", _OUTPUTS), none_of=_OTHERS, decides=True),
        *(
            Signature(
                93,
                (f"{steps}[].step_number", "|".join(f"{steps}[].{each}" for each in _OUTPUTS.split("|"))),
                none_of=("role", "type", "source", f"{steps}[].role"),
            )
            for steps in _STEPS.split("|")
        ),
        Signature(93, ("question", "augmented_question", "intermediate_steps")),
    ),
    records=(
        RecordRule((has("augmented_question"),), None, also=_RECORD, starts=True),
        *_RUN,
        *_STEP,
        *(
            replace(rule, when=(only("output", "final_answer"), *rule.when))
            for rule in _answer(_LAST, Merge(Mode.FINAL))
        ),
    ),
    usage=(
        openai("token_usage", when=(lacks(_STEPS),)),
        *(openai("token_usage", each=f"{steps}[]") for steps in _STEPS.split("|")),
    ),
    hooks=Hooks(split=_split),
)
