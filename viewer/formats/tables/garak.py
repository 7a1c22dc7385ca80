"""garak: vulnerability scanner reports. Each attempt is a prompt with the scanned model's answers."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import Container, RecordFormat, RecordRule, Signature, When, has, is_, is_not, lacks
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind

_TEXT, _OBJECT = JsonKind.STRING, JsonKind.OBJECT
_TURN = (
    *(
        RecordRule((is_("role", role), When("content.text", kind=_TEXT)), Kind.SAID, role, "content.text")
        for role in ("user", "assistant")
    ),
    RecordRule((is_("role", "system"),), Kind.INSTRUCTION, "system", "content.text|content"),
    RecordRule((When("content", kind=_OBJECT),), Kind.UNKNOWN, "@role", "content"),
    *CHAT,
)
_OTHER_OUTPUT = (RecordRule((), Kind.UNKNOWN, "assistant"),)
_TURNS, _HISTORY = "conversations[0].turns", "messages[0]"


def _rules(said: Kind) -> Iterator[RecordRule]:
    """Yield the rules for an attempt or a hit. `said` is the kind of the prompt and the answer."""
    around = said if said is Kind.REPLAYED else Kind.UNKNOWN
    yield RecordRule((has(f"{_TURNS}[0]"),), around, each=f"{_TURNS}[]", rules=_TURN)
    yield RecordRule((has("conversations[1]"),), around, each="conversations[1:].turns[]", rules=_TURN, unused=True)
    alone: tuple[When, ...] = (lacks(f"{_TURNS}[0]"),)
    yield RecordRule((*alone, has(f"{_HISTORY}[0].role")), around, each=f"{_HISTORY}[]", rules=_TURN)
    alone = (*alone, lacks(f"{_HISTORY}[0].role"))
    yield RecordRule((*alone, has("prompt.turns")), around, each="prompt.turns[]", rules=_TURN)
    for at in ("prompt", "prompt.text"):
        yield RecordRule((*alone, When(at, kind=_TEXT)), said, "user", at)
    yield RecordRule(
        (*alone, When("prompt", kind=_OBJECT), lacks("prompt.turns|prompt.text")), Kind.UNKNOWN, "user", "prompt"
    )
    for at in ("outputs[0]", "outputs[0].text", "output", "output.text"):
        yield RecordRule((*alone, When(at, kind=_TEXT)), said, "assistant", at)
    yield RecordRule((*alone, When("output", kind=_OBJECT), lacks("output.text")), Kind.UNKNOWN, "assistant", "output")
    yield RecordRule((*alone, has("outputs[1]")), each="outputs[1:]", rules=_OTHER_OUTPUT, unused=True)


_ATTEMPT = is_("entry_type", "attempt")
_OTHER_ENTRIES = (
    *("start_run setup", "init", "completion", "config", "eval", "digest"),
    *("plugin_cache", "payload_init", "probe_summary", "tree_data"),
)
"""Entries without a prompt: the settings of the run, scores, and summaries."""
_FINAL = "2"
_IS_HIT = (lacks("entry_type"), has("detector"), has("probe"), has("prompt"))

GARAK = RecordFormat(
    name="garak",
    title="garak report",
    container=Container.LINES,
    signatures=(
        Signature(95, ("prompt", "probe_classname"), {"entry_type": frozenset({"attempt"})}),
        Signature(95, (), {"entry_type": frozenset(_OTHER_ENTRIES)}),
        Signature(93, ("prompt", "output", "detector", "probe", "score")),
    ),
    records=(
        *(
            RecordRule(when, None, starts=True, session=session, also=tuple(_rules(kind)))
            for when, session, kind in (
                ((_ATTEMPT, is_("status", _FINAL)), "uuid", Kind.SAID),
                ((_ATTEMPT, lacks("status")), "uuid", Kind.SAID),
                ((_ATTEMPT, is_not("status", _FINAL)), "uuid", Kind.REPLAYED),
                (_IS_HIT, "attempt_id", Kind.SAID),
            )
        ),
        RecordRule((is_("entry_type", *_OTHER_ENTRIES),), None),
    ),
    keeps_fields=True,
    model="generator",
)
