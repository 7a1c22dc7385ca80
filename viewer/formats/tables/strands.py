"""Strands Agents: messages of sessions, the state of agents, and results."""

from __future__ import annotations

from msgspec.structs import replace

from viewer.formats.tables.anthropic import MESSAGES, STOP_CODES
from viewer.formats.tables.model import Container, Fault, RecordFormat, RecordRule, Signature, has, is_, lacks
from viewer.formats.tables.usage import anthropic
from viewer.model.messages import Kind

_MESSAGES = tuple(replace(rule, prefill=None) for rule in MESSAGES)
_STORED, _REDACTED = (has("message_id"), has("message")), "redact_message"

STRANDS = RecordFormat(
    name="strands",
    title="Strands Agents session",
    container=Container.JSON,
    signatures=(
        Signature(93, ("message_id", "message.role", "message.content"), none_of=("type", "role", "uuid")),
        Signature(93, ("agent_id", "conversation_manager_state"), none_of=("messages",)),
        Signature(93, ("session_id", "session_type", "created_at"), none_of=("messages", "type")),
        Signature(93, ("message.role", "message.content", "stop_reason"), {"type": frozenset({"agent_result"})}),
    ),
    records=(
        RecordRule(
            (*_STORED, has(_REDACTED), has("message.role")), Kind.UNKNOWN, "@message.role", "message", goes_on=True
        ),
        RecordRule((*_STORED, has(_REDACTED)), each=_REDACTED, rules=_MESSAGES, time="created_at", whole=True),
        RecordRule((*_STORED, lacks(_REDACTED)), each="message", rules=_MESSAGES, time="created_at", whole=True),
        RecordRule(_STORED, None),
        RecordRule(
            (is_("type", "agent_result"), has("message")),
            each="message",
            rules=_MESSAGES,
            faults=(Fault("stop_reason", STOP_CODES),),
        ),
        RecordRule((is_("type", "agent_result"),), None),
        RecordRule(
            (has("conversation_manager_state.summary_message"),),
            Kind.REPLAYED,
            "user",
            "conversation_manager_state.summary_message",
        ),
        RecordRule((has("conversation_manager_state"),), None),
        RecordRule((has("session_type"),), None),
    ),
    usage=(anthropic("metrics.accumulated_usage"),),
)
"""The table of Strands Agents. If a message is redacted, its replacement is read, and the original stays hidden."""
