"""Agno: sessions of agents and teams with their runs, and single runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from viewer.cache import lazy_regex
from viewer.formats.tables.chat_messages import CALL, CHAT, PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    Merge,
    Mode,
    Outcomes,
    RecordFormat,
    RecordRule,
    Run,
    Signature,
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.prompts import prompt_kind
from viewer.formats.tables.streamed_answers import with_split_prompts
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_PART_UNKNOWN
from viewer.syntax.json_text import JsonKind

_ADDED = lazy_regex(
    r"(?mi:^)[ \t]*(?:Use the following references\b"
    r"|<[a-z_ ]{0,40}(?:context|history|references?|interactions|dependencies|files|task|knowledge|memor|state)\w*)"
)
"""Matches the start of what Agno adds to the user's prompt, such as knowledge-base references or context."""


def _split_prompt(text: str) -> list[Run]:
    """Split a prompt into what the user typed and what Agno added after it."""
    added, kind = _ADDED.search(text), prompt_kind(text)
    if added is None:
        return [(kind, 0, len(text))]
    typed: list[Run] = [(kind, 0, len(text[: added.start()].rstrip()))]
    return [*(typed if text[: added.start()].strip() else []), (Kind.INJECTED, added.start(), len(text))]


_TIME: dict[str, Any] = {"time": "created_at"}
_UNREADABLE = (JsonKind.STRING, JsonKind.NUMBER, JsonKind.ARRAY, JsonKind.OBJECT)
_ALL = (
    RecordRule((When("from_history", kind=JsonKind.TRUE),), Kind.REPLAYED, "@role", "content", **_TIME),
    *(
        RecordRule((When("from_history", kind=kind),), Kind.UNKNOWN, "@role", "content", **_TIME)
        for kind in _UNREADABLE
    ),
    RecordRule((is_("role", "user"), has("references")), Kind.INJECTED, "user", "content", **_TIME),
    RecordRule(
        (is_("role", "assistant", "model"), has("redacted_reasoning_content")),
        Kind.THOUGHT,
        "assistant",
        "redacted_reasoning_content",
        goes_on=True,
    ),
    RecordRule(
        (is_("role", "model"), has("reasoning_content")), Kind.THOUGHT, "assistant", "reasoning_content", goes_on=True
    ),
    RecordRule((is_("role", "model"),), each="tool_calls[]", rules=CALL, whole=True),
    RecordRule((is_("role", "model"),), Kind.SAID, "assistant", "content", PARTS, **_TIME),
    RecordRule(
        (is_("role", "tool"),),
        Kind.REPLY,
        "tool",
        "content",
        call_id="tool_call_id",
        name="tool_name",
        outcome=Outcomes(failed=("tool_call_error",)),
        **_TIME,
    ),
)
_MESSAGE = with_split_prompts((*_ALL, *CHAT))
_MESSAGE_OF_MODEL = (*_ALL, RecordRule((is_("role", "user"),), Kind.INJECTED, "user", "content", **_TIME), *CHAT)
"""Rules for a message of a run that records its input. User messages are hidden, because Agno may have added text to
them."""
_CANCELLED = ("RunCancelled", "TeamRunCancelled", "WorkflowCancelled")
_EVENTS_OF_ERRORS = ("RunError", "TeamRunError", "WorkflowError", *_CANCELLED)
_FAILED = is_("status", "ERROR", "CANCELLED")
_FAILURES = (
    (_FAILED, Fault("status", {"CANCELLED": (W_RUN_ERROR, "aborted")}, (W_RUN_ERROR, "unknown"))),
    (
        is_("event", *_EVENTS_OF_ERRORS),
        Fault("event", dict.fromkeys(_CANCELLED, (W_RUN_ERROR, "aborted")), (W_RUN_ERROR, "unknown")),
    ),
)
"""The conditions for a run that failed, each with its diagnostic."""
_EVENTS = frozenset(
    f"{agent}Run{event}"
    for agent in ("", "Team")
    for event in ("Response", "ResponseContent", "Content", "ContentCompleted", "Started", "Continued", "Paused")
) | {"RunCompleted", "TeamRunCompleted", "WorkflowStarted", "WorkflowCompleted", "UpdatingMemory"}
_CAN_ANSWER = tuple(
    (When("content", kind=JsonKind.STRING, printed=False), status, event)
    for status in (
        When("status", equals=frozenset({"COMPLETED", "PAUSED", "PENDING", "RUNNING", "REGENERATED"})),
        lacks("status"),
    )
    for event in (When("event", equals=_EVENTS), lacks("event"))
)
"""The conditions for a run whose content is the answer. The content of a failed run may be the text of the error, and
a printed object may contain more than the answer."""
_ASKED = (
    RecordRule((When("", kind=JsonKind.STRING),), Kind.SAID, "user", "content|", split=True),
    *_MESSAGE,
    RecordRule((), Kind.UNKNOWN, "user"),
)
"""Rules for an item of the input, which may be text or a message."""


