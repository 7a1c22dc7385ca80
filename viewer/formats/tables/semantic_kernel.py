"""Semantic Kernel: chat histories of its .NET and Python libraries."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    Fault,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    has,
    is_,
    lacks,
)
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.rules.structure import W_RECORD_UNKNOWN

_TYPE = "$type|content_type"
_NAME = "FunctionName|functionName|function_name|name"
_PARTS = (
    PartRule((is_(_TYPE, "TextContent", "text", "streaming_text"),), Kind.SAID, "Text|text"),
    PartRule((is_(_TYPE, "ReasoningContent", "reasoning", "streaming_reasoning"),), Kind.THOUGHT, "Text|text"),
    PartRule((is_(_TYPE, "FunctionCallContent", "function_call"),), Kind.CALL, "Arguments|arguments", "Id|id", _NAME),
    PartRule(
        (is_(_TYPE, "FunctionResultContent", "function_result"),),
        Kind.REPLY,
        "Result|result",
        "CallId|callId|id",
        _NAME,
    ),
    PartRule(
        (
            is_(
                _TYPE,
                *("ImageContent", "AudioContent", "BinaryContent", "FileReferenceContent"),
                *("image", "audio", "binary", "file_reference"),
            ),
        ),
        Kind.SAID,
        label=True,
    ),
    PartRule((is_(_TYPE, "AnnotationContent", "annotation", "streaming_annotation"),), None),
)
_ROLE, _ITEMS = "Role.Label|role.label|Role|role", "Items|items"
_METADATA = "Metadata|metadata"
_TIME = "|".join(f"{at}.{name}" for at in _METADATA.split("|") for name in ("CreatedAt", "createdAt", "created_at"))
_SUMMARY = "|".join(f"{at}.__summary__" for at in _METADATA.split("|"))
_ENDS = Fault(
    "finish_reason",
    {"length": (W_RUN_INCOMPLETE, "max-tokens"), "content_filter": (W_RUN_ERROR, "content-filter")},
)
_MESSAGE = tuple(
    rule
    for given, body in ((has(_ITEMS), _ITEMS), (lacks(_ITEMS), "Content|content"))
    for rule in (
        RecordRule((given, has(_SUMMARY), has(_ROLE)), Kind.REPLAYED, "user", body, _PARTS),
        RecordRule((given, is_(_ROLE, "user")), Kind.SAID, "user", body, _PARTS, time=_TIME),
        RecordRule((given, is_(_ROLE, "assistant")), Kind.SAID, "assistant", body, _PARTS, time=_TIME, faults=(_ENDS,)),
        RecordRule(
            (given, is_(_ROLE, "system", "developer")), Kind.INSTRUCTION, "system", body, _PARTS, time=_TIME, once=True
        ),
        RecordRule((given, is_(_ROLE, "tool")), Kind.REPLY, "tool", body, _PARTS, time=_TIME),
    )
)
_OTHER = RecordRule(
    (has("Items|items|Content|content"),), Kind.UNKNOWN, faults=(Fault("", default=(W_RECORD_UNKNOWN, None)),)
)
_LIST, _EACH = "Messages|messages", "Messages[]|messages[]"


def _in_lists(path: str) -> str:
    """Convert a path in a message to a path in the record, for all messages of the list."""
    return "|".join(f"{each}.{path}" for each in _EACH.split("|"))


SEMANTIC_KERNEL = RecordFormat(
    name="semantic-kernel",
    title="Semantic Kernel chat history",
    container=Container.JSON,
    signatures=(
        Signature(94, ("Role.Label|role.label", "Items|items|Content|content")),
        Signature(94, ("role", "items[].content_type"), none_of=("parts",)),
        Signature(94, (_in_lists("Role.Label"),)),
        Signature(94, (_in_lists("role.label"),)),
        Signature(94, ("messages[].items[].content_type",)),
    ),
    records=(
        RecordRule(
            (has(_LIST), has("system_message")), Kind.INSTRUCTION, "system", "system_message", once=True, goes_on=True
        ),
        RecordRule((has(_LIST),), each=_EACH, rules=(*_MESSAGE, _OTHER), starts=True),
        RecordRule((has(_LIST),), None),
        *_MESSAGE,
        _OTHER,
    ),
    model="ModelId|modelId|ai_model_id",
)
