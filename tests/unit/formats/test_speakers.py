"""Texts in which labels name the speakers: whatever the labels look like, only spoken turns are said."""

from __future__ import annotations

from viewer.formats.tables.prompts import prompt_kind
from viewer.formats.tables.speakers import answer_runs, prompt_runs
from viewer.model.messages import Kind

LABELS = [
    *("Thought 1:", "Observation 2:", "### Thought 1:", "**Thought:**", "[System]:", "- System:", "> Thought:"),
    *("### Tool Response [1]:", "### System prompt (hidden):", "Action[Search]:", "Assistant (thinking):"),
    *("Assistant thinking:", "Assistant's thoughts:", "Assistant to=functions.x:", "AI thoughts:", "Self-reflection:"),
    *("Sytem:", "Thougth:", "Reasonning:", "Python output:", "stdout:", "System :", "System：", "\u00a0System:"),
    *("\u200bSystem:", "###  Thought:", "### Thought\n", "FUNCTION RESPONSE"),
    *("Judge:", "Reviewer:", "### Judge:", "JUDGE 2:", "Thought -", "Thought 2 \u2013", "[Thought]", "**Thought** -"),
    *("\u601d\u8003\uff1a", "Gedanke:", "Gedanken:"),
]
SPOKEN = [
    "A thought - and a plan",
    "[thoughts](b)",
    "A judgement: no",
    "Reviews: two",
    "Thoughtful - yes",
]
PROMPTS = [
    "You are SECRET.\n\nHuman: hi\n\nAssistant:",
    "A talk. SECRET\n\nCurrent conversation:\nHuman: hi\nAI:",
    "SECRET\nQuestion: hi\nThought: no",
    "**System**: SECRET",
    "[system]\nSECRET\n[user]\nhi",
    "# System\nSECRET\n# User\nhi",
    "<system>SECRET</system><user>hi</user>",
]


def said(runs: object, text: str) -> str:
    return "".join(text[run[1] : run[2]] for run in runs if run[0] is Kind.SAID)  # type: ignore[attr-defined]


def test_only_spoken_turns_are_said() -> None:
    for label in LABELS:
        for form, user, assistant in (("title", "Human:", "Assistant:"), ("###", "### Human:", "### Assistant:")):
            for gap in ("\n", "\r", "\u2028"):
                text = f"{user} SAID 1\n{assistant} SAID 2{gap}{label} SECRET\n{assistant} SAID 3"
                shown = said(answer_runs(text), text)
                assert "SECRET" not in shown, (form, label, gap)
                assert "SAID 1" in shown and "SAID 2" in shown, (form, label, gap)
    for line in SPOKEN:
        text = f"Human: q\nAssistant: SAID 1\n{line} SAID 2"
        assert "SAID 2" in said(answer_runs(text), text), line
    assert [text for text in PROMPTS if "SECRET" in said(prompt_runs(text), text)] == []
    assert [text for text in PROMPTS if prompt_kind(text) is Kind.SAID] == []
    thought = "Human: q\nAssistant: Sure.<think>cut as a thought\nHuman: SECRET\nSECRET</think> SECRET or not"
    assert "SECRET" not in said(answer_runs(thought), thought)
    steps = "SAID\nObservation 1: SECRET"
    assert said(answer_runs(steps), steps) == "SAID\n"