def _input() -> Iterator[RecordRule]:
    """Yield the rules for the input of a run: text, a list of texts and messages, or an object."""
    for at, is_there in (("input.input_content", has("input.input_content")), ("input", lacks("input.input_content"))):
        before: dict[str, Any] = {"place": -1, "whole": True, **_TIME}
        text, items = When(at, kind=JsonKind.STRING), When(at, kind=JsonKind.ARRAY)
        message = When(at, kind=JsonKind.OBJECT)
        yield RecordRule((is_there, text), Kind.SAID, "user", at, split=True, goes_on=True, **before)
        yield RecordRule((is_there, items), each=f"{at}[]", rules=_ASKED, **before)
        yield RecordRule((is_there, message, has(f"{at}.role")), each=at, rules=_ASKED, **before)
        yield RecordRule((is_there, message, lacks(f"{at}.role")), Kind.UNKNOWN, "user", at, goes_on=True, **before)


_SCALARS = (JsonKind.STRING, JsonKind.NUMBER, JsonKind.TRUE)
_ANYTHING = RecordRule((), Kind.UNKNOWN, "assistant")
_OBJECT = When("", kind=JsonKind.OBJECT)
_THOUGHT = "reasoning_content"
_THOUGHTS = ("messages[].reasoning_content",)
"""The paths of reasoning that the reasoning of the run may repeat."""
_STEP = (RecordRule((_OBJECT, has("content")), Kind.SUBAGENT, "assistant", "content"), _ANYTHING)


def _listed(
    at: str, rules: tuple[RecordRule, ...], place: int = 0, known_ids: tuple[str, str] | None = None
) -> Iterator[RecordRule]:
    """Yield the rules for a member of a run that is a list. An object counts as a list of one item; any other value is
    unknown."""
    more: dict[str, Any] = {"whole": True, "place": place}
    listed: dict[str, Any] = {"rules": rules, "known_ids": known_ids, **more}
    yield RecordRule((When(at, kind=JsonKind.ARRAY),), each=f"{at}[]", **listed)
    yield RecordRule((When(at, kind=JsonKind.OBJECT),), each=at, **listed)
    for kind in _SCALARS:
        fault = Fault(at, default=(W_PART_UNKNOWN, None))
        yield RecordRule(
            (When(at, kind=kind),), Kind.UNKNOWN, "assistant", at, faults=(fault,), goes_on=True, numbers=True, **more
        )


def _asides(depth: int) -> Iterator[RecordRule]:
    """Yield the rules for what a run stores next to its messages: runs of members, to this depth, steps, reasoning,
    examples, and results. None of it was shown."""
    members = tuple(_member_of_team(depth - 1)) if depth else (_ANYTHING,)
    yield from _listed("member_responses", members)
    yield from _listed("step_executor_runs", members)
    yield from _listed("step_results", _STEP)
    yield from _listed(
        "additional_input", (RecordRule((has("content"),), Kind.INJECTED, "@role", "content"), _ANYTHING)
    )
    yield from _listed("reasoning_steps", (RecordRule((), Kind.THOUGHT, "assistant"),), 1)
    yield from _listed(
        "reasoning_messages", (RecordRule((has("content"),), Kind.THOUGHT, "@role", "content"), _ANYTHING), 1
    )
    yield from _listed(
        "tools",
        (
            RecordRule((has("tool_args"),), Kind.REPLAYED, "assistant", "tool_args", name="tool_name", goes_on=True),
            RecordRule(
                (has("result"),),
                Kind.REPLAYED,
                "tool",
                "result",
                call_id="tool_call_id",
                name="tool_name",
                goes_on=True,
            ),
            RecordRule((_OBJECT,), None),
            _ANYTHING,
        ),
        1,
        ("messages[].tool_call_id", "tool_call_id"),
    )
    yield from _listed("followups", (_ANYTHING,), 1)


def _run_of_member(conditions: tuple[When, ...]) -> Iterator[RecordRule]:
    """Yield the rules for the messages of a run of a team member, which counts as a sub-agent."""
    hidden: dict[str, Any] = {"kind": Kind.SUBAGENT, "thread": "run_id"}
    asked = "input.input_content|input"
    yield RecordRule(
        (*conditions, has(asked), lacks("messages[0]")), role="user", body=asked, goes_on=True, place=-1, **hidden
    )
    yield RecordRule(
        (*conditions, has(_THOUGHT)),
        role="assistant",
        body=_THOUGHT,
        repeats=_THOUGHTS,
        goes_on=True,
        place=1,
        **hidden,
    )
    yield RecordRule((*conditions, has("messages[0]")), each="messages[]", rules=_MESSAGE, **hidden)
    yield RecordRule((*conditions, has("messages[0]")), None)
    yield RecordRule((*conditions, has("content")), role="assistant", body="content", **hidden)


