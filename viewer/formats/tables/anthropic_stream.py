"""Anthropic Messages as an event stream."""

from __future__ import annotations

from viewer.formats.tables.anthropic import ANTHROPIC, ERROR_CODES, STOP_CODES
from viewer.formats.tables.anthropic_parts import ASSISTANT_PARTS, DELTAS
from viewer.formats.tables.model import (
    Container,
    Counting,
    Fault,
    RecordFormat,
    RecordRule,
    Signature,
    Step,
    Stream,
    When,
    is_,
    is_not,
)
from viewer.formats.tables.usage import anthropic
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR

_TYPES = ("message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta")
TYPES = frozenset({*_TYPES, "message_stop"})


def stream_rules(at: str = "", *conditions: When, kind: Kind = Kind.SAID, scope: str = "") -> tuple[RecordRule, ...]:
    """Return the rules for events at a path that ends with a dot, or for records that are events. `scope` is the path
    of the value that separates the streams of several agents."""

    def of(step: Step) -> Stream:
        return Stream(step, f"{at}index", scope, f"{at}message.id")

    def event(*types: str) -> tuple[When, ...]:
        return (*conditions, is_(f"{at}type", *types))

    return (
        RecordRule(
            (*event("message_start"), is_(f"{at}message.role", "assistant")),
            kind,
            "assistant",
            f"{at}message.content",
            ASSISTANT_PARTS,
            stream=of(Step.REPLY),
            thread=scope,
        ),
        RecordRule(
            event("content_block_start"),
            kind,
            "assistant",
            f"{at}content_block",
            ASSISTANT_PARTS,
            stream=of(Step.OPEN),
            thread=scope,
        ),
        RecordRule(
            event("content_block_delta"),
            kind,
            "assistant",
            f"{at}delta",
            DELTAS,
            stream=of(Step.GROW),
            thread=scope,
        ),
        RecordRule(event("content_block_stop"), stream=of(Step.CLOSE)),
        RecordRule(event("message_delta"), None, faults=(Fault(f"{at}delta.stop_reason", STOP_CODES),)),
        RecordRule(event("message_stop"), stream=of(Step.END)),
        RecordRule(event("ping"), None),
        RecordRule(
            event("error"),
            Kind.NOTICE,
            "system",
            f"{at}error.message|{at}error",
            faults=(Fault(f"{at}error.type|{at}error", ERROR_CODES, (W_RUN_ERROR, "api")),),
            thread=scope,
        ),
    )


ANTHROPIC_STREAM = RecordFormat(
    name="anthropic-stream",
    title="Anthropic Messages stream",
    container=Container.SSE,
    signatures=(Signature(95, (), {"type": TYPES}),),
    records=(*stream_rules(), *ANTHROPIC.records),
    inner=ANTHROPIC.inner,
    usage=(
        anthropic("message.usage", when=(is_("type", "message_start"),), counts=Counting.OPENS),
        anthropic("usage", when=(is_("type", "message_delta"),), counts=Counting.JOINS),
        anthropic("usage", when=(is_not("type", *TYPES),), counts=Counting.EACH),
    ),
    model=f"message.model|{ANTHROPIC.model}",
)
