"""OpenAI Responses: responses, requests, lists of items, and the wrappers of batches and proxies around them."""

from __future__ import annotations

from viewer.formats.tables.events import ERRORS, INCOMPLETE
from viewer.formats.tables.model import (
    Container,
    Exchange,
    Fault,
    History,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    is_not,
    lacks,
)
from viewer.formats.tables.responses_items import Items
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_ITEMS = Items()
ITEM_RULES = (
    *_ITEMS.messages({}, {}),
    _ITEMS.reasoning(),
    *_ITEMS.calls(),
    *_ITEMS.replies(),
    *_ITEMS.others(),
)
"""The rules for one item."""

_ERRORS = {code: (W_RUN_ERROR, reason) for code, reason in ERRORS.items()}
_STATUS = {"cancelled": (W_RUN_ERROR, "aborted")}
_FAULTS = (
    Fault("error.code|error.type|error.message", _ERRORS, (W_RUN_ERROR, "unknown")),
    Fault("incomplete_details.reason", INCOMPLETE, (W_RUN_INCOMPLETE, "stopped")),
    Fault("status", _STATUS),
)

_IS_OBJECT = lacks("type")
_IS_REQUEST = (
    _IS_OBJECT,
    has("input"),
    has("model|prompt|previous_response_id|conversation"),
    is_not("object", "response"),
)
_IS_RESPONSE = (_IS_OBJECT, is_("object", "response"))
_IS_BARE_RESPONSE = (_IS_OBJECT, lacks("object"), When("output", kind=JsonKind.ARRAY))
_ERROR = "error.message|error.code"
_IS_FAILED = (_IS_OBJECT, lacks("object"), lacks("output"), lacks("input"), lacks("role"), has(_ERROR))
"""The conditions for an error that was received in place of a response."""
_OF_BATCH = RecordRule(
    (has("custom_id"), has(f"{_ERROR}|response.body.error.message")), None, starts=True, goes_on=True
)

_OBJECT_RULES = (
    RecordRule((*_IS_RESPONSE,), None, faults=_FAULTS, exchange=Exchange.RESPONSE, goes_on=True),
    RecordRule(_IS_BARE_RESPONSE, None, faults=_FAULTS, exchange=Exchange.RESPONSE, goes_on=True),
    RecordRule((*_IS_RESPONSE, has("error.message")), Kind.NOTICE, "system", "error.message", goes_on=True),
    RecordRule(_IS_FAILED, Kind.NOTICE, "system", _ERROR, faults=_FAULTS, exchange=Exchange.RESPONSE, goes_on=True),
    RecordRule(_IS_REQUEST, None, exchange=Exchange.REQUEST, goes_on=True),
    *(
        RecordRule((*when, has(member)), Kind.INSTRUCTION, "system", member, once=True, goes_on=True)
        for when in (_IS_REQUEST, _IS_RESPONSE)
        for member in ("instructions", "prompt")
    ),
    RecordRule((*_IS_REQUEST, When("input", kind=JsonKind.STRING)), Kind.SAID, "user", "input", goes_on=True),
    RecordRule((*_IS_REQUEST, When("input", kind=JsonKind.ARRAY)), each="input[]", rules=ITEM_RULES),
    RecordRule((*_IS_REQUEST, When("input", kind=JsonKind.OBJECT)), each="input", rules=ITEM_RULES),
    *(
        RecordRule((*when, When("output", kind=JsonKind.ARRAY)), each="output[]", rules=ITEM_RULES)
        for when in (_IS_RESPONSE, _IS_BARE_RESPONSE)
    ),
    RecordRule(
        (*_IS_RESPONSE, lacks("output"), has("output_text")), Kind.SAID, "assistant", "output_text", goes_on=True
    ),
    RecordRule((is_("object", "list", "conversation.items"),), each="data[]", rules=ITEM_RULES),
)
_TASK = "responses_create_params"
"""The member that contains the request, in a row that a training environment reads or writes."""
_TASK_RULES = (
    RecordRule((has("input"),), None, exchange=Exchange.REQUEST, goes_on=True),
    RecordRule((has("instructions"),), Kind.INSTRUCTION, "system", "instructions", once=True, goes_on=True),
    RecordRule((has("tools[0]"),), Kind.INSTRUCTION, "system", "tools", goes_on=True),
    RecordRule((When("input", kind=JsonKind.STRING),), Kind.SAID, "user", "input"),
    RecordRule((When("input", kind=JsonKind.ARRAY),), each="input[]", rules=ITEM_RULES),
)
_WRAPPERS = tuple(
    RecordRule((_IS_OBJECT, lacks("role"), When(at, kind=JsonKind.OBJECT), *more), each=at, rules=_OBJECT_RULES)
    for at, more in (
        ("body", ()),
        ("request.body", ()),
        ("request", (lacks("request.body"),)),
        ("response.body", ()),
        ("response", (lacks("response.body"),)),
    )
)

_TYPES = frozenset(
    {
        *("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "shell_call"),
        *("local_shell_call", "apply_patch_call", "computer_call", "computer_call_output", "mcp_call"),
    }
)
_ALONE = frozenset({"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"})
_NOT = ("stop_reason", "uuid", "sessionId", "message", "payload", "timestamp", "text")

RESPONSES = RecordFormat(
    name="responses",
    title="OpenAI Responses",
    container=Container.JSON,
    signatures=(
        Signature(95, ("output",), {"object": frozenset({"response"})}),
        Signature(95, any_of={"response.body.object": frozenset({"response"})}),
        Signature(95, any_of={"response.object": frozenset({"response"})}, none_of=("type",)),
        Signature(95, (f"{_TASK}.input",), none_of=("type", "messages")),
        Signature(90, ("role", "content"), {"type": frozenset({"message"})}, _NOT),
        Signature(90, ("summary|content|encrypted_content",), {"type": frozenset({"reasoning"})}, _NOT),
        Signature(90, ("call_id|id",), {"type": _TYPES | _ALONE}, _NOT),
        Signature(
            90, any_of={"object": frozenset({"list"}), "data[].type": frozenset({"message", "reasoning"}) | _TYPES}
        ),
        Signature(
            80, ("input", "model"), none_of=("messages", "type", "output", "name", "trace_id", "traceId", "usage")
        ),
        Signature(80, ("body.input", "body.model"), none_of=("type", "body.messages")),
    ),
    records=(
        _OF_BATCH,
        RecordRule((_IS_OBJECT, lacks("role"), has(_TASK)), each=_TASK, rules=_TASK_RULES, starts=True),
        *_OBJECT_RULES,
        *_WRAPPERS,
        *ITEM_RULES,
    ),
    usage=(openai("usage|response.usage|response.body.usage"),),
    model="model|response.model|response.body.model|body.model|request.model",
    history=History(
        id="response.body.id|response.id|body.id|id",
        previous="previous_response_id|request.previous_response_id|request.body.previous_response_id"
        "|body.previous_response_id|response.previous_response_id|response.body.previous_response_id",
    ),
)
