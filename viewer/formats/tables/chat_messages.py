"""Chat messages: the rules for objects with `role` and `content`, which many formats store."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import BEDROCK_PARTS, ERRORS
from viewer.formats.tables.model import (
    Fault,
    Outcomes,
    PartRule,
    RecordRule,
    When,
    Words,
    ends,
    flag,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.model.messages import Kind
from viewer.reading.grammar import CHANNELS
from viewer.rules.structure import W_PART_UNKNOWN
from viewer.syntax.json_text import JsonKind

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "server_tool_call", "function_call")
REPLIES = ("tool-result", "tool_response", "tool_call_response", "server_tool_call_response", "function_call_output")
THOUGHTS = ("thinking", "reasoning", "summary_text", "reasoning_text", "thought")
ENCRYPTED = ("redacted_thinking", "redacted-reasoning")
MEDIA = (
    *("image", "image_url", "input_image", "image_file", "audio", "audio_url", "input_audio", "video", "video_url"),
    *("file", "input_file", "document", "media", "blob", "uri"),
)
CALL_ID = "tool_use_id|tool_call_id|toolCallId|call_id|id"
FAILED = Outcomes(failed=(*ERRORS.failed, "isError", "output.type=error-text", "output.type=error-json"))

_OTHER_KIND = "kind|part_kind"
"""The path of the kind of a part without a type."""

PARTS = (
    PartRule((lacks("type"), has("message_content")), Kind.UNKNOWN, each="message_content"),
    PartRule((When("thought", present=True), flag("thought")), Kind.THOUGHT, "text|content"),
    PartRule((is_("type", "text", "input_text", "output_text"),), Kind.SAID, "text.value|text|value|content"),
    PartRule((lacks("type"), is_(_OTHER_KIND, *THOUGHTS)), Kind.THOUGHT, "text|content"),
    PartRule((lacks("type"), has(_OTHER_KIND), is_not(_OTHER_KIND, "text")), Kind.UNKNOWN),
    *BEDROCK_PARTS,
    PartRule((lacks("type"), has("text")), Kind.SAID, "text"),
    PartRule((is_("type", "refusal"),), Kind.SAID, "refusal", refusal=True),
    PartRule((is_("type", *THOUGHTS),), Kind.THOUGHT, "thinking|text|content|reasoning|thought|summary[].text"),
    PartRule((is_("type", *ENCRYPTED),), Kind.THOUGHT, "data", opaque=True),
    PartRule(
        (is_("type", *CALLS),),
        Kind.CALL,
        "input|arguments|args|function.arguments|server_tool_call",
        "id|call_id|tool_call_id|toolCallId",
        "name|toolName|function.name",
    ),
    *(
        PartRule(
            (condition,),
            Kind.REPLY,
            "content|response|result|output.value|output|server_tool_call_response",
            CALL_ID,
            "name|toolName",
            outcome=FAILED,
        )
        for condition in (is_("type", *REPLIES), ends("type", "tool_result"))
    ),
    PartRule((is_("type", "function"), has("function.name")), Kind.CALL, "function.arguments", "id", "function.name"),
    PartRule((is_("type", *MEDIA),), Kind.SAID, label=True),
)
"""The rules for the parts of `content`, in any role."""

CALL = (
    RecordRule((is_("name", ""), is_("arguments", "")), None),
    RecordRule(
        (When("", kind=JsonKind.OBJECT),),
        Kind.CALL,
        "assistant",
        "function.arguments|custom.input|tool_call.function.arguments|arguments|input|args|parameters",
        call_id="id|call_id|tool_call_id|toolCallId|tool_call.id",
        name="function.name|custom.name|tool_call.function.name|name|toolName",
    ),
)
"""The rule for an item of `tool_calls`."""

_CHANNEL = Words("channel", CHANNELS)
_THOUGHT_KEYS = "reasoning_content|reasoning|thinking|thought|thoughts|reasoning_text|reasoning_details"
_TO_A_SPEAKER = ("user", "assistant", "all")


def chat_rules(role: str = "role", body: str = "content", **facts: Any) -> tuple[RecordRule, ...]:
    """Return the rules for messages with these members. `facts` are further fields of each rule."""
    user, assistant, tool = is_(role, "user"), is_(role, "assistant"), is_(role, "tool", "function")
    first_type = "|".join(f"{each}[0].type" for each in body.split("|"))
    rules: list[RecordRule] = []
    facts.setdefault("parts", PARTS)
    for known in (lacks("type"), is_("type", "message")):
        spoken = (known, lacks("intent"), flag_is_not("thought"))
        rules += [
            RecordRule((assistant, known, has(_THOUGHT_KEYS)), Kind.THOUGHT, "assistant", _THOUGHT_KEYS, goes_on=True),
            RecordRule((assistant, known), each="tool_calls[]|tool_call", rules=CALL, whole=True),
            RecordRule((assistant, known), each="function_call", rules=CALL, whole=True),
            RecordRule((user, *spoken, has("recipient"), is_not("recipient", *_TO_A_SPEAKER)), Kind.UNKNOWN, "user"),
            RecordRule(
                (assistant, *spoken, has("recipient|to"), is_not("recipient|to", *_TO_A_SPEAKER)),
                Kind.CALL,
                "assistant",
                body,
                name="recipient|to",
                call_id="call_id",
            ),
            RecordRule((user, *spoken), Kind.SAID, "user", body, **facts),
            RecordRule((assistant, *spoken, has("refusal")), Kind.SAID, "assistant", "refusal", goes_on=True, **facts),
            RecordRule((assistant, *spoken), Kind.SAID, "assistant", body, channel=_CHANNEL, **facts),
            *(
                rule
                for speaker in (user, assistant)
                for rule in (
                    RecordRule((speaker, known, has("intent")), Kind.UNKNOWN, f"@{role}", body),
                    RecordRule((speaker, known, flag("thought")), Kind.THOUGHT, f"@{role}", body),
                )
            ),
        ]
    return (
        object_rule(role, body, "user", "assistant"),
        *rules,
        RecordRule((is_(role, "system", "developer"),), Kind.INSTRUCTION, f"@{role}", body),
        RecordRule((tool, is_(first_type, *REPLIES)), Kind.REPLY, "tool", body, PARTS),
        RecordRule(
            (tool,),
            Kind.REPLY,
            "tool",
            body,
            call_id=CALL_ID,
            name="name|tool_name",
            outcome=FAILED,
        ),
    )


def object_rule(role: str, body: str, *roles: str) -> RecordRule:
    """Return the rule for a message whose content is an object. No format documents such content, so it is hidden."""
    fault = Fault(body, default=(W_PART_UNKNOWN, None))
    return RecordRule(
        (is_(role, *roles), When(body, kind=JsonKind.OBJECT)), Kind.UNKNOWN, f"@{role}", body, faults=(fault,)
    )


def flag_is_not(path: str) -> When:
    """Return the condition that the value is false or absent."""
    return When(path, true=False)


CHAT = chat_rules()
"""The rules for messages with `role` and `content`."""
