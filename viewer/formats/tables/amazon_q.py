"""Amazon Q Developer and Kiro: conversations saved by the CLI."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.model import Container, Outcomes, RecordFormat, RecordRule, Signature, has
from viewer.model.messages import Kind


def _results(outcome: Outcomes) -> tuple[RecordRule, ...]:
    return (RecordRule((), Kind.REPLY, "tool", "content", call_id="tool_use_id", outcome=outcome),)


_RESULTS_OF = {
    "content.ToolUseResults": _results(Outcomes(ok=("status=Success",), failed=("status=Error",))),
    "content.CancelledToolUses": _results(Outcomes(ok=("status=Success",), cancelled=("status=Error",))),
}
"""The rules for results. A call that the user cancelled has the status of an error."""
_CALL = (RecordRule((), Kind.CALL, "assistant", "args", call_id="id", name="name"),)
_PROMPT, _CANCELLED, _RESULTS = "content.Prompt", "content.CancelledToolUses", "content.ToolUseResults"
_TIME: dict[str, Any] = {"time": "timestamp"}
_STARTS: dict[str, Any] = {"starts": True, "session": "conversation_id"}
_USER = (
    *(
        RecordRule((has(at),), each=f"{at}.tool_use_results[]", rules=rules, place=-1)
        for at, rules in _RESULTS_OF.items()
    ),
    *(
        RecordRule((has(_PROMPT), has(at)), Kind.INJECTED, "user", at, goes_on=True, **_TIME)
        for at in ("additional_context", "env_context")
    ),
    *(RecordRule((has(at),), Kind.SAID, "user", f"{at}.prompt", **_TIME) for at in (_PROMPT, _CANCELLED)),
    RecordRule((has(_RESULTS),), None),
    RecordRule((has("content"),), Kind.UNKNOWN, "user", "content"),
)
_ASSISTANT = (
    RecordRule((has("ToolUse.content"),), Kind.SAID, "assistant", "ToolUse.content", goes_on=True),
    RecordRule((has("ToolUse.tool_uses"),), each="ToolUse.tool_uses[]", rules=_CALL),
    RecordRule((has("ToolUse"),), None),
    RecordRule((has("Response"),), Kind.SAID, "assistant", "Response.content"),
)
_TURN = (
    RecordRule((has("user"),), each="user", rules=_USER),
    RecordRule((has("assistant"),), each="assistant", rules=_ASSISTANT),
)

AMAZON_Q = RecordFormat(
    name="amazon-q",
    title="Amazon Q and Kiro conversation",
    container=Container.JSON,
    signatures=(
        Signature(93, ("conversation_id", "history[].user.content")),
        Signature(93, ("conversation_id", "history[].assistant")),
        Signature(93, ("conversation_id", "history[][].content")),
    ),
    records=(
        RecordRule((has("latest_summary"),), Kind.REPLAYED, "system", "latest_summary", goes_on=True),
        RecordRule((has("history[0][0]"),), each="history[][]", rules=(*_USER, *_ASSISTANT), **_STARTS),
        RecordRule((has("history"),), each="history[]", rules=_TURN, **_STARTS),
    ),
    model="model|model_info.model_id",
)
