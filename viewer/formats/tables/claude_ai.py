"""Claude.ai: the conversations in a data export, or one that a browser saved. Messages may form a tree."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic_parts import CALLS, MEDIA, TEXT, THOUGHTS
from viewer.formats.tables.model import (
    Branches,
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

_COMMON: dict[str, Any] = {"time": "created_at"}
_PARTS = has("content[0]")
_NO_PARTS = lacks("content[0]")
_HUMAN, _ASSISTANT = is_("sender", "human"), is_("sender", "assistant")
_ATTACHED = (
    RecordRule(
        (has("attachments[0]"),),
        each="attachments[]",
        rules=(
            RecordRule(
                (has("file_name"),),
                Kind.SAID,
                "user",
                label=True,
                also=(RecordRule((has("extracted_content"),), Kind.INJECTED, "user", "extracted_content"),),
            ),
        ),
    ),
    RecordRule(
        (has("files[0]"),), each="files[]", rules=(RecordRule((has("file_name"),), Kind.SAID, "user", label=True),)
    ),
)
"""The rules for files. The user attached them but did not type their content."""
_ASKED = (TEXT, *MEDIA)
_ANSWERED = (TEXT, *THOUGHTS, *CALLS, *MEDIA, PartRule((is_("type", "token_budget"),), None))
_FAULTS = (
    Fault(
        "stop_reason",
        {
            "max_tokens": (W_RUN_INCOMPLETE, "max-tokens"),
            "user_canceled": (W_RUN_INCOMPLETE, "stopped"),
            "refusal": (W_RUN_ERROR, "refused"),
        },
    ),
)
_MESSAGES = (
    RecordRule((_HUMAN, _PARTS), Kind.SAID, "user", "content", _ASKED, also=_ATTACHED, **_COMMON),
    RecordRule((_HUMAN, _NO_PARTS), Kind.SAID, "user", "text", also=_ATTACHED, **_COMMON),
    RecordRule((_ASSISTANT, _PARTS), Kind.SAID, "assistant", "content", _ANSWERED, faults=_FAULTS, **_COMMON),
    RecordRule((_ASSISTANT, _NO_PARTS), Kind.SAID, "assistant", "text", faults=_FAULTS, **_COMMON),
)
_TOP = frozenset({"00000000-0000-4000-8000-000000000000"})

CLAUDE_AI = RecordFormat(
    name="claude-ai",
    title="Claude.ai data export",
    container=Container.JSON,
    signatures=(Signature(95, ("chat_messages", "uuid")), Signature(90, ("chat_messages[].sender",))),
    records=(
        RecordRule(
            (has("chat_messages"),),
            each="chat_messages[]",
            rules=_MESSAGES,
            branches=Branches("uuid", "parent_message_uuid", "current_leaf_message_uuid", _TOP),
            starts=True,
            session="uuid",
        ),
    ),
    model="model",
)
