"""Content parts of the Anthropic Messages API, which several agents store."""

from __future__ import annotations

from viewer.formats.tables.model import Outcomes, PartRule, has, is_
from viewer.model.messages import Kind

ERRORS = Outcomes(
    failed=(
        "is_error",
        "content.error_code",
        "content.type=web_search_tool_result_error",
        "content.type=web_fetch_tool_result_error",
        "content.type=code_execution_tool_result_error",
    )
)
RESULTS = (
    *("tool_result", "mcp_tool_result", "web_search_tool_result", "web_fetch_tool_result"),
    *("code_execution_tool_result", "bash_code_execution_tool_result", "text_editor_code_execution_tool_result"),
    *("tool_search_tool_result", "advisor_tool_result"),
)

CALLS = (
    PartRule((is_("type", "tool_use", "server_tool_use", "mcp_tool_use"),), Kind.CALL, "input", "id", "name"),
    PartRule((is_("type", *RESULTS),), Kind.REPLY, "content", "tool_use_id", outcome=ERRORS),
)
BEDROCK = (
    PartRule((has("toolUse"),), Kind.CALL, "toolUse.input", "toolUse.toolUseId", "toolUse.name"),
    PartRule(
        (has("toolResult"),),
        Kind.REPLY,
        "toolResult.content",
        "toolResult.toolUseId",
        outcome=Outcomes(failed=("toolResult.status=error",)),
    ),
    PartRule((has("cachePoint"),), None),
)
MEDIA = (PartRule((is_("type", "image"),), Kind.SAID, label=True),)

TEXT = PartRule((is_("type", "text"),), Kind.SAID, "text")
THOUGHTS = (
    PartRule((is_("type", "thinking"),), Kind.THOUGHT, "thinking"),
    PartRule((is_("type", "redacted_thinking"),), Kind.THOUGHT, "data", opaque=True),
)

PARTS = (TEXT, *THOUGHTS, *CALLS, *MEDIA)
"""The parts that agents store in the messages of both roles."""
