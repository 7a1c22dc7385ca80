"""Cursor: agent transcripts, with the content parts of the Anthropic API."""

from __future__ import annotations

from viewer.formats.tables.anthropic_parts import PARTS
from viewer.formats.tables.model import Container, Hooks, RecordFormat, RecordRule, Signature, has, is_
from viewer.formats.tables.tags import cursor_tags
from viewer.model.messages import Kind

_ROLES = {"role": frozenset({"user", "assistant"})}
_OF_OTHERS = ("type", "uuid", "sessionId", "session_id", "info", "parts", "content")

CURSOR = RecordFormat(
    name="cursor",
    title="Cursor agent transcript",
    container=Container.LINES,
    signatures=(Signature(90, ("role", "message.content"), _ROLES, _OF_OTHERS),),
    records=(
        RecordRule((is_("role", "user"),), Kind.SAID, "user", "message.content", PARTS, time="timestamp", split=True),
        RecordRule((is_("role", "assistant"),), Kind.SAID, "assistant", "message.content", PARTS, time="timestamp"),
        RecordRule((has("message.content"),), Kind.UNKNOWN, "@role", "message.content", PARTS, time="timestamp"),
    ),
    hooks=Hooks(split=cursor_tags),
)
