"""Ollama: the answers of `/api/chat` and `/api/generate`, streamed or whole, with their requests."""

from __future__ import annotations

from viewer.formats.tables.anthropic_parts import TEXT
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
)
from viewer.formats.tables.usage import OLLAMA_TOKENS
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE

_GOES_ON = When("done", true=False)
_ANSWER = Merge(Mode.APPEND, done=flag("done"))
_THOUGHT = Merge(Mode.APPEND)
_ENDINGS = (Fault("done_reason", {"length": (W_RUN_INCOMPLETE, "max-tokens")}),)
_PARTS = (TEXT,)

_CALLS = (
    RecordRule(
        (has("function.name"),),
        Kind.CALL,
        role="assistant",
        body="function.arguments",
        call_id="id|function.id",
        name="function.name",
    ),
)


def _answer(at: str, text: str, merge: tuple[Merge | None, Merge | None]) -> tuple[RecordRule, ...]:
    """Return the rules for an answer under a path: its thought, text, calls, and images."""
    thought, said = merge
    return (
        RecordRule(
            (has(f"{at}thinking"),),
            Kind.THOUGHT,
            role="assistant",
            body=f"{at}thinking",
            time="created_at",
            merge=thought,
        ),
        *(
            RecordRule(
                when, Kind.SAID, role="assistant", body=f"{at}{text}", parts=_PARTS, time="created_at", merge=said
            )
            for when in ((lacks(f"{at}thinking"),), (has(f"{at}thinking"), has(f"{at}{text}")))
        ),
        RecordRule((has(f"{at}tool_calls"),), each=f"{at}tool_calls[]", rules=_CALLS, time="created_at"),
        RecordRule((has(f"{at}images"),), Kind.UNKNOWN, role="assistant", body=f"{at}images[]", opaque=True),
    )


_STREAMED = (_THOUGHT, _ANSWER)
_CHAT = _answer("message.", "content", _STREAMED)
_GENERATED = _answer("", "response", _STREAMED)
_STORED = _answer("", "content", (None, None))
ANSWERS = (RecordRule((is_("message.role", "assistant"),), None, also=_answer("message.", "content", (None, None))),)
"""The rules for a whole answer."""
_IMAGES = RecordRule((has("images"),), Kind.UNKNOWN, role="user", body="images[]", opaque=True)

MESSAGES = (
    RecordRule((is_("role", "user"),), Kind.SAID, role="user", body="content", parts=_PARTS, also=(_IMAGES,)),
    RecordRule((is_("role", "assistant"),), None, also=_STORED),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, role="system", body="content"),
    RecordRule(
        (is_("role", "tool"),),
        Kind.REPLY,
        role="tool",
        body="content",
        call_id="tool_call_id",
        name="tool_name|name",
    ),
)
"""The rules for the messages of a request."""

_INSTRUCTION = RecordRule((has("system"),), Kind.INSTRUCTION, role="system", body="system")
_PROMPT = RecordRule((has("prompt"),), Kind.UNKNOWN, role="user", body="prompt")
"""The rule for a prompt. It is hidden, because a program wrote it, possibly with a template."""

OLLAMA = RecordFormat(
    name="ollama",
    title="Ollama",
    container=Container.LINES,
    signatures=(Signature(92, ("model", "done", "message")), Signature(92, ("model", "done", "response"))),
    usage=(OLLAMA_TOKENS,),
    model="model",
    records=(
        RecordRule(
            (has("error"), lacks("message"), lacks("response")),
            Kind.NOTICE,
            role="system",
            body="error",
            faults=(Fault("error", default=(W_RUN_ERROR, "api")),),
        ),
        *(
            RecordRule((is_("message.role", "assistant"), has("done"), done), None, also=_CHAT, faults=_ENDINGS)
            for done in (flag("done"), _GOES_ON)
        ),
        *(
            RecordRule((has("response"), lacks("message"), has("done"), done), None, also=_GENERATED, faults=_ENDINGS)
            for done in (flag("done"), _GOES_ON)
        ),
        RecordRule((has("messages"), lacks("done"), lacks("message")), starts=True, each="messages[]", rules=MESSAGES),
        RecordRule((has("prompt"), lacks("done"), lacks("message")), None, starts=True, also=(_INSTRUCTION, _PROMPT)),
    ),
)
