"""lm-evaluation-harness: samples of an evaluation, one per line, with the prompt and the model's answers."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.completions import OPEN_THOUGHTS
from viewer.formats.tables.model import Container, Narrowing, RecordFormat, RecordRule, Signature, When, ends, has
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_PROMPT = "arguments.gen_args_0.arg_0|arguments[0][0]"
_OPTIONS = "arguments.gen_args_0.arg_1|arguments[0][1]"
_CHATS = tuple(at for prompt in ("arguments.gen_args_0.arg_0", "arguments[0][0]") for at in (prompt, f"{prompt}[0]"))
"""Where the messages of a chat are: in a string that contains JSON, or in a list with such a string."""
_GENERATES = When(_OPTIONS, kind=JsonKind.OBJECT)
"""The condition that the model wrote text. Without generation options, it only scored the text of the prompt."""
_ANSWER = "resps[0][0]"
_IS_TEXT = When(_ANSWER, kind=JsonKind.STRING)
_OPEN = Narrowing(Kind.UNKNOWN)
_SAMPLE = (
    *(RecordRule((has(f"{at}[0].role"),), each=f"{at}[]", rules=CHAT) for at in _CHATS),
    *(
        RecordRule((When(_PROMPT, kind=kind),), Kind.UNKNOWN, "user", _PROMPT, goes_on=True)
        for kind in (JsonKind.STRING, JsonKind.OBJECT)
    ),
    RecordRule((ends(_PROMPT, *OPEN_THOUGHTS),), None, narrows=_OPEN, goes_on=True),
    RecordRule((_GENERATES, _IS_TEXT), Kind.SAID, "assistant", _ANSWER, goes_on=True),
    RecordRule(
        (
            _GENERATES,
            has("resps[0][1]"),
        ),
        each="resps[0][1:]",
        rules=(RecordRule((), Kind.UNKNOWN, "assistant", ""),),
    ),
    RecordRule(
        (
            _GENERATES,
            has("resps[1]"),
        ),
        each="resps[1:]",
        rules=(RecordRule((), Kind.UNKNOWN, "assistant", ""),),
    ),
    RecordRule((_GENERATES, _IS_TEXT), None),
    RecordRule((has("resps"),), Kind.UNKNOWN, "assistant", "resps"),
)

LM_EVAL = RecordFormat(
    name="lm-eval",
    title="lm-evaluation-harness samples",
    container=Container.LINES,
    signatures=(
        Signature(94, ("doc_id", "arguments", "resps", "filtered_resps")),
        Signature(92, ("arguments.gen_args_0.arg_0", "resps")),
    ),
    records=(RecordRule((has("arguments"),), None, starts=True, goes_on=True), *_SAMPLE),
    inner=_CHATS,
)
