"""Ollama: streamed answers, whole answers, requests, and their hidden parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import run
from tests.support.reading import Reading, codes, read, read_cut, visible_texts
from viewer.formats import detect
from viewer.model.messages import Message
from viewer.model.visibility import message_kind

EXAMPLES = Path(__file__).parents[2] / "data" / "formats"
CALL = {"function": {"name": "rain", "arguments": {"at": "SECRET_ARG"}}}


def chat(content: object = "", done: object = False, **message: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": content} | message
    return {"model": "m", "created_at": "2026-01-02T03:04:05Z", "message": message, "done": done}


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def ollama(*records: dict[str, Any]) -> Reading:
    return read(lines(*records), "ollama")


def seen(reading: Reading) -> list[str]:
    return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def kinds(reading: Reading) -> list[str]:
    return [message_kind(message) for message in reading.messages if isinstance(message, Message)]


def shown(text: str) -> list[str]:
    done = run("show", "--json", "--format", "ollama", "-", stdin=text)
    assert "SECRET" not in done.out + done.err
    return [line["body"] for line in map(json.loads, done.out.splitlines()) if line["kind"] == "message"]


STREAM = (
    chat(thinking="SECRET_TH1 "),
    chat(thinking="SECRET_TH2"),
    chat("Hel"),
    chat("lo"),
    chat("", True) | {"done_reason": "stop", "eval_count": 3, "x": "SECRET_X"},
)


def test_pieces_of_a_stream_are_one_message() -> None:
    reading = ollama(*STREAM)
    assert list(zip(kinds(reading), reading.texts, strict=True)) == [
        ("thought", "SECRET_TH1 SECRET_TH2"),
        ("said", "Hello"),
    ]
    assert codes(reading) == []


def test_the_record_after_the_last_one_begins_a_message() -> None:
    assert seen(ollama(*STREAM, *STREAM)) == ["Hello", "Hello"]


def test_text_in_the_last_record_belongs_to_the_message() -> None:
    assert seen(ollama(chat("Hel"), chat("lo", True), chat("Whole.", True))) == ["Hello", "Whole."]


def test_a_stream_without_its_last_record_is_incomplete() -> None:
    reading = ollama(*STREAM[:4])
    assert seen(reading) == ["Hello"]
    assert codes(reading) == ["E-STREAM-TRUNCATED/event-stream"]


def test_calls_are_hidden_and_end_the_text_before_them() -> None:
    reading = ollama(chat("I look."), chat(tool_calls=[CALL, CALL]), chat("", True))
    assert kinds(reading) == ["said", "call", "call"]
    assert seen(reading) == ["I look."]
    assert not any(code.startswith("E-") for code in codes(reading))


def test_generated_text_is_an_answer() -> None:
    base = {"model": "m", "created_at": "2026-01-02T03:04:05Z"}
    reading = ollama(
        base | {"response": "", "thinking": "SECRET", "done": False},
        base | {"response": "Yes.", "done": False},
        base | {"response": "", "done": True, "context": [1, 2]},
    )
    assert kinds(reading) == ["thought", "said"]
    assert seen(reading) == ["Yes."]


def test_requests_are_read_and_begin_a_transcript() -> None:
    messages = [
        {"role": "system", "content": "SECRET_SYS"},
        {"role": "user", "content": "Hi", "images": ["U0VDUkVU"]},
        {"role": "assistant", "content": "Look.", "thinking": "SECRET_TH", "tool_calls": [CALL]},
        {"role": "tool", "tool_name": "rain", "content": "SECRET_OUT"},
        {"role": "critic", "content": "SECRET_ROLE"},
    ]
    request = {"model": "m", "messages": messages, "stream": True}
    reading = ollama(request, *STREAM, request, *STREAM)
    assert seen(reading) == ["Hi", "Look.", "Hello"] * 2
    assert len(reading.transcripts) == 2
    assert kinds(reading)[:7] == ["instruction", "said", "unknown", "thought", "said", "call", "reply"]


def test_a_prompt_is_hidden() -> None:
    assert seen(ollama({"model": "m", "prompt": "SECRET", "system": "SECRET"}, chat("Yes.", True))) == ["Yes."]


def test_marks_of_templates_stay_hidden_across_records() -> None:
    for whole in ("<think>SECRET</think>Hi", "Hi<tool_call>SECRET</tool_call>", "Hi <|python_tag|>SECRET"):
        for size in (1, 5):
            pieces = [chat(whole[at : at + size]) for at in range(0, len(whole), size)]
            assert [text.strip() for text in shown(lines(*pieces, chat("", True)))] == ["Hi"]


def test_errors_and_limits_are_reported() -> None:
    reading = ollama(chat("Hi"), {"error": "SECRET"})
    assert "W-RUN-ERROR/api" in codes(reading)
    assert seen(reading) == ["Hi"]
    assert "W-RUN-INCOMPLETE/max-tokens" in codes(ollama(chat("Hi", True) | {"done_reason": "length"}))


@pytest.mark.parametrize("value", [1, True, {"text": "SECRET"}, ["SECRET"], {"type": "x", "text": "SECRET"}])
def test_content_of_a_wrong_type_is_hidden(value: object) -> None:
    for record in (chat(value), chat(value, True), {"model": "m", "response": value, "done": True}):
        assert seen(ollama(record)) == [] or isinstance(value, list)
    assert "SECRET" not in "".join(shown(lines(chat(tool_calls=value), chat(thinking=value), chat("", True))))


@pytest.mark.parametrize("done", ["true", 1, {}, []])
def test_a_flag_that_cannot_be_read_hides_the_record(done: object) -> None:
    assert seen(ollama(chat("SECRET", done))) == []


def test_other_roles_and_renamed_fields_are_hidden() -> None:
    for role in ("system", "tool", "critic", 1, None):
        assert seen(ollama(chat("SECRET", role=role))) == []
    record = chat("SECRET", True)
    for key in ("message", "role"):
        assert seen(read(lines(record).replace(f'"{key}"', '"x"'), "ollama")) == []
    reading = read(lines(chat("SECRET", True)).replace('"content"', '"x"'), "ollama")
    assert seen(reading) == []
    assert "W-CONTENT-MISSING" in codes(reading)


def test_reading_in_pieces_equals_reading_whole() -> None:
    data = lines(*STREAM, chat("I look."), chat(tool_calls=[CALL]), chat("", True)).encode()
    whole = read(data.decode(), "ollama")
    for step in (1, 2, 7, 50):
        assert read_cut(data, "ollama", range(step, len(data), step)) == whole


@pytest.mark.slow
def test_no_cut_shows_hidden_text() -> None:
    data = lines({"model": "m", "messages": [{"role": "system", "content": "SECRET"}]}, *STREAM)
    for end in range(0, len(data), 3):
        assert "SECRET" not in "".join(visible_texts(data[:end].encode(), "ollama")), end


def test_streams_are_detected() -> None:
    for record in (chat("x"), {"model": "m", "response": "x", "done": False}):
        assert detect(lines(record).encode()).format == "ollama"
    assert detect(lines({"model": "m", "messages": [{"role": "user", "content": "x"}]}).encode()).format == "json"


def test_no_example_of_another_format_shows_hidden_text() -> None:
    for path in sorted(EXAMPLES.iterdir()):
        if not path.name.endswith(".seen.json"):
            assert "SECRET_" not in "".join(seen(read(path.read_text("utf-8"), "ollama"))), path.name
