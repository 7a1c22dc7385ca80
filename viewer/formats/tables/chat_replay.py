"""VS Code chat replays: the prompts that Copilot Chat exports, each with its requests and tool calls."""

from __future__ import annotations

from viewer.formats.tables.model import (
    Container,
    Fault,
    PartRule,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    is_,
    is_not,
)
from viewer.formats.tables.usage import openai
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_START, _END = "metadata.startTime", "metadata.endTime|metadata.startTime"
_ANSWERS = tuple(
    f"panel/{intent}"
    for intent in (
        *("askAgent", "default", "doc", "edit", "edit2", "editAgent", "editCode", "explain", "fix", "generate", "new"),
        *("newNotebook", "notebookEditor", "review", "search", "searchPanel", "semanticSearch", "setupTests"),
        *("startDebugging", "terminal", "terminalExplain", "tests", "unknown", "vscode", "workspace"),
    )
)
"""The first part of the names of requests whose answers appear in the chat. Other requests generate titles or
summaries, or belong to other agents."""
_MESSAGE = "response.message"
_IS_ANSWER = (
    is_("kind", "request"),
    is_("type", "ChatMLSuccess"),
    is_("name", *_ANSWERS),
    is_("response.type", "success", "ChatMLSuccess"),
)
_IS_CUT = (
    is_("kind", "request"),
    is_("type", "ChatMLFailure"),
    is_("name", *_ANSWERS),
    is_("response.type", "truncated"),
    When(_MESSAGE, kind=JsonKind.STRING),
)
"""The conditions for an answer that reached the token limit. The chat shows what was streamed, and an error."""
_STRINGS = (PartRule((is_("value.type", "stateful_marker"),), None),)
"""Rules for the parts of an answer that is a list. Stateful markers are omitted."""
_FAILED = (W_RUN_ERROR, "api")
_LOG = (
    RecordRule((has("thinking.text"),), Kind.THOUGHT, "assistant", "thinking.text", goes_on=True),
    RecordRule(
        (has("requestMessages.messages[0]"),), Kind.REPLAYED, "system", "requestMessages", time=_START, goes_on=True
    ),
    *(
        RecordRule((*_IS_ANSWER, When(_MESSAGE, kind=kind)), Kind.SAID, "assistant", _MESSAGE, _STRINGS, time=_END)
        for kind in (JsonKind.STRING, JsonKind.ARRAY)
    ),
    RecordRule(
        _IS_CUT,
        Kind.SAID,
        "assistant",
        _MESSAGE,
        time=_END,
        faults=(Fault("response.type", default=(W_RUN_INCOMPLETE, "max-tokens")),),
    ),
    RecordRule(
        (is_("kind", "request"), is_("response.type", "failure", "failed", "cancelled", "canceled")),
        Kind.NOTICE,
        "system",
        "response.reason|response",
        time=_END,
        faults=(
            Fault(
                "response.type",
                dict.fromkeys(("cancelled", "canceled"), (W_RUN_ERROR, "aborted")),
                _FAILED,
            ),
        ),
    ),
    RecordRule(
        (is_("kind", "request"), has("response|content")), Kind.UNKNOWN, "assistant", "response|content", time=_END
    ),
    RecordRule(
        (is_("kind", "toolCall"),),
        Kind.CALL,
        "assistant",
        "args",
        call_id="id",
        name="tool",
        time="time",
        also=(RecordRule((has("response"),), Kind.REPLY, "tool", "response", call_id="id", name="tool", time="time"),),
    ),
    RecordRule(
        (is_("kind", "error"),),
        Kind.NOTICE,
        "system",
        "error",
        time="timestamp",
        faults=(Fault("error", default=_FAILED),),
    ),
    RecordRule((is_("kind", "element", "request"),), None),
    RecordRule((), Kind.UNKNOWN, "assistant", "response|content|args"),
)
_MOST_BEFORE = 16
"""The maximum number of a prompt's logs to search for its first answer."""
_IS_TEXT = When("prompt", kind=JsonKind.STRING)
_NO_ANSWER = tuple(is_not(f"logs[{place}].name", *_ANSWERS) for place in range(_MOST_BEFORE))
_PROMPT = (
    *(
        RecordRule(
            (_IS_TEXT, is_(f"logs[{place}].name", *_ANSWERS), *_NO_ANSWER[:place]),
            Kind.SAID,
            "user",
            "prompt",
            goes_on=True,
            place=-1,
        )
        for place in range(_MOST_BEFORE)
    ),
    RecordRule((has("logs"), _IS_TEXT, *_NO_ANSWER), Kind.UNKNOWN, "user", "prompt", goes_on=True, place=-1),
    *(
        RecordRule((has("logs"), When("prompt", kind=kind)), Kind.UNKNOWN, "user", "prompt", goes_on=True, place=-1)
        for kind in (JsonKind.OBJECT, JsonKind.ARRAY)
    ),
    RecordRule((has("logs"),), each="logs[]", rules=_LOG),
    RecordRule((has("logs"),), None),
)
"""Rules for a prompt and its logs. If no answer appears in the chat, `prompt` is not a message from the user."""

CHAT_REPLAY = RecordFormat(
    name="chat-replay",
    title="VS Code chat replay",
    container=Container.JSON,
    signatures=(
        Signature(95, ("prompts[].logs", "prompts[].prompt", "exportedAt|totalLogEntries|totalPrompts")),
        Signature(95, ("prompt", "promptId", "logs")),
        Signature(94, ("prompt", "logCount", "logs[].kind")),
    ),
    records=(
        RecordRule((has("prompts"),), None, starts=True, goes_on=True),
        RecordRule((has("prompts"),), each="prompts[]", rules=_PROMPT),
        RecordRule((has("prompts"),), None),
        RecordRule((has("logs"),), None, starts=True, session="promptId", goes_on=True),
        *_PROMPT,
    ),
    usage=(openai("metadata.usage", each="prompts[].logs[]|logs[]"),),
    model="prompts[0].logs[0].metadata.model|logs[0].metadata.model",
)
