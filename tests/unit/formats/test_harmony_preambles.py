"""`--preambles harmony` shows commentary only if nothing marks it as a call."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from tests.support.reading import examine
from viewer.formats.tokens.vocabulary import CONTROL
from viewer.model.visibility import is_user_safe
from viewer.reading.format import ReadOptions

SHOWN = [
    "assistant<|channel|>commentary<|message|>plan<|end|>",
    "assistant<|channel|>commentary text<|message|>plan<|end|>",
    "assistant<|channel|>commentary markdown<|message|>plan<|return|>",
    "assistant<|channel|>commentary intent=preamble<|message|>plan<|end|>",
    "assistant<|channel|>commentary<|message|>plan <|constrain|> quoted<|end|>",
]
HIDDEN = [
    "assistant<|channel|>commentary<|message|><|constrain|> json{}<|end|>",
    "assistant<|channel|>commentary<|message|> \n\t<|constrain|>json{}<|end|>",
    "assistant<|channel|>commentary<|message|><|constrain|><|end|>",
    "assistant<|channel|>commentary <|constrain|>json<|message|>{}<|end|>",
    "assistant<|channel|>commentary <|constrain|>text<|message|>plan<|end|>",
    "assistant<|channel|>commentary <|constrain|><|message|>plan<|end|>",
    "assistant<|channel|>commentary json<|message|>{}<|end|>",
    "assistant<|channel|>commentary code<|message|>{}<|end|>",
    "assistant<|channel|>commentary content_type=json<|message|>{}<|end|>",
    "assistant<|channel|>commentary text content_type=application/json<|message|>{}<|end|>",
    "assistant<|channel|>commentary intent=preamble json<|message|>{}<|end|>",
    "assistant<|channel|>commentary intent=preamble<|message|><|constrain|>json{}<|end|>",
    "assistant<|channel|>commentary intent=debug<|message|>plan<|end|>",
    "assistant to=functions.f<|channel|>commentary<|message|>{}<|end|>",
    "assistant to=user<|channel|>commentary<|message|>{}<|end|>",
    "assistant<|channel|>commentary<|message|>plan<|call|>",
    "assistant<|channel|>commentary<|message|>plan",
    "assistant<|channel|>analysis<|message|>plan<|end|>",
]


def verdicts(text: str, *, preambles: bool) -> list[list[bool]]:
    """Return the verdicts for the input whole, byte by byte, and as the completion of a prompt."""
    found = []
    for start in ("<|start|>", "<|start|>user<|message|>q<|end|><|start|>"):
        data = (start + text).encode()
        for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
            analysis = examine(pieces, data, "harmony", ReadOptions(harmony_preambles=preambles))
            found.append([is_user_safe(message) for message in analysis.index if message.header.role != "user"])
    return found


@pytest.mark.parametrize("text", SHOWN)
def test_plain_commentary_is_a_preamble(text: str) -> None:
    assert verdicts(text, preambles=True) == [[True]] * 4
    assert verdicts(text, preambles=False) == [[False]] * 4


@each("text", HIDDEN)
def test_every_mark_of_a_call_keeps_it_hidden(text: str) -> None:
    assert verdicts(text, preambles=True) == [[False]] * 4


def test_token_ids_are_judged_alike() -> None:
    ids = {text: number for number, text in CONTROL.items()}
    start, channel, message, constrain, end = (
        ids[f"<|{name}|>".encode()] for name in ("start", "channel", "message", "constrain", "end")
    )
    head = [start, 173781, channel, 12606, 815, message]
    for body, shown in (([220, 16], True), ([constrain, 4108, 16], False), ([16, constrain, 4108], True)):
        data = str([*head, *body, end]).encode()
        analysis = examine([data], data, "harmony-tokens", ReadOptions(harmony_preambles=True))
        assert [is_user_safe(message) for message in analysis.index] == [shown], body
