"""Text completions: the answer is shown; the prompt and other choices stay hidden."""

from __future__ import annotations

from typing import Any

from tests.support.agent_records import (
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    found,
    kinds,
    shown,
)
from viewer.formats import detect

NAME = "completions"


def completion(text: Any, index: int = 0, id: str = "cmpl-1", finish: str | None = "stop") -> dict[str, Any]:
    choice = {"text": text, "index": index, "logprobs": None, "finish_reason": finish}
    return {"id": id, "object": "text_completion", "model": "m", "choices": [choice]}


def piece(text: str, **more: Any) -> dict[str, Any]:
    return {"content": text, "stop": False, **more}


def as_events(*records: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + as_lines(record) + b"\n" for record in records)


def test_the_answer_is_shown_and_the_prompt_is_not() -> None:
    data = as_lines({"model": "m", "prompt": "SECRET_P"}, completion("Seen."))
    assert detect(data).format == NAME
    assert kinds(data, NAME) == [("unknown", "SECRET_P"), ("said", "Seen.")]
    assert_hidden(data, NAME)


def test_chunks_of_one_answer_are_one_message() -> None:
    data = as_events(
        completion("A ", finish=None), completion("SECRET_", 1, finish=None), completion("b.", finish=None)
    )
    data += as_events(completion("", finish="length"), completion("", 1))
    assert shown(data, NAME) == ["A b."]
    assert found(data, NAME) == ["W-RUN-INCOMPLETE/max-tokens"]
    llama = as_events(piece("A "), piece("b."), {**piece(""), "stop": True, "prompt": "SECRET_", "stop_type": "eos"})
    assert detect(llama).format == NAME
    assert shown(llama, NAME) == ["A b."]
    assert_hidden(llama, NAME)


def test_an_answer_that_begins_inside_a_thought_or_repeats_its_prompt_is_hidden() -> None:
    for asked in ({"prompt": "Hi<think>\n"}, {"prompt": "<|start|>assistant"}, {"prompt": "Hi", "echo": True}):
        data = as_lines(asked, completion("SECRET_A"), {"prompt": "Hi"}, completion("Seen.", id="c2"))
        assert shown(data, NAME) == ["Seen."], asked
        assert shown(as_lines({"request": asked, "response": completion("SECRET_B")}), NAME) == [], asked
        stream = as_lines(asked, piece("SECRET_"), piece("SECRET_"), {**piece(""), "stop": True})
        assert shown(stream, NAME) == [], asked


def test_a_prompt_that_comes_late_reports_what_was_shown() -> None:
    last = {"content": "", "stop": True, "prompt": "Hi<think>\n"}
    assert found(as_lines(piece("Shown."), last), NAME) == ["E-PERM-VISIBILITY/late-channel"]


def test_values_of_other_types_are_hidden() -> None:
    for text in (7, True, ["SECRET_"], {"x": "SECRET_"}):
        assert shown(as_lines(completion(text)), NAME) == [], text
        assert shown(as_lines({"content": text, "stop": True}), NAME) == [], text
    for stop in ("no", 1, ["x"]):
        assert shown(as_lines({"content": "SECRET_", "stop": stop}), NAME) == [], stop


def test_drift_and_other_formats_stay_hidden() -> None:
    records = [{"model": "m", "prompt": "SECRET_P"}, completion("Seen."), completion("SECRET_2", 1)]
    assert_drift_is_hidden(records, NAME)
    assert_others_are_hidden(NAME)
