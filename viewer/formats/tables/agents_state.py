"""OpenAI Agents SDK: saved states of runs, in Python and JavaScript."""

from __future__ import annotations

from viewer.formats.tables.model import Container, Outcomes, RecordFormat, RecordRule, Signature, When, has, is_, lacks
from viewer.formats.tables.responses import ITEM_RULES
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_INPUT, _ITEMS = "original_input|originalInput", "generated_items|generatedItems"
_RESPONSES = "model_responses|modelResponses"
_VERSION = "$schemaVersion"
_RAW = ("raw_item", "rawItem")


def _each(paths: str, *more: str) -> str:
    return "|".join(f"{at}[].{name}" if name else f"{at}[]" for at in paths.split("|") for name in more)


_ITEM = (
    RecordRule(
        (is_("type", "function_call"), has("callId")),
        Kind.CALL,
        "assistant",
        "arguments",
        call_id="callId",
        name="name",
    ),
    RecordRule(
        (is_("type", "function_call_result"),),
        Kind.REPLY,
        "tool",
        "output.text|output",
        call_id="callId",
        name="name",
        outcome=Outcomes(failed=("status=incomplete",)),
    ),
    RecordRule(
        (is_("type", "hosted_tool_call"),),
        Kind.CALL,
        "assistant",
        "arguments",
        call_id="id",
        name="name",
        also=(RecordRule((has("output"),), Kind.REPLY, "tool", "output", call_id="id", name="name"),),
    ),
    *ITEM_RULES,
)
"""The rules for an item in either language. In Python, it is an item of the Responses API."""

AGENTS_STATE = RecordFormat(
    name="agents-state",
    title="OpenAI Agents run state",
    container=Container.JSON,
    signatures=(Signature(95, (_VERSION, "current_turn|currentTurn", _INPUT)),),
    records=(
        RecordRule((has(_VERSION),), None, starts=True, session="conversation_id|conversationId", goes_on=True),
        RecordRule((When(_INPUT, kind=JsonKind.STRING),), Kind.SAID, "user", _INPUT, goes_on=True),
        RecordRule((When(_INPUT, kind=JsonKind.ARRAY),), each=_each(_INPUT, ""), rules=_ITEM),
        RecordRule((has("generated_items[0]|generatedItems[0]"),), each=_each(_ITEMS, *_RAW), rules=_ITEM),
        RecordRule(
            (lacks("generated_items[0]|generatedItems[0]"), has(_RESPONSES)),
            each="|".join(f"{at}[].output[]" for at in _RESPONSES.split("|")),
            rules=_ITEM,
        ),
    ),
)
