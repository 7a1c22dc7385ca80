"""Amazon Bedrock: model invocation logs, and the events of Converse streams."""

from __future__ import annotations

from typing import Any

from viewer.formats.tables.anthropic import CONVERSE, ERROR, MESSAGES, RESPONSE, SETTINGS, STOP_CODES
from viewer.formats.tables.anthropic_stream import stream_rules
from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import (
    Container,
    Counting,
    Exchange,
    Fault,
    History,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    Step,
    Stream,
    When,
    has,
    is_,
    lacks,
    only,
)
from viewer.formats.tables.usage import anthropic
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR
from viewer.rules.structure import W_CONTENT_MISSING
from viewer.syntax.json_text import JsonKind

_IN, _OUT = "input.inputBodyJson", "output.outputBodyJson"
_CODES = {
    **dict.fromkeys(("ThrottlingException", "ServiceQuotaExceededException"), (W_RUN_ERROR, "rate-limit")),
    **dict.fromkeys(("AccessDeniedException", "UnrecognizedClientException"), (W_RUN_ERROR, "auth")),
}

# The events of a Converse stream.

_EVENTS = "contentBlockStart|contentBlockDelta|contentBlockStop|messageStart|messageStop"
_DELTAS = (
    PartRule((only("text"), has("text")), Kind.SAID, "text"),
    PartRule((has("reasoningContent.redactedContent"),), Kind.THOUGHT, "reasoningContent.redactedContent", opaque=True),
    PartRule((has("reasoningContent.text"),), Kind.THOUGHT, "reasoningContent.text"),
    PartRule((has("reasoningContent.signature"),), None),
    PartRule((has("toolUse"),), Kind.CALL, "toolUse.input", text=True),
    PartRule((only("citation"),), None),
)
_STARTS = (PartRule((has("toolUse"),), Kind.CALL, "", "toolUse.toolUseId", "toolUse.name"),)
_INDEX = "contentBlockIndex"


def _event(name: str, step: Step, body: str = "", parts: tuple[PartRule, ...] = ()) -> RecordRule:
    """Return the rule for an event that is the only member of its record."""
    given: dict[str, Any] = {"stream": Stream(step, f"{name}.{_INDEX}")}
    if not body:
        return RecordRule((only(name),), **given)
    return RecordRule((only(name),), Kind.SAID, "assistant", f"{name}.{body}", parts, **given)


_ERRORS = (
    *("internalServerException", "modelStreamErrorException", "modelTimeoutException", "serviceUnavailableException"),
    *("throttlingException", "validationException"),
)
_NOTHING = frozenset({""})
"""The members of an empty object. Some services announce text with one."""
_STREAM = (
    RecordRule(
        (only("messageStart"), is_("messageStart.role", "assistant")),
        Kind.SAID,
        "assistant",
        "messageStart.content",
        _DELTAS,
        stream=Stream(Step.REPLY),
    ),
    RecordRule((only("contentBlockStart"), When("contentBlockStart.start", only=_NOTHING)), None),
    _event("contentBlockStart", Step.OPEN, "start", _STARTS),
    _event("contentBlockDelta", Step.ADD, "delta", _DELTAS),
    _event("contentBlockStop", Step.CLOSE),
    RecordRule((only("messageStop"),), stream=Stream(Step.END), faults=(Fault("messageStop.stopReason", STOP_CODES),)),
    RecordRule((only("metadata"), has("metadata.usage")), None),
    *(
        RecordRule(
            (only(name),),
            Kind.NOTICE,
            "system",
            f"{name}.message|{name}",
            faults=(Fault(name, default=(W_RUN_ERROR, "rate-limit" if name.startswith("throttling") else "api")),),
        )
        for name in _ERRORS
    ),
)

# One invocation in a log.

_REQUEST = (*SETTINGS, RecordRule((When("messages", kind=JsonKind.ARRAY),), each="messages[]", rules=MESSAGES))

_ANSWER = (
    *RESPONSE,
    CONVERSE,
    ERROR,
    RecordRule((has("choices[0].message"),), each="choices[0].message", rules=CHAT),
    RecordRule((has("choices[1]"),), each="choices[1:].message", rules=CHAT, unused=True),
    RecordRule(
        (lacks("output.message"), lacks("choices"), lacks("role"), lacks("type")), Kind.UNKNOWN, "assistant", ""
    ),
)
_IS_LOG = (has("modelId"), has("input|output|errorCode"), lacks("messages"), lacks("type"), lacks("role"))
_TIME = "timestamp"
_LOG = (
    RecordRule(
        _IS_LOG,
        None,
        faults=(
            Fault("errorCode", _CODES, (W_RUN_ERROR, "api")),
            Fault("input.inputBodyS3Path", default=(W_CONTENT_MISSING, None)),
            Fault("output.outputBodyS3Path", default=(W_CONTENT_MISSING, None)),
        ),
        exchange=Exchange.REQUEST,
        goes_on=True,
    ),
    RecordRule((*_IS_LOG, has(_OUT)), None, exchange=Exchange.RESPONSE, goes_on=True),
    RecordRule((*_IS_LOG, has(f"{_IN}.messages")), each=_IN, rules=_REQUEST, time=_TIME),
    RecordRule((*_IS_LOG, has(_IN), lacks(f"{_IN}.messages")), Kind.UNKNOWN, "user", _IN, time=_TIME, goes_on=True),
    RecordRule((*_IS_LOG, When(_OUT, kind=JsonKind.OBJECT)), each=_OUT, rules=_ANSWER, time=_TIME),
    RecordRule(
        (*_IS_LOG, When(_OUT, kind=JsonKind.ARRAY)), each=f"{_OUT}[]", rules=(*stream_rules(), *_STREAM), time=_TIME
    ),
    RecordRule(
        (*_IS_LOG, has(f"errorCode|{_IN}|{_OUT}|input.inputBodyS3Path|output.outputBodyS3Path")),
        None,
    ),
)

BEDROCK = RecordFormat(
    name="bedrock",
    title="Bedrock invocation log",
    container=Container.JSON,
    signatures=(
        Signature(96, ("modelId", "input.inputBodyJson|input.inputBodyS3Path|output.outputBodyJson")),
        Signature(96, ("modelId", "schemaType", "requestId")),
        *(
            Signature(93, (names,), none_of=("type", "role"))
            for names in ("contentBlockDelta", "messageStart", "messageStop", _EVENTS)
        ),
    ),
    records=(*_LOG, *_STREAM),
    inner=(_IN, _OUT),
    history=History("requestId", ""),
    usage=(
        anthropic(f"{_OUT}.usage|metadata.usage", counts=Counting.EACH),
        anthropic("message.usage", each=f"{_OUT}[]", when=(is_("type", "message_start"),), counts=Counting.OPENS),
        anthropic("usage", each=f"{_OUT}[]", when=(is_("type", "message_delta"),), counts=Counting.JOINS),
        anthropic("metadata.usage", each=f"{_OUT}[]", counts=Counting.EACH),
    ),
    model="modelId",
)
