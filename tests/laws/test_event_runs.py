"""Events that add to the same message yield the same result whether they are read together or one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from random import Random
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
PROBABILITIES = (
    '{"content":[{"token":"@","logprob":-#.5,"bytes":[#,1],"top_logprobs":[{"token":"@","logprob":-1e-#,"bytes":null}]}]}',
    *(
        '{"content":[],"refusal":null}',
        '{"a":#,"a":#}',
        '{"thought":#,"channel":"analysis","content":"@"}',
        "{#,}",
        "[0#]",
        "[]",
    ),
    *('{"a":[[[[[[#]]]]]]}', '[{"a":"#]"}, NaN]', '"#"'),
)
OF_DELTA = (
    *(f'"logprobs":{probabilities},' for probabilities in PROBABILITIES),
    *("", '"sequence_number":#,', '"sequence_number":null,', '"obfuscation":"#",', '"event_id":"#","created":#,'),
    *('"role":"assistant",', '"channel":"final",', '"text":"#",', '"thought":#,', '"phase":"#",', '"output_index":#,'),
    *('"usage":{"output_tokens":#},', '"item_id":"m#",', '"n":[#],', '"sequence_number":0#,'),
)
OF_CHUNK = (
    *(("", "", ""), ('"created":#,', "", ""), ('"model":"#",', "", ""), ("", "", ',"finish_reason":null')),
    *(("", '"role":"assistant",', ""), ("", '"reasoning":"#",', ""), ('"usage":{"prompt_tokens":#},', "", "")),
    *(("", '"thought":#,', ""), ("", "", ',"finish_reason":"#"'), ("", '"channel":"analysis",', "")),
    *(("", "", f',"logprobs":{probabilities}') for probabilities in PROBABILITIES),
    *(("", '"logprobs":{"role":"tool"},', ""), ('"logprobs":{"n":[#]},', "", ',"logprobs":{"n":[#]}')),
    *(("", '"tool_calls":[{"index":0,"function":{"arguments":"#"}}],', ""), ("", "", ',"channel":"#"')),
)


def stream(form: str, *texts: str) -> bytes:
    """Return events with these pieces of text, given as JSON strings without quotes, between other events."""
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


@each("form", forms(), quick=0, test=18, batch=100)
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
    for form in (DELTA % ('"sequence_number":#,"logprobs":[],', "@"), CHUNK % ('"created":#,', "", "@", "")):
        text = stream(form, *"abcdefgh")
        for whole in (text, as_events(text)):
            both(whole, "events", monkeypatch)
    assert [*dict.fromkeys(counts)] == [7, 6]  # only the last chunk may be the newest one that a later one refers to


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


def interleaved(chance: Random) -> bytes:
    """Return events of several messages in turn, most of which only add text."""
    names = [f"m{at}" for at in range(chance.choice((2, 3, 5)))]
    usual = [*(f'"item_id":"{name}","output_index":{at}' for at, name in enumerate(names))]
    odd = [
        *('"output_index":0', '"output_index":1', '"item_id":"m0"', '"item_id":"m1","output_index":0', '"n":1'),
        *('"item_id":"m0","content_index":1', '"item_id":"m0","content_index":0', '"item_id":"m9","output_index":9'),
        *('"call_id":"c1"', '"item_id":"m1","call_id":"c1"', '"item_id":"m0","channel":"analysis"', '"thought":true'),
    ]
    kinds = chance.choices(("output_text", "reasoning_text", "function_call_arguments", "refusal"), k=len(usual))
    trouble = chance.choice((0, 0.03, 0.1))
    number = '"sequence_number":%d,' if chance.random() < 0.3 else "%.0s"
    text = iter(chance.choices(TEXTS, k=400))
    lines: list[str] = []
    if chance.random() < 0.5:
        lines.append(json.dumps({"type": "response.created", "response": {"id": "r"}}))
    for at in range(chance.choice((20, 60))):
        which = chance.randrange(len(usual))
        kind, place = kinds[which], usual[which]
        if chance.random() < trouble:
            place = chance.choice(odd)
        if chance.random() < trouble:
            kind = chance.choice(("output_text", "reasoning_text", "function_call_arguments", "refusal"))
        draw = chance.random()
        if draw >= trouble:
            said = f'"delta":"{next(text)}"' if chance.random() < trouble else '"delta":"one "'
            lines.append(f'{{"type":"response.{kind}.delta",{number % at}{place},{said}}}')
        elif draw < trouble / 3:
            lines.append(f'{{"type":"response.{kind}.done",{number % at}{place}}}')
        elif draw < trouble / 2:
            item = chance.choice(
                ('"type":"message","role":"assistant"', '"type":"reasoning"', '"type":"function_call"')
            )
            lines.append(f'{{"type":"response.output_item.added","output_index":0,"item":{{"id":"m0",{item}}}}}')
        else:
            others = ('{"type":"response.completed"}', '{"type":"response.cancel","item_id":"m0"}', "x", " {} ")
            lines.append(chance.choice((*others, '{"type": "response.zork", "item_id": "m1"}', "data: [DONE]")))
    return "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def choices_in_turn(chance: Random) -> bytes:
    """Return chunks of several choices in turn."""
    lines = []
    for at in range(40):
        delta = f'"content":"{chance.choice(TEXTS) if chance.random() < 0.1 else "one "}"'
        if chance.random() < 0.05:
            delta = chance.choice(
                ('"role":"assistant"', '"reasoning":"x"', '"content":"x","thought":true', "", '"a":"b"')
            )
        end = ',"finish_reason":"stop"' if chance.random() < 0.03 else ""
        lines.append(
            f'{{"id":"c{chance.choice((1, 1, 2))}","object":"chat.completion.chunk","created":{at},'
            f'"choices":[{{"index":{chance.randrange(3)},"delta":{{{delta}}}{end}}}]}}'
        )
    return "\n".join([*lines, ""]).encode("utf-8", "surrogateescape")


def compare_interleaved(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read random events of several messages in both ways."""
    chance = Random(f"interleaved {number}")
    text = interleaved(chance) if number % 4 else choices_in_turn(chance)
    both(text, "events", monkeypatch, (len(text) // 2,) if chance.random() < 0.5 else ())
    if chance.random() < 0.2:
        both(as_events(text), "events", monkeypatch)


def compare_in_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read events of messages in the same place, each time followed by an event that names only the place. It adds to
    the message of the newest event."""
    form = '{"type":"response.output_text.delta",%s"output_index":0,"delta":"one "}\n'
    for names in product("01", repeat=6):
        said = [form % f'"item_id":"m{name}",' for name in names]
        both("".join([*said, form % "", *said, form % ""]).encode(), "events", monkeypatch)


@pytest.mark.parametrize("count", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_events_of_several_messages_that_are_read_in_turn_give_the_same_messages(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare_in_one_place(monkeypatch)
    for number in range(count):
        compare_interleaved(number, monkeypatch)


@pytest.mark.lab
@pytest.mark.parametrize("part", range(4))
def test_many_events_of_several_messages_give_the_same_messages(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(12 + part, 6000, 4):
        compare_interleaved(number, monkeypatch)


FAULTS: dict[str, tuple[object, str, object]] = {
    "the newest event is not noted": (runs, "_Lane", lambda *lane, made=runs._Lane: made(*lane[:-1], lambda: None)),
    "other events change nothing": (runs.InterleavedRuns, "note_other", lambda *_: None),
    "names do not matter": (runs, "_UNREAD", frozenset({"item_id", "output_index"})),
}


@each("fault", FAULTS, quick=0, test=2)
def test_a_fault_in_interleaved_runs_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        compare_in_one_place(monkeypatch)
        for number in (3, 8, 235, *range(400)):  # the first ones find the faults soon
            compare_interleaved(number, monkeypatch)
