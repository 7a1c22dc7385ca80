"""Gemini API: requests, responses, stream chunks, and prompts saved by AI Studio."""

from __future__ import annotations

from viewer.formats.tables.gemini_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    flag,
    has,
    is_,
    lacks,
    starts,
)
from viewer.formats.tables.usage import gemini
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_FILTERED = (W_RUN_ERROR, "content-filter")
_FINISH = {
    **dict.fromkeys(("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"), _FILTERED),
    **dict.fromkeys(("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "OTHER"), (W_RUN_ERROR, "unknown")),
    "MAX_TOKENS": (W_RUN_INCOMPLETE, "max-tokens"),
}
_END = "finishReason|finish_reason"
_FINISHED = (Fault(_END, _FINISH),)
_FINISH_MESSAGE = (RecordRule((), Kind.NOTICE, "system", "finishMessage|finish_message"),)
_HTTP = {
    "429": (W_RUN_ERROR, "rate-limit"),
    "401": (W_RUN_ERROR, "auth"),
    "403": (W_RUN_ERROR, "auth"),
}

_ADDED = "parts[0].text"
_CONTENT = (
    RecordRule(
        (
            is_("role", "user"),
            lacks("parts[1]"),
            starts(_ADDED, "<session_context>", "This is the Gemini CLI. We are setting up the context"),
        ),
        Kind.INJECTED,
        "user",
        "parts",
        PARTS,
    ),
    RecordRule(
        (is_("role", "model"), lacks("parts[1]"), starts(_ADDED, "Got it. Thanks for the context!")),
        Kind.INJECTED,
        "assistant",
        "parts",
        PARTS,
    ),
    RecordRule((is_("role", "user"),), Kind.SAID, "user", "parts", PARTS),
    RecordRule((lacks("role"), has("parts")), Kind.SAID, "user", "parts", PARTS),
    RecordRule((is_("role", "model"),), Kind.SAID, "assistant", "parts", PARTS),
    RecordRule((has("parts"),), Kind.UNKNOWN, "@role", "parts", PARTS),
    RecordRule((When("", kind=JsonKind.STRING),), Kind.UNKNOWN),
)


def _candidate(when: When, key: str) -> RecordRule:
    """Return the rule for an answer or its next piece. Chunks contain the number of the answer, unless there is only
    one answer."""
    return RecordRule(
        (when,),
        Kind.SAID,
        "assistant",
        "content.parts",
        PARTS,
        merge=Merge(Mode.APPEND, key, done=has(_END)),
        faults=_FINISHED,
        also=_FINISH_MESSAGE,
    )


_CANDIDATE = (
    RecordRule((has("content.role"), When("content.role", not_equals=frozenset({"model"}))), Kind.UNKNOWN),
    RecordRule((has(_END), lacks("content")), None, faults=_FINISHED, also=_FINISH_MESSAGE),
    RecordRule(
        (is_(_END, *_FINISH), is_("content.role", "model"), lacks("content.parts")),
        None,
        faults=_FINISHED,
        also=_FINISH_MESSAGE,
    ),
    _candidate(has("index"), "index"),
    _candidate(lacks("index"), ""),
)
_INSTRUCTION = "|".join(
    f"{place}{name}{parts}"
    for place in ("", "config.")
    for name in ("systemInstruction", "system_instruction")
    for parts in (".parts", "")
)
_REQUEST = (
    RecordRule((has(_INSTRUCTION),), Kind.INSTRUCTION, "system", _INSTRUCTION, PARTS, goes_on=True),
    RecordRule((has("tools|config.tools"),), Kind.INSTRUCTION, "system", "tools|config.tools", goes_on=True),
    RecordRule((When("contents", kind=JsonKind.ARRAY),), each="contents[]", rules=_CONTENT),
    RecordRule((When("contents", kind=JsonKind.OBJECT),), each="contents", rules=_CONTENT),
    RecordRule((When("contents", kind=JsonKind.STRING),), Kind.SAID, "user", "contents", goes_on=True),
)
_RESPONSE = (
    RecordRule(
        (has("promptFeedback.blockReason|prompt_feedback.block_reason"),),
        None,
        faults=(Fault("promptFeedback.blockReason|prompt_feedback.block_reason", default=_FILTERED),),
        goes_on=True,
    ),
    RecordRule((has("candidates"),), each="candidates[]", rules=_CANDIDATE),
    RecordRule(
        (has("error"),),
        Kind.NOTICE,
        "system",
        "error.message|error",
        faults=(Fault("error.code|error", _HTTP, (W_RUN_ERROR, "api")),),
    ),
)
_CHUNK = (
    RecordRule((flag("isThought"), is_("role", "model")), Kind.THOUGHT, "assistant", "text"),
    RecordRule((has("isThought"), When("isThought", kind=JsonKind.TRUE)), Kind.UNKNOWN),
    RecordRule((is_("role", "user"), has("text")), Kind.SAID, "user", "text"),
    RecordRule((is_("role", "model"), has("text")), Kind.SAID, "assistant", "text"),
)

_ROLES = frozenset({"user", "model"})
_OTHERS = ("messages", "contents", "history[].parts[].type", "history[].parts[].kind", "history[].content")

GEMINI = RecordFormat(
    name="gemini",
    title="Gemini API",
    container=Container.JSON,
    signatures=(
        Signature(93, ("contents[].parts|contents.parts|request.contents[].parts|request.contents.parts",)),
        Signature(93, ("candidates[].content.parts|response.candidates[].content|response[].candidates[].content",)),
        Signature(90, ("candidates[].finishReason|response.candidates[].finishReason",)),
        Signature(90, ("promptFeedback.blockReason",)),
        Signature(90, ("usageMetadata", "modelVersion"), {}, ("uuid",)),
        Signature(90, ("chunkedPrompt.chunks[].role",)),
        Signature(92, ("history[].parts",), {"history[].role": _ROLES}, _OTHERS),
        Signature(
            90, ("parts",), {"role": _ROLES}, ("type", "kind", "content", "id", "uuid", "parts[].type", "parts[].kind")
        ),
    ),
    records=(
        RecordRule((has("request"),), each="request", rules=_REQUEST, starts=True),
        RecordRule((has("contents"),), None, starts=True, goes_on=True),
        *_REQUEST,
        RecordRule((has("key"), has("response"), lacks("request")), None, starts=True, goes_on=True),
        RecordRule((When("response", kind=JsonKind.ARRAY),), each="response[]", rules=_RESPONSE),
        RecordRule((When("response", kind=JsonKind.OBJECT),), each="response", rules=_RESPONSE),
        RecordRule((has("chunkedPrompt"),), each="chunkedPrompt.chunks[]", rules=_CHUNK, starts=True),
        RecordRule((has("history[0].parts"),), each="history[]", rules=_CONTENT, starts=True),
        *_RESPONSE,
        *_CONTENT[:-1],
    ),
    usage=(gemini("usageMetadata|response.usageMetadata", key="responseId|response.responseId"),),
    model="model|modelVersion|response.modelVersion",
)
