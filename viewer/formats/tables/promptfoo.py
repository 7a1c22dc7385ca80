"""promptfoo: the results of an evaluation. Each result is a prompt and the answer of a provider."""

from __future__ import annotations

import re

from viewer.cache import lazy_regex
from viewer.formats.tables.chat_messages import CALL, CHAT
from viewer.formats.tables.model import (
    Container,
    Fault,
    Hooks,
    RecordFormat,
    RecordRule,
    Signature,
    When,
    has,
    lacks,
)
from viewer.formats.tables.prompts import prompt_kind
from viewer.model.messages import Kind
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind

_STRUCTURED = ("[", "{", "-", "role:")
"""The starts of prompts that contain messages as JSON or YAML but cannot be read."""
_ADDED = lazy_regex(
    r"^(?:(?:Redacted )?Thinking|Reasoning|Thought|Signature): |^(?:MCP|Web Search|Function|Tool|Code Interpreter)\b"
    r"|\{\s*\"type\"\s*:\s*\"[a-z_]*tool_",
    re.MULTILINE,
)
"""The start of what a provider adds to the text of an answer: thoughts, calls, and results. Nothing marks the end of a
thought."""
_RAW, _OUTPUT = "prompt.raw", "response.output"
_TEXT, _LIST, _OBJECT = JsonKind.STRING, JsonKind.ARRAY, JsonKind.OBJECT


def kind_of_prompt(text: str) -> Kind:
    """Return the kind of a prompt that is a single string."""
    return Kind.UNKNOWN if text.lstrip().startswith(_STRUCTURED) else prompt_kind(text)


def split_output(text: str) -> list[tuple[Kind, int, int]]:
    """Split an answer into its text and, from the first thought or call on, the additions of the provider."""
    found = _ADDED.search(text)
    end = found.start() if found else len(text)
    runs = [(Kind.SAID, 0, len(text[:end].rstrip()))] if text[:end].strip() else []
    return [*runs, *([(Kind.UNKNOWN, end, len(text))] if found else [])]


_RESULT = (
    RecordRule((has(_RAW),), None, starts=True, session="id", goes_on=True),
    RecordRule((has(f"{_RAW}[0].role"),), each=f"{_RAW}[]", rules=CHAT),
    RecordRule((When(_RAW, kind=_LIST), lacks(f"{_RAW}[0].role")), Kind.UNKNOWN, "user", _RAW, goes_on=True),
    RecordRule((When(_RAW, kind=_OBJECT), lacks(f"{_RAW}.messages")), Kind.UNKNOWN, "user", _RAW, goes_on=True),
    RecordRule((has(f"{_RAW}.messages"),), each=f"{_RAW}.messages[]", rules=CHAT),
    RecordRule((When(_RAW, kind=_TEXT),), Kind.SAID, "user", _RAW, classify=True, goes_on=True),
    RecordRule(
        (When(_OUTPUT, kind=_LIST), lacks(f"{_OUTPUT}[0].function|{_OUTPUT}[0].name")),
        Kind.UNKNOWN,
        "assistant",
        _OUTPUT,
        goes_on=True,
    ),
    RecordRule((has(f"{_OUTPUT}[0].function|{_OUTPUT}[0].name"),), each=f"{_OUTPUT}[]", rules=CALL),
    RecordRule((When(_OUTPUT, kind=_TEXT),), Kind.SAID, "assistant", _OUTPUT, split=True, goes_on=True),
    RecordRule((When(_OUTPUT, kind=_OBJECT),), Kind.UNKNOWN, "assistant", _OUTPUT, goes_on=True),
    RecordRule(
        (has(_RAW),),
        None,
        faults=(
            Fault("failureReason", {"0": None, "1": None, "2": (W_RUN_ERROR, "unknown")}),
            Fault(
                "response.finishReason",
                {"length": (W_RUN_INCOMPLETE, "max-tokens"), "content_filter": (W_RUN_ERROR, "content-filter")},
            ),
        ),
    ),
)
_LISTS = ("results.results", "results")

PROMPTFOO = RecordFormat(
    name="promptfoo",
    title="promptfoo results",
    container=Container.JSON,
    signatures=(
        Signature(95, ("results.results[].prompt.raw",)),
        Signature(93, ("results[].prompt.raw",)),
        Signature(93, (_RAW, "promptIdx", "testIdx")),
    ),
    records=(
        *(RecordRule((has(f"{at}[0]"),), each=f"{at}[]", rules=_RESULT) for at in _LISTS),
        *_RESULT,
    ),
    inner=(*(f"{at}[].{_RAW}" for at in _LISTS), _RAW),
    model="provider.id",
    hooks=Hooks(classify=kind_of_prompt, split_answer=split_output),
)
