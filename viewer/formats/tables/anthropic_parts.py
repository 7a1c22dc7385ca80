"""Content parts of the Anthropic Messages API, which several agents store."""

from __future__ import annotations

from viewer.formats.tables.model import Outcomes, PartRule, ends, has, is_, lacks, only
from viewer.model.messages import Kind

ERRORS = Outcomes(
    failed=(
        "is_error",
        "content.error_code",
        "content.type=*_error",
        "content[].error_code",
        "content[].type=*_error",
        "run.status=error",
    ),
    cancelled=("run.status=cancelled",),
    refused=("run.status=rejected-by-user",),
)
BEDROCK_ERRORS = Outcomes(failed=("toolResult.status=error",))

TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text")
CALL = PartRule((is_("type", "tool_use", "server_tool_use", "mcp_tool_use"),), Kind.CALL, "input", "id", "name")
REPLY = PartRule(
    (ends("type", "tool_result"),),
    Kind.REPLY,
    "content|run.result|run.error|run",
    "tool_use_id|toolUseID",
    outcome=ERRORS,
)
CALLS = (CALL, REPLY)
MEDIA = (PartRule((is_("type", "image"),), Kind.SAID, label=True),)
THOUGHTS = (
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "redacted_thinking"),), Kind.THOUGHT, "data", opaque=True),
)

PARTS = (TEXT, *THOUGHTS, *CALLS, *MEDIA)
"""The parts that agents store in the messages of both roles."""

_ADDED = (
    PartRule((is_("type", "search_result", "container_upload"),), Kind.INJECTED),
    PartRule((is_("type", "compaction"),), Kind.REPLAYED, "content"),
    PartRule((is_("type", "fallback"),), Kind.NOTICE),
)
"""Parts that the API adds to messages of both roles."""

_NOTES = (
    PartRule((has("title"),), Kind.INJECTED, "title"),
    PartRule((has("context"),), Kind.INJECTED, "context"),
)
_DOCUMENTS = (
    PartRule(
        (is_("type", "document"), is_("source.type", "text", "content")),
        Kind.INJECTED,
        "source.data|source.content",
        also=_NOTES,
    ),
    PartRule((is_("type", "document"),), Kind.SAID, label=True, also=_NOTES),
)
"""The rules for documents. The user attached the file but did not type its content."""

_BEDROCK_TEXT = PartRule((lacks("type"), has("text"), only("text")), Kind.SAID, "text")
_BEDROCK_CALL = PartRule((has("toolUse"),), Kind.CALL, "toolUse.input", "toolUse.toolUseId", "toolUse.name")
_BEDROCK_REPLY = PartRule(
    (has("toolResult"),), Kind.REPLY, "toolResult.content", "toolResult.toolUseId", outcome=BEDROCK_ERRORS
)
_BEDROCK_METADATA = PartRule((has("cachePoint"), only("cachePoint")), None)
_BEDROCK_MEDIA = tuple(
    PartRule((lacks("type"), has(kind), only(kind)), Kind.SAID, label=True) for kind in ("image", "video")
)
_BEDROCK_DOCUMENT = PartRule((lacks("type"), has("document"), only("document")), Kind.SAID, label=True)
_BEDROCK_THOUGHTS = (
    PartRule((has("reasoningContent.redactedContent"),), Kind.THOUGHT, "reasoningContent.redactedContent", opaque=True),
    PartRule((has("reasoningContent"),), Kind.THOUGHT, "reasoningContent.reasoningText.text|reasoningContent"),
)
_BEDROCK_BOTH = (_BEDROCK_TEXT, _BEDROCK_REPLY, _BEDROCK_METADATA, *_BEDROCK_MEDIA)

BEDROCK_PARTS = (
    _BEDROCK_CALL,
    _BEDROCK_REPLY,
    *_BEDROCK_THOUGHTS,
    _BEDROCK_METADATA,
    *_BEDROCK_MEDIA,
    _BEDROCK_DOCUMENT,
)
"""The parts of Bedrock other than text, in any role."""

USER_PARTS = (TEXT, REPLY, *MEDIA, *_DOCUMENTS, *_ADDED, *_BEDROCK_BOTH, _BEDROCK_DOCUMENT)
"""The parts that a user message may contain. Reasoning and calls in it are unknown parts."""
ASSISTANT_PARTS = (TEXT, *THOUGHTS, *CALLS, *MEDIA, *_ADDED, *_BEDROCK_BOTH, _BEDROCK_CALL, *_BEDROCK_THOUGHTS)
"""The parts that an assistant message may contain. Documents in it are unknown parts."""

DELTAS = (
    PartRule((is_("type", "text_delta"),), Kind.SAID, "text"),
    PartRule((is_("type", "thinking_delta"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "input_json_delta"),), Kind.CALL, "partial_json", text=True),
    PartRule((is_("type", "compaction_delta"),), Kind.REPLAYED, "content"),
    PartRule((is_("type", "signature_delta", "citations_delta"),), None),
)
"""The parts that a stream adds to a block."""
