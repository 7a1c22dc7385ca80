"""Rules for the inputs and outputs of model calls: messages, lists of messages, responses, and texts."""

from __future__ import annotations

from viewer.formats.tables.chat_messages import CHAT
from viewer.formats.tables.model import RecordRule, When, has, is_, lacks
from viewer.model.messages import Kind
from viewer.syntax.json_text import JsonKind


def exchange(
    asked: str, answered: str, when: tuple[When, ...], times: tuple[str, str], rules: tuple[RecordRule, ...] = CHAT
) -> tuple[RecordRule, ...]:
    """Return the rules for the input and the output of a model call, which are at these paths."""
    start, end = times
    asked_is = {kind: (*when, When(asked, kind=kind)) for kind in (JsonKind.STRING, JsonKind.ARRAY, JsonKind.OBJECT)}
    answered_is = {kind: (*when, When(answered, kind=kind)) for kind in asked_is}
    messages, answers = f"{asked}.messages", f"{answered}.messages"
    return (
        RecordRule((*when, has(f"{asked}.system")), Kind.INSTRUCTION, "system", f"{asked}.system", time=start),
        RecordRule((*when, has(f"{asked}.tools")), Kind.INSTRUCTION, "system", f"{asked}.tools", time=start),
        RecordRule(asked_is[JsonKind.STRING], Kind.SAID, "user", asked, time=start, classify=True),
        RecordRule(asked_is[JsonKind.ARRAY], each=f"{asked}[]", rules=rules, time=start),
        RecordRule((*asked_is[JsonKind.OBJECT], has(messages)), each=f"{messages}[]", rules=rules, time=start),
        RecordRule((*asked_is[JsonKind.OBJECT], lacks(messages)), Kind.UNKNOWN, "user", asked, time=start),
        RecordRule(answered_is[JsonKind.STRING], Kind.SAID, "assistant", answered, time=end),
        RecordRule(answered_is[JsonKind.ARRAY], each=f"{answered}[]", rules=rules, time=end),
        RecordRule((*when, is_(f"{answered}.role", "assistant")), each=answered, rules=rules, time=end),
        RecordRule(
            (*when, has(f"{answered}.choices[0]")), each=f"{answered}.choices[0].message", rules=rules, time=end
        ),
        RecordRule(
            (*when, has(f"{answered}.choices[1]")),
            each=f"{answered}.choices[1:].message",
            rules=rules,
            time=end,
            unused=True,
        ),
        RecordRule((*when, has(answers)), each=f"{answers}[]", rules=rules, time=end),
        RecordRule(
            (
                *answered_is[JsonKind.OBJECT],
                lacks(answers),
                lacks(f"{answered}.choices"),
                lacks(f"{answered}.generations"),
                When(f"{answered}.role", not_equals=frozenset({"assistant"})),
            ),
            Kind.UNKNOWN,
            "assistant",
            answered,
            time=end,
        ),
    )


def unknown_values(asked: str, answered: str, when: tuple[When, ...], times: tuple[str, str]) -> tuple[RecordRule, ...]:
    """Return the rules for the input and the output of a span that is not a model call."""
    start, end = times
    return (
        RecordRule((*when, has(asked)), Kind.UNKNOWN, "user", asked, time=start),
        RecordRule((*when, has(answered)), Kind.UNKNOWN, "assistant", answered, time=end),
    )
