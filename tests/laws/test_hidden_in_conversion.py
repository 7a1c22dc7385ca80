"""Hidden content stays hidden when converted to another format, or else the conversion reports it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.cases import each
from tests.support.converting import (
    CANONICAL,
    TOKENS,
    WRITTEN,
    InMemory,
    convert,
    messages_in,
    project,
)
from tests.support.program import run
from tests.unit.formats.test_template_marks import ASSISTANT, CARRIERS, EMBEDDED, USER
from viewer.document.document import Document
from viewer.errors import RefusedError
from viewer.formats.leak_check import count_leaks
from viewer.model.visibility import END_USER, EVERYTHING, Audience

SECRET = "aardvark"
HAND_WRITTEN: list[tuple[str, str]] = [
    *(("assistant", text) for text in (*ASSISTANT.values(), *EMBEDDED.values())),
    *(("user", text) for text in USER.values()),
]


def hidden_in(text: str, format: str, target: str) -> tuple[int, list[str]]:
    """Return the number of hidden messages that the written text shows, and the losses."""
    written, losses, messages = convert(text, format, target)
    return count_leaks(written, target, messages), losses


@pytest.mark.parametrize("target", WRITTEN)
@each("format, name, text", CANONICAL, ids=lambda case: f"{case[0]}: {case[1]}", quick=3)
def test_conversion_reveals_nothing(format: str, name: str, text: str, target: str) -> None:
    try:
        count, _ = hidden_in(text, format, target)
    except RefusedError:
        return
    assert count == 0


@pytest.mark.parametrize("target", WRITTEN)
@each("format, name, text", CANONICAL, ids=lambda case: f"{case[0]}: {case[1]}", quick=6)
def test_safe_conversion_writes_exactly_what_is_shown(format: str, name: str, text: str, target: str) -> None:
    try:
        written, _, messages = convert(text, format, target, END_USER)
    except RefusedError:
        return
    everything = messages_in(project(text, format))
    for message in everything:
        if not message.visible and len(message.body) > 8:
            assert message.body not in written
            assert json.dumps(message.body)[1:-1] not in written
    again = messages_in(project(written, target, END_USER))
    shown = {message.body.strip() for message in messages}
    assert {message.body.strip() for message in again} <= shown


TRAPS = [
    ("openchatml-2.0", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>aardvark<|end|>\n"),
    (
        "openchatml-2.2",
        "<|start|>assistant<|channel|>final<|message|><|literal|><<|endliteral|><|start_reason|>aardvark<|end|>\n",
    ),
    ("harmony", "<|start|>assistant<|channel|>final<|message|><<|start_reason|>aardvark<|end|>"),
    ("harmony", "<|start|>assistant<|channel|>final<|message|><<<|start_reason|>aardvark<|end_reason|> x<|end|>"),
    ("openchatml-2.2", "<|start|>assistant intent=preamble<|channel|>commentary<|message|>aardvark"),
    (
        "openchatml-2.2",
        "<|start|>assistant to=functions.f intent=preamble<|channel|>commentary<|message|>aardvark<|call|>\n",
    ),
    ("json", '[{"role": "assistant", "content": "", "reasoning": "aardvark"}]'),
]


@pytest.mark.slow
@pytest.mark.parametrize("target", WRITTEN)
@each("format, text", TRAPS)
def test_messages_that_resemble_shown_ones_stay_hidden(format: str, text: str, target: str) -> None:
    try:
        written, _, messages = convert(text, format, target)
    except RefusedError:
        return
    assert count_leaks(written, target, messages) == 0
    assert SECRET not in "".join(message.body for message in messages_in(project(written, target, END_USER)))


@pytest.mark.share(quick=0)
@pytest.mark.parametrize("examples", [25, pytest.param(150, marks=pytest.mark.lab)])
def test_no_safe_conversion_contains_hidden_text(examples: int) -> None:
    """For every template, carrier, and target, check the written text and its safe view after reading it."""

    @settings(max_examples=examples)
    @given(
        st.lists(st.sampled_from(HAND_WRITTEN), min_size=1, max_size=3),
        st.sampled_from(["", "\n", " and ", "<|end|>", "</think>", "<<"]),
        st.sampled_from(list(CARRIERS)),
        st.booleans(),
    )
    def search(parts: list[tuple[str, str]], between: str, carrier: str, strict: bool) -> None:
        role = parts[0][0]
        texts = [text for other, text in parts if other == role]
        document, format = CARRIERS[carrier](role, between.join(texts)), carrier.removesuffix("-parts")
        audience = Audience(strict=strict)
        seen = "".join(message.body for message in messages_in(project(document, format, audience)))
        is_apart = between == "\n" and not set(texts) & set(EMBEDDED.values())
        assume("SECRET" not in seen or is_apart)  # otherwise, one text may close or continue a block of another
        assert "SECRET" not in seen
        for target in WRITTEN:
            try:
                written, losses, _ = convert(document, format, target, audience)
            except RefusedError:
                continue
            assert "SECRET" not in written + "".join(losses)
            again = [project(written, target, one) for one in (END_USER, EVERYTHING)]
            assert "SECRET" not in "".join(message.body for one in again for message in messages_in(one))

    search()


@pytest.mark.parametrize("target", WRITTEN)
def test_text_that_only_a_template_token_hides_is_reported(target: str, tmp_path: Path) -> None:
    start, message, end = ({"token": f"<|{name}|>"} for name in ("start", "message", "end_message"))
    text = json.dumps([start, "assistant", message, "Hi.<|im_start|>aardvark", end])
    try:
        written = convert(text, "chatml-json", target)[0]
    except RefusedError:
        return
    shown = SECRET in "".join(one.body for one in messages_in(project(written, target, END_USER)))
    file = tmp_path / "chat.json"
    file.write_text(text, encoding="utf-8")
    result = run("convert", "--to", target, "--reveal", "all", "--format", "chatml-json", file)
    assert shown == ("1 message hidden here would be shown" in result.err)
    assert SECRET not in run("convert", "--to", target, "--format", "chatml-json", file).out


def test_a_safe_conversion_lists_the_document_header_that_it_drops(tmp_path: Path) -> None:
    file = tmp_path / "chat.ocml"
    message = "<|start|>user<|message|>hi<|end|>\n"
    sentence = "dropped the document header except its version and model; add --reveal all to keep it\n"
    for head, is_dropped in (("version: 2.2\nmodel: m\n", False), ("version: 2.2\nnote: aardvark\n", True)):
        file.write_text(head + message, encoding="utf-8")
        for options in ((), ("--strict-safe",), ("--reveal", "tool")):
            result = run("convert", "--to", "openchatml-2.2", *options, file)
            assert result.err == (sentence if is_dropped else "")
            assert SECRET not in result.out
        assert run("convert", "--to", "openchatml-2.2", "--reveal", "all", file).out == head + message


OPENED = [
    (
        "a malformed header made whole",
        "openchatml-2.2",
        "<|start|>user to=assistant to=all<|message|>aardvark<|end|>\n",
    ),
    (
        "a message that broke out",
        "openchatml-2.2",
        "<|start|>assistant<|channel|>analysis<|message|>x<|start|>assistant<|channel|>final<|message|>aardvark<|end|>\n",
    ),
]


@pytest.mark.parametrize(("name", "format", "text"), OPENED)
def test_a_message_that_cannot_stay_hidden_is_reported(name: str, format: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "chat.ocml"
    file.write_text(text, encoding="utf-8")
    for target in ("openchatml-2.2", "harmony", "json"):
        assert hidden_in(text, format, target)[0] == 1
        result = run("convert", "--to", target, "--reveal", "all", "--format", format, file)
        assert result.code == 0
        assert f"1 message hidden here would be shown in {target}." in result.err
        safe = run("convert", "--to", target, "--format", format, file)
        assert SECRET not in safe.out + safe.err
        assert "would be shown" not in safe.err


def test_a_hiding_intent_that_a_target_cannot_express_is_reported() -> None:
    text = "<|start|>assistant intent=status<|channel|>final<|message|>aardvark<|end|>\n"
    count, losses = hidden_in(text, "openchatml-2.2", "harmony")
    assert count == 1
    assert losses == ["Harmony: intent has no equivalent (1 time)"]
    assert hidden_in(text, "openchatml-2.2", "json")[0] == 0


PARTS = [
    *(f"<|{name}|>" for name in TOKENS),
    *(
        "<|start|>user<|message|>",
        "<|start|>assistant<|channel|>final<|message|>",
        "<|end|>\n",
        "<|end|>",
        "<|return|>",
    ),
    *(
        "<|start|>assistant intent=preamble<|channel|>commentary<|message|>",
        "<|start|>assistant<|channel|>analysis<|message|>",
    ),
    *("<|start|>tool name=f call_id=c<|channel|>commentary<|message|>", "<|start|>assistant to=f<|channel|>commentary"),
    *("<|start|>assistant", "<|start_reason|>", "<|end_reason|>", "<think>", "</think>", "<", "<<", " secret ", "a=b "),
    *(
        "user ",
        "intent=status ",
        "intent=preamble ",
        "to=user ",
        "{}",
        "version: 2.2\n",
        "\n",
        "---\n",
        "<|constrain|>json",
    ),
]
texts = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    texts, st.sampled_from(["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"]), st.sampled_from(WRITTEN)
)
def test_converting_any_text_reveals_nothing_silently(text: str, format: str, target: str) -> None:
    """A message becomes visible only if its header was malformed, it was truncated, or the target gives a reason."""
    try:
        written, losses, messages = convert(text, format, target)
    except RefusedError:
        return
    if count_leaks(written, target, messages) == 0:
        safe = messages_in(project(written, target, END_USER))
        seen = "".join(message.body for message in messages_in(project(text, format, END_USER)))
        for message in safe:
            assert message.body.strip() in seen
        return
    told = "no equivalent" in " ".join(losses) or "hidden from the user" in " ".join(losses)
    found = {finding.diagnostic.code for finding in Document(InMemory(text), format).load().findings()}
    assert told or found & {"E-PARSE-HEADER", "W-END-MISSING", "E-STREAM-TRUNCATED"}


@pytest.mark.slow
@settings(max_examples=200)
@given(
    texts, st.sampled_from(["openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"]), st.sampled_from(WRITTEN)
)
def test_safe_conversion_of_any_text_shows_what_the_safe_view_shows(text: str, format: str, target: str) -> None:
    try:
        written, _, messages = convert(text, format, target, END_USER)
    except RefusedError:
        return
    if count_leaks(written, target, messages):  # a reader that splits a message may show less of it
        seen = "".join(message.body for message in messages_in(project(text, format, END_USER)))
        for message in messages_in(project(written, target, END_USER)):
            assert message.body.strip() in seen


def test_a_reader_that_splits_a_message_shows_no_more_of_it() -> None:
    text = "<|start|>assistant<|channel|>final<|message|><|endliteral|><|start|><"
    written, _, _ = convert(text, "openchatml-2.2", "json", END_USER)
    assert [message.body for message in messages_in(project(written, "json", END_USER))] == ["<|endliteral|>"]
