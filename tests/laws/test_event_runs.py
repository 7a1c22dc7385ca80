"""Events that are read together, because they add to the same message, give the same result as if read one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from zlib import crc32

import pytest

from tests.laws.test_fast_records import both, mutations
from tests.support.cases import each
from viewer.formats.engine.deltas import DeltaRun
from viewer.formats.events import runs
from viewer.formats.events.streams import Streams

TEXTS = (
    *("One ", "two, ", "", "three", "\\n", 'a\\"b\\\\', "é🐙", "\\u00e9", "\\ud83d", "\\ude00", "\\ud83d\\ude00"),
    *(" <", "think>", "x</think>", "<|end", "|>", "y", "\udcff", "z", "\ufffd", "\\x", "q", "\x01", "r", "last", ""),
)
DELTA = '{"type":"response.output_text.delta","item_id":"m1",%s"delta":"%s"}'
CHUNK = '{"id":"c1",%s"object":"chat.completion.chunk","choices":[{"index":0,"delta":{%s"content":"%s"}%s}]}'
OF_DELTA = (
    *("", '"sequence_number":#,', '"sequence_number":null,', '"obfuscation":"#",', '"event_id":"#","created":#,'),
    *('"role":"assistant",', '"channel":"final",', '"text":"#",', '"thought":#,', '"phase":"#",', '"output_index":#,'),
    *('"usage":{"output_tokens":#},', '"item_id":"m#",', '"n":[#],', '"sequence_number":0#,'),
)
OF_CHUNK = (
    *(("", "", ""), ('"created":#,', "", ""), ('"model":"#",', "", ""), ("", "", ',"finish_reason":null')),
    *(("", '"role":"assistant",', ""), ("", '"reasoning":"#",', ""), ('"usage":{"prompt_tokens":#},', "", "")),
    *(("", '"thought":#,', ""), ("", "", ',"finish_reason":"#"'), ("", '"channel":"analysis",', "")),
    *(("", '"tool_calls":[{"index":0,"function":{"arguments":"#"}}],', ""), ("", "", ',"channel":"#"')),
)


def stream(form: str, *texts: str) -> bytes:
    """Return events with these texts, as JSON strings without their quotes, between other events."""
    item = {"type": "message", "id": "m1", "role": "assistant", "content": []}
    head = [
        json.dumps({"type": "response.created", "response": {"id": "r"}}),
        json.dumps({"type": "response.output_item.added", "output_index": 0, "item": item}),
    ]
    said = [form.replace("@", text).replace("#", str(at)) for at, text in enumerate(texts)]
    tail = [
        *(form.replace('"content"', '"reasoning"').replace("output_text", "reasoning_text").replace("@", "w"),) * 4,
        form.replace("@", "after"),
        *('{"type":"response.output_text.done","item_id":"m1","text":"One two"}', '{"type":"response.completed"}'),
    ]
    return "\n".join([*head, *said, *tail, ""]).encode("utf-8", "surrogateescape")


def as_events(text: bytes) -> bytes:
    """Return the same text as server-sent events."""
    return b"".join(b"data: " + line + b"\n\n" for line in text.splitlines())


def forms() -> Iterator[str]:
    """Yield events with other members. `@` marks the text."""
    yield from (DELTA % (more, "@") for more in OF_DELTA)
    yield from (CHUNK % (first, second, "@", last) for first, second, last in OF_CHUNK)


@each("form", forms(), quick=0, test=6, batch=100)
def test_events_that_are_read_together_give_the_same_messages(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for texts in (TEXTS, ("abc", *"defgh", *TEXTS)):
        text = stream(form, *texts)
        both(text, "events", monkeypatch)
        both(as_events(text), "events", monkeypatch, tuple(range(1, len(text), 151)))
    for mutated in mutations(text, crc32(text), 3):
        both(mutated, "events", monkeypatch)


def test_events_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    add = Streams.add_run

    def counted(self: Streams, number: int, run: DeltaRun) -> None:
        counts.append(run.count)
        add(self, number, run)

    monkeypatch.setattr(Streams, "add_run", counted)
    for form in (DELTA % ('"sequence_number":#,', "@"), CHUNK % ('"created":#,', "", "@", "")):
        text = stream(form, *"abcdefgh")
        for whole in (text, as_events(text)):
            both(whole, "events", monkeypatch)
    assert counts and max(counts) == 4


def test_a_fault_in_runs_of_events_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    text = stream(DELTA % ('"channel":"@",', "x"), *("final",) * 4, *("analysis",) * 4)
    both(text, "events", monkeypatch)
    monkeypatch.setattr(runs, "_UNREAD", frozenset({"channel"}))
    with pytest.raises(AssertionError):
        both(text, "events", monkeypatch)


def test_messages_whose_names_have_the_same_length_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """One pattern matches the events of both."""
    names = ("m1", "m1", "m1", "m2", "m2", "m2", "m1", "m2", "m2", "m2")
    form = DELTA % ("", "word ") + "\n"
    both("".join(form.replace("m1", name) for name in names).encode(), "events", monkeypatch)
