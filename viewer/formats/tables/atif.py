"""ATIF, the Agent Trajectory Interchange Format: the steps of an agent, and the trajectories of other agents."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    lacks,
    starts,
)
from viewer.formats.tables.usage import ATIF_TOKENS
from viewer.model.messages import Kind
from viewer.rules.errors import E_CALL_SCHEMA
from viewer.rules.structure import W_FORMAT_VERSION
from viewer.syntax.json_text import JsonKind

_NEWEST = 8
"""The newest minor version of ATIF-v1 that this table covers."""
_MOST_NESTED = 8
"""The maximum depth of nested trajectories."""
_VERSION = Fault(
    "schema_version",
    {f"ATIF-{v}1.{minor}": None for minor in range(_NEWEST + 1) for v in ("v", "")},
    (W_FORMAT_VERSION, None),
)

_PARTS = (
    PartRule((is_("type", "text"),), Kind.SAID, "text"),
    PartRule((is_("type", "image", "audio"),), Kind.SAID, label=True),
)
_TIME: dict[str, Any] = {"time": "timestamp"}


_CALL: dict[str, Any] = {"body": "arguments", "call_id": "tool_call_id", "name": "function_name"}
_CALLS = RecordRule(
    (has("tool_calls"),),
    each="tool_calls[]",
    rules=(
        RecordRule(
            (When("arguments", kind=JsonKind.STRING),),
            Kind.CALL,
            "assistant",
            **_CALL,
            text=True,
            faults=(Fault("arguments", default=(E_CALL_SCHEMA, "not-an-object")),),
        ),
        RecordRule((), Kind.CALL, "assistant", **_CALL),
    ),
    **_TIME,
)


def _observation(kind: Kind, role: str) -> tuple[RecordRule, ...]:
    """Return the rules for the results of a step. A result that names no call belongs to the only call of the step."""
    result = RecordRule((), kind, role, "content", call_id="source_call_id")
    results = When("observation.results", kind=JsonKind.ARRAY)
    other = (has("observation"), lacks("observation.results"))
    return (
        RecordRule(
            (results,), each="observation.results[]", rules=(result,), call_id="tool_calls[].tool_call_id", **_TIME
        ),
        RecordRule(other, kind, role, "observation", call_id="tool_calls[0].tool_call_id", **_TIME),
    )


def _agent(kind: Kind, *conditions: When) -> RecordRule:
    """Return the rule for an agent step: its thought, message, calls, and their results."""
    said = (
        RecordRule((has("message"),), kind, "assistant", "message", _PARTS, **_TIME),
        RecordRule(
            (lacks("message"), lacks("tool_calls"), lacks("reasoning_content")), kind, "assistant", "message", _PARTS
        ),
    )
    also = (*said, _CALLS, *_observation(Kind.REPLY, "tool"))
    return RecordRule(
        (is_("source", "agent"), *conditions), Kind.THOUGHT, "assistant", "reasoning_content", also=also, **_TIME
    )


def _other(source: str, kind: Kind, role: str, *conditions: When) -> RecordRule:
    """Return the rule for a user or system step. Observations in the step were not typed by the user."""
    also = (
        RecordRule((has("reasoning_content"),), Kind.INJECTED, role, "reasoning_content"),
        _CALLS,
        *_observation(Kind.INJECTED, role),
    )
    return RecordRule((is_("source", source), *conditions), kind, role, "message", _PARTS, also=also, **_TIME)


_COPIED = flag("is_copied_context")
_STEPS = (
    _agent(Kind.REPLAYED, _COPIED),
    _other("user", Kind.REPLAYED, "user", _COPIED),
    _other("system", Kind.REPLAYED, "system", _COPIED),
    _other("user", Kind.SAID, "user"),
    _agent(Kind.SAID),
    _other("system", Kind.INSTRUCTION, "system"),
)


_ARRAY = JsonKind.ARRAY
_TOOLS = RecordRule(
    (has("agent.tool_definitions"),), Kind.INSTRUCTION, "system", "agent.tool_definitions", goes_on=True
)


def _others(depth: int) -> RecordRule:
    """Return the rule for trajectories of other agents, including nested ones. The ID of a trajectory is the thread of
    its messages."""
    steps = RecordRule(
        (When("steps", kind=_ARRAY),),
        Kind.SUBAGENT,
        each="steps[]",
        rules=_STEPS,
        thread="trajectory_id|session_id|agent.name",
    )
    rules = (_TOOLS, steps, _others(depth - 1)) if depth else (_TOOLS, steps)
    place = "subagent_trajectories"
    return RecordRule((When(place, kind=_ARRAY),), Kind.SUBAGENT, each=f"{place}[]", rules=rules)


_TRAJECTORY = starts("schema_version", "ATIF-")

_OTHERS = _others(_MOST_NESTED)

ATIF = RecordFormat(
    name="atif",
    title="Agent trajectory (ATIF)",
    container=Container.JSON,
    signatures=(Signature(99, (), {"schema_version": frozenset({"ATIF-*"})}),),
    records=(
        RecordRule((_TRAJECTORY, *_TOOLS.when), Kind.INSTRUCTION, "system", _TOOLS.body, goes_on=True),
        RecordRule(
            (_TRAJECTORY, When("steps", kind=_ARRAY)), each="steps[]", rules=_STEPS, starts=True, faults=(_VERSION,)
        ),
        RecordRule((_TRAJECTORY, *_OTHERS.when), Kind.SUBAGENT, each=_OTHERS.each, rules=_OTHERS.rules),
    ),
    usage=ATIF_TOKENS,
    model="agent.model_name",
    version="schema_version",
)
