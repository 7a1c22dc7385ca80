"""Prompts in which words name the speaker: Vicuna and Alpaca."""

from __future__ import annotations

import pytest

from tests.support.growth import assert_growth
from tests.support.reading import Reading, codes, read, read_cut, visible_texts
from viewer.formats import detect

CURIOUS = "A chat between a curious user and an artificial intelligence assistant."


def seen(reading: Reading) -> list[str]:
    return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def test_a_prompt_is_detected_and_a_text_about_prompts_is_not() -> None:
    vicuna = "USER: Hi ASSISTANT: Hello</s>USER: Bye ASSISTANT:"
    alpaca = "### Instruction:\nHi\n\n### Response:\nHello\n"
    for text, format in (
        (f"{CURIOUS} {vicuna}", "vicuna"),
        (f"<s>{CURIOUS} USER: Hi ASSISTANT:", "vicuna"),
        (vicuna, "vicuna"),
        ("SYSTEM: x\nUSER: Hi\n\n\nASSISTANT: Hello <|endoftext|>\n", "vicuna"),
        (alpaca, "alpaca"),
        (alpaca.replace("\n", "\r\n"), "alpaca"),
        (f"Below is an instruction that describes a task.\n\n{alpaca}", "alpaca"),
        (f"### System:\nx\n\n{alpaca}", "alpaca"),
        (f"x\n{alpaca}<|EOT|>", "alpaca"),
    ):
        assert detect(text.encode()).format == format, text
        assert detect(text.encode()).reason
    for text in (
        f"# Prompts\n\n{vicuna}",
        f"Use this prompt:\n\n```\n{vicuna}\n```\n",
        "The USER: and ASSISTANT: labels name the speaker.\n",
        "USER: Hi\nASSISTANT: Hello\n",
        f"# Prompts\n\n{alpaca}",
        f"Write it like this:\n\n{alpaca}",
        "### Response:\nHello\n\n### Instruction:\nHi\n",
        "### Instruction: press the button.\n\n### Response:\nNone\n",
        "### Instruction:\nPress the button.\n",
    ):
        assert detect(text.encode()).confidence == 0, text


@pytest.mark.parametrize("format", ["vicuna", pytest.param("alpaca", marks=pytest.mark.slow)])
def test_what_is_hidden_in_every_form(format: str) -> None:
    user, assistant = ("USER:", "ASSISTANT:") if format == "vicuna" else ("### Instruction:\n", "### Response:\n")
    head = f"{user} Hi\n{assistant} "
    for answer in (
        f"<think>\n{user} SECRET\n{assistant} SECRET</think>Hello</s>",
        f"Hello <think>\nSECRET\n{user} SECRET</s>",
        '<tool_call>\n{"name": "f", "arguments": {"a": "SECRET"}}\n</tool_call>\nHello</s>',
        '<functioncall> {"name": "f", "arguments": "SECRET"}</s>\nHello</s>',
        "Hello\nThought: SECRET</s>",
        "Hello\n### Observation: SECRET</s>",
        "Hello\n**Reasoning:** SECRET</s>",
        "Hello</s>SECRET</s>",
        "Hello</s>CRITIC: SECRET</s>",
        "Hello<tool_response>SECRET",
    ):
        text = f"SECRET\n{head}{answer}"
        reading = read(text, format)
        assert "SECRET" not in "".join(seen(reading)), answer
        assert seen(reading)[:1] == ["Hi"], answer
        data = text.encode()
        for cut in range(1, len(data), 3):
            assert read_cut(data, format, [cut]) == reading, cut
            assert "SECRET" not in "".join(visible_texts(data[:cut], format)), text[:cut]


def test_a_result_cannot_speak_inside_a_line() -> None:
    text = "USER: Hi\nASSISTANT: One.</s>\nFUNCTION RESPONSE: x ASSISTANT: SECRET USER: SECRET\nASSISTANT: Two.</s>"
    assert seen(read(text, "vicuna")) == ["Hi", "One.", "Two."]
    text = "USER: Hi\nASSISTANT: I should look. SECRET\nAction: f\nAction Input: SECRET</s>"
    assert seen(read(text, "vicuna")) == ["Hi"]
    for steps in (
        "Thought: SECRET\nAction: f\nAction Input: SECRET\nObservation: SECRET\nThought: SECRET\n",
        "I should look. SECRET\nAction: f\nAction Input: SECRET\n**Observation:** SECRET Ω\n",
    ):
        for after in ("", "\nCRITIC: SECRET", "\nThought: SECRET", "\nJudge: SECRET\nDone SECRET"):
            text = f"USER: Hi\nASSISTANT: {steps}Final Answer: It is ten.\nYes.{after}</s>"
            shown = [] if "Thought" in after else ["It is ten.\nYes."]
            assert seen(read(text, "vicuna")) == ["Hi", *shown], text
            for cut in range(text.index("SECRET", text.index("Input:")), len(text)):
                assert "SEC" not in "".join(seen(read(text[:cut], "vicuna"))), text[:cut]
    text = "The label USER: SECRET names the user.\n\nUSER: Hi\nASSISTANT: One.</s>\nSecret USER: SECRET"
    assert seen(read(text, "vicuna")) == ["Hi", "One."]


def test_a_file_may_contain_several_prompts() -> None:
    text = f"{CURIOUS} USER: a ASSISTANT: b</s>\n{CURIOUS} USER: c ASSISTANT: d</s>"
    reading = read(text, "vicuna")
    assert seen(reading) == ["a", "b", "c", "d"]
    text = "### Instruction:\na\n### Response:\nb\n\n### Instruction:\nc\n### Response:\nd"
    assert seen(read(text, "alpaca")) == ["a", "b", "c", "d"]


def test_text_that_is_not_utf_8_keeps_its_place() -> None:
    text = "USER: Zoë ✓\nASSISTANT: Grüße.</s>\nUSER: Bye"
    data = text.encode().replace(b"\xc3\xab", b"\xff")
    reading = read_cut(data, "vicuna", [])
    assert seen(reading) == ["Zo� ✓", "Grüße.", "Bye"]
    assert codes(reading) == ["W-ENCODING/invalid-utf8"]


@pytest.mark.slow
def test_reading_takes_linear_time() -> None:
    turn = "USER: Hi there. ASSISTANT: <think>\nx\n</think>Yes, x.</s>"
    assert_growth(lambda text: read(text, "vicuna"), turn * 300, turn * 600, 2.6)
    turn = "### Instruction:\nHi\n### Response:\nYes.\n"
    assert_growth(lambda text: read(text, "alpaca"), turn * 300, turn * 600, 2.6)
