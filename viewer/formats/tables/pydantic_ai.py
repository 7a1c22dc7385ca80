"""Pydantic AI: dumped message histories, which are lists of requests and responses with parts."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import (
    Container,
    Fault,
    Outcomes,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.usage import PYDANTIC_AI_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_KIND = "part_kind"
_PHASE = "provider_details.phase|phase"
"""The path of the phase of text from the Responses API. Commentary is not an answer."""
_CONTENT = (
    PartRule((is_("kind", "text-content"),), Kind.SAID, "content"),
    PartRule(
        (is_("kind", "image-url", "audio-url", "video-url", "document-url", "binary", "uploaded-file"),),
        Kind.SAID,
        label=True,
    ),
    PartRule((is_("kind", "cache-point"),), None),
)
_OUTCOME = Outcomes(
    ok=("outcome=success",),
    failed=("outcome=failed", "outcome=retried"),
    refused=("outcome=denied",),
    cancelled=("outcome=interrupted",),
)
_COMMON: dict[str, Any] = {"time": "timestamp"}
_TOOL: dict[str, Any] = {"call_id": "tool_call_id", "name": "tool_name"}
_RETURN = RecordRule(
    (is_(_KIND, "tool-return", "builtin-tool-return"),),
    Kind.REPLY,
    "tool",
    "content",
    outcome=_OUTCOME,
    **_TOOL,
    **_COMMON,
)


def _speech(role: str) -> RecordRule:
    """Return the rule for spoken text. The part after an interruption was not heard."""
    return RecordRule(
        (is_(_KIND, "speech"), is_("speaker", role), lacks("interrupted_at_ms")), Kind.SAID, role, "transcript"
    )


_ASKED = (
    _speech("user"),
    RecordRule((is_(_KIND, "user-prompt"),), Kind.SAID, "user", "content", _CONTENT, **_COMMON),
    RecordRule((is_(_KIND, "system-prompt"),), Kind.INSTRUCTION, "system", "content", **_COMMON),
    RecordRule(
        (is_(_KIND, "instruction", "instruction-delta", "instruction-baseline"),),
        Kind.INSTRUCTION,
        "system",
        "content|instructions[].content",
    ),
    _RETURN,
    RecordRule(
        (is_(_KIND, "retry-prompt"), has("tool_name")),
        Kind.REPLY,
        "tool",
        "content",
        outcome=Outcomes(failed=("part_kind",)),
        **_TOOL,
        **_COMMON,
    ),
    RecordRule((is_(_KIND, "retry-prompt", "retry-feedback"),), Kind.INJECTED, "user", "content", **_COMMON),
    RecordRule((is_(_KIND, "compaction"),), Kind.REPLAYED, "user", "content"),
)
_ANSWERED = (
    _speech("assistant"),
    RecordRule((is_(_KIND, "text"), has(_PHASE), is_not(_PHASE, "final_answer")), Kind.UNKNOWN, "assistant", "content"),
    RecordRule((is_(_KIND, "text"),), Kind.SAID, "assistant", "content"),
    RecordRule((is_(_KIND, "thinking"),), Kind.THOUGHT, "assistant", "content"),
    RecordRule((is_(_KIND, "tool-call", "builtin-tool-call"),), Kind.CALL, "assistant", "args", **_TOOL),
    _RETURN,
    RecordRule((is_(_KIND, "file"),), Kind.SAID, "assistant", "content", label=True),
    RecordRule((is_(_KIND, "compaction"),), Kind.REPLAYED, "assistant", "content"),
)
_FAULTS = (
    Fault(
        "finish_reason",
        {
            "length": (W_RUN_INCOMPLETE, "max-tokens"),
            "content_filter": (W_RUN_ERROR, "content-filter"),
            "error": (W_RUN_ERROR, "unknown"),
        },
    ),
    Fault("state", {"interrupted": (W_RUN_INCOMPLETE, "stopped")}),
)
_MESSAGES = (
    RecordRule(
        (is_("kind", "request"), has("instructions")),
        Kind.INSTRUCTION,
        "system",
        "instructions",
        once=True,
        goes_on=True,
    ),
    RecordRule((is_("kind", "request"),), each="parts[]", rules=_ASKED, time="timestamp"),
    RecordRule((is_("kind", "response"),), each="parts[]", rules=_ANSWERED, time="timestamp", faults=_FAULTS),
)
_LISTS = ("messages", "all_messages", "new_messages", "message_history")

PYDANTIC_AI = RecordFormat(
    name="pydantic-ai",
    title="Pydantic AI messages",
    container=Container.JSON,
    signatures=(
        Signature(94, ("parts[].part_kind",), {"kind": frozenset({"request", "response"})}),
        *(Signature(94, (f"{name}[].parts[].part_kind",), none_of=("kind",)) for name in _LISTS),
    ),
    records=(
        *(RecordRule((lacks("kind"), has(name)), each=f"{name}[]", rules=_MESSAGES, starts=True) for name in _LISTS),
        *_MESSAGES,
    ),
    usage=PYDANTIC_AI_TOKENS,
    session="conversation_id",
    model="model_name",
)
