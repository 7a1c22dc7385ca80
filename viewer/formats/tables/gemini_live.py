"""Gemini Live API: the messages of a session, as clients log them. Members are in camel case or, as the Python library
prints them, in snake case."""

from __future__ import annotations

from viewer.formats.tables.gemini_parts import PARTS
from viewer.formats.tables.model import (
    Container,
    Fault,
    Merge,
    Mode,
    Outcomes,
    PartRule,
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
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind

_SOUND = PartRule((starts("inlineData.mimeType|inline_data.mime_type", "audio/", "video/"), lacks("text")), None)
"""The rule for pieces of sound or video, of which an answer has hundreds. The transcription has the words."""
_PARTS = (_SOUND, *PARTS)


def _path(*names: str) -> str:
    """Return the path of nested members, in camel case or in snake case."""
    snake = ("".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name) for name in names)
    paths = ".".join(names), ".".join(snake)
    return "|".join(dict.fromkeys(paths))


_SETUP = ("setup", "setupComplete", "sessionResumptionUpdate", "goAway", "toolCallCancellation", "voiceActivity")
_TURNS = _path("clientContent", "turns")
_PARTS_OF_TURN = _path("serverContent", "modelTurn", "parts")
_GROWS = Merge(Mode.APPEND)
_ENDS = "|".join(
    f"{content}.{name}"
    for content in _path("serverContent").split("|")
    for name in (*_path("turnComplete").split("|"), "interrupted")
)
_ANSWERS = Merge(Mode.APPEND, done=flag(_ENDS), may_lack_end=True)
"""The rule that merges the pieces of an answer. The end of a turn ends the answer, and so does an interruption."""
_SYSTEM = _path("setup", "systemInstruction")
_SYSTEM_PARTS = _path("setup", "systemInstruction", "parts")
_TOOLS = _path("setup", "tools")
_INPUT = _path("realtimeInput", "text")
_HEARD = _path("serverContent", "inputTranscription", "text")
_INTERIM = _path("serverContent", "interimInputTranscription", "text")
_STATES = frozenset(
    name
    for member in (
        *("turnComplete", "turnCompleteReason", "interrupted", "generationComplete", "waitingForInput", "modelTurn"),
        *("groundingMetadata", "urlContextMetadata", "inputTranscription", "outputTranscription"),
        "interimInputTranscription",
    )
    for name in _path(member).split("|")
)
"""The members of a message from the server. A message with any other member is unknown."""
_OF_TURNS = (
    RecordRule((is_("role", "user"),), Kind.SAID, "user", "parts", _PARTS),
    RecordRule((lacks("role"), has("parts")), Kind.SAID, "user", "parts", _PARTS),
    RecordRule((is_("role", "model"),), Kind.SAID, "assistant", "parts", _PARTS),
    RecordRule((), Kind.UNKNOWN, "@role", "parts", _PARTS),
)
_CALL = (RecordRule((), Kind.CALL, "assistant", "args", call_id="id", name="name"),)
_FAILED = Outcomes(failed=("response.error",))
_REPLY = (RecordRule((), Kind.REPLY, "tool", "response", call_id="id", name="name", outcome=_FAILED),)


def _answer(text: str, parts: tuple[PartRule, ...] = ()) -> RecordRule:
    """Return the rule for the pieces of an answer, and for a record that only ends it."""
    is_part = has(f"{text}|{_ENDS}")
    return RecordRule((is_part,), Kind.SAID, "assistant", text, parts, merge=_ANSWERS, goes_on=True)


_MESSAGES = (
    RecordRule((has("setup"),), None, starts=True, goes_on=True),
    RecordRule((has(_SYSTEM_PARTS),), Kind.INSTRUCTION, "system", _SYSTEM_PARTS, PARTS, goes_on=True),
    RecordRule((When(_SYSTEM, kind=JsonKind.STRING),), Kind.INSTRUCTION, "system", _SYSTEM, goes_on=True),
    RecordRule((has(_TOOLS),), Kind.INSTRUCTION, "system", _TOOLS, goes_on=True),
    *(
        RecordRule((When(_TURNS, kind=kind),), each=each, rules=_OF_TURNS)
        for kind, each in ((JsonKind.ARRAY, _path("clientContent", "turns[]")), (JsonKind.OBJECT, _TURNS))
    ),
    RecordRule((has(_INPUT),), Kind.SAID, "user", _INPUT),
    RecordRule((has(_INTERIM),), Kind.REPLAYED, "user", _INTERIM, goes_on=True),
    RecordRule((has(_HEARD),), Kind.SAID, "user", _HEARD, merge=_GROWS, goes_on=True),
    _answer(_PARTS_OF_TURN, _PARTS),
    _answer(_path("serverContent", "outputTranscription", "text")),
    RecordRule((has(_path("toolCall")),), each=_path("toolCall", "functionCalls[]"), rules=_CALL),
    RecordRule((has(_path("toolResponse")),), each=_path("toolResponse", "functionResponses[]"), rules=_REPLY),
    RecordRule(
        (has("error"),),
        Kind.NOTICE,
        "system",
        "error.message|error",
        faults=(Fault("error", default=(W_RUN_ERROR, "api")),),
    ),
    RecordRule((has(_path("serverContent")), When(_path("serverContent"), only=_STATES)), None),
    RecordRule((has("|".join(_path(name) for name in ("toolCall", "toolResponse"))),), None),
    RecordRule((has("|".join(_path(name) for name in ("clientContent", "realtimeInput", "usageMetadata"))),), None),
    RecordRule((has("|".join(map(_path, _SETUP))),), None),
)
_KNOWN = ("serverContent", "clientContent", "realtimeInput", "setupComplete")
_WRAPPERS = ("message", "payload", "data", "msg", "event")

GEMINI_LIVE = RecordFormat(
    name="gemini-live",
    title="Gemini Live session",
    container=Container.LINES,
    signatures=(
        *(Signature(94, (_path(name),), none_of=("type", "role")) for name in _KNOWN),
        *(
            Signature(92, ("|".join(f"{wrapper}.{name}" for name in _path(name).split("|")),))
            for wrapper in _WRAPPERS
            for name in _KNOWN
        ),
        Signature(94, (_path("toolCall", "functionCalls"),)),
        Signature(94, (_path("toolResponse", "functionResponses"),)),
        Signature(94, ("setup.model",)),
    ),
    records=(
        *_MESSAGES,
        *(RecordRule((When(name, kind=JsonKind.OBJECT),), each=name, rules=_MESSAGES) for name in _WRAPPERS),
    ),
    inner=_WRAPPERS,
    usage=(gemini(_path("usageMetadata")),),
    model="setup.model",
)