def _member_of_team(depth: int) -> Iterator[RecordRule]:
    """Yield the rules for an item of `member_responses`."""
    yield from _asides(depth)
    yield from _run_of_member((_OBJECT,))
    yield RecordRule((_OBJECT, has("run_id"), has("input|reasoning_content|member_responses")), None)
    yield _ANYTHING


_RUN = (
    *_input(),
    *(
        RecordRule(
            (failed, *others, has("content")),
            Kind.NOTICE,
            "system",
            "content",
            faults=(fault,),
            goes_on=True,
            place=1,
            whole=True,
            **_TIME,
        )
        for (failed, fault), others in zip(_FAILURES, ((), (is_not("status", "ERROR", "CANCELLED"),)), strict=True)
    ),
    RecordRule((has("input"), has("messages[0]")), each="messages[]", rules=_MESSAGE_OF_MODEL, whole=True),
    RecordRule((lacks("input"), has("messages[0]")), each="messages[]", rules=_MESSAGE, whole=True),
    RecordRule(
        (has("messages[0]"), has(_THOUGHT)),
        Kind.THOUGHT,
        "assistant",
        _THOUGHT,
        repeats=_THOUGHTS,
        goes_on=True,
        place=1,
        whole=True,
    ),
    *(
        RecordRule(
            (has("messages[0]"), *is_answer),
            Kind.SAID,
            "assistant",
            "content",
            merge=Merge(Mode.FINAL),
            place=1,
            whole=True,
            **_TIME,
        )
        for is_answer in _CAN_ANSWER
    ),
    *(RecordRule((has("messages[0]"), failed), None, whole=True) for failed, _ in _FAILURES),
    RecordRule(
        (has("messages[0]"), has("content")), Kind.UNKNOWN, "assistant", "content", place=1, whole=True, **_TIME
    ),
    RecordRule((has("messages[0]"),), None, whole=True),
    RecordRule((has(_THOUGHT),), Kind.THOUGHT, "assistant", _THOUGHT, goes_on=True, whole=True),
    *(RecordRule(is_answer, Kind.SAID, "assistant", "content", whole=True, **_TIME) for is_answer in _CAN_ANSWER),
    *(RecordRule((failed,), None, whole=True) for failed, _ in _FAILURES),
    RecordRule((has("content"),), Kind.UNKNOWN, "assistant", "content", whole=True, **_TIME),
)
"""Rules for a run. They need the whole run, because its last member may be the run that started it."""
_PARENT = (has("parent_run_id"), is_not("parent_run_id", ""))
_ANY_RUN = (*_asides(3), *_run_of_member(_PARENT), RecordRule(_PARENT, None), *_RUN)
_AT = ("run.run_id", "response.run_id", "run_id")
_RUNS = (
    RecordRule((has("run.run_id"),), each="run", rules=_ANY_RUN),
    RecordRule((has("run"),), None),
    RecordRule((has("response.messages|response.content"),), each="response", rules=_ANY_RUN),
    RecordRule((has("response"),), None),
    *_ANY_RUN,
)
"""Rules for a run in a session. A run with `parent_run_id` belongs to a team member, which counts as a sub-agent."""
_LISTS = ("runs", "memory.runs")

AGNO = RecordFormat(
    name="agno",
    title="Agno session",
    container=Container.JSON,
    signatures=(
        *(Signature(94, ("session_id", "|".join(f"{runs}[].{at}" for at in _AT))) for runs in _LISTS),
        Signature(94, ("session_id", "session_data|agent_data|team_data"), {"runs": frozenset({"[{*"})}),
        Signature(94, ("run_id", "messages[].role", "agent_id|team_id"), none_of=("runs", "type")),
    ),
    records=(
        *(
            rule
            for runs in _LISTS
            for rule in (
                RecordRule((has(f"{runs}[0]"),), None, starts=True, session="session_id", goes_on=True),
                RecordRule((has(f"{runs}[0]"),), each=f"{runs}[]", rules=_RUNS),
            )
        ),
        RecordRule((has("summary.summary"),), Kind.REPLAYED, "system", "summary.summary", goes_on=True, place=1),
        RecordRule((has("runs|memory"),), None),
        RecordRule((has("run_id"),), None, starts=True, session="session_id", goes_on=True),
        *_RUNS,
    ),
    inner=("runs", "memory", "summary"),
    model="runs[0].model|runs[0].run.model|model",
    hooks=Hooks(classify=prompt_kind, split=_split_prompt),
)
