"""Records that are decoded in one step yield the same events as the slow path, for all samples and many mutations."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest

from tests.support.cases import each
from tests.support.native import BOTH_WAYS, using
from tests.support.samples import Sample, samples
from viewer.formats import FORMATS, RECORD_FORMATS, detect
from viewer.formats.containers import arrays
from viewer.formats.containers import lines as any_lines
from viewer.formats.containers import regular_lines as lines
from viewer.formats.engine import deltas, reader, streams
from viewer.formats.engine.deltas import DeltaRun
from viewer.formats.engine.drafts import StreamStep
from viewer.formats.engine.known import shapes
from viewer.formats.json import messages
from viewer.formats.json.items import MessageObjects
from viewer.formats.json.messages import MessageLists
from viewer.model.events import Event, Grew
from viewer.reading.parser import Parser
from viewer.reading.template_marks import MARK_SIGNS, TOKEN_SIGNS
from viewer.syntax import json_lines
from viewer.syntax.json_text import read_json
from viewer.syntax.json_tree import JsonNode

NAMES = frozenset(entry.name for entry in RECORD_FORMATS) | {"json", "events"}
NEVER = 1 << 60
MOST_SPLITS = 3


def format_of(sample: Sample) -> str:
    return sample.asked or detect(sample.text).format


def record_samples() -> list[Sample]:
    """Return the JSON samples. Their format is detected only when they are read."""
    return [sample for sample in samples() if sample.path.suffix in (".json", ".jsonl", ".sse", ".ndjson")]


def as_lines(text: bytes) -> bytes:
    """Return a document as one line, or an array as one record per line."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    items = value if isinstance(value, list) else [value]
    return b"".join(json.dumps(item, ensure_ascii=len(items) > 1).encode() + b"\n" for item in items)


def mutations(text: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Yield the text with a part missing, a byte changed, a member repeated, a value replaced, or two lines
    exchanged."""
    chance = random.Random(seed)
    rows = text.splitlines(keepends=True)
    for _ in range(count):
        at = chance.randrange(len(text))
        row = chance.randrange(len(rows))
        other = chance.randrange(len(rows))
        swapped = [*rows]
        swapped[row], swapped[other] = rows[other], rows[row]
        key = text.rfind(b'"', 0, text.find(b'":', at) if b'":' in text[at:] else at)
        member = text[key : text.find(b",", key)] if 0 <= key < text.find(b",", key) else b'"type":"text"'
        yield text[:at]
        yield text[:at] + bytes([chance.choice(b'"\\{}[]:,\n\r 0-etx\x00\x7f\xc3\xff')]) + text[at + 1 :]
        yield (
            text[:at]
            + chance.choice([b"\\ud83d", b"\\ud83d\\ude00", b"NaN", b"\xef\xbb\xbf", b"1e9", b"-0"])
            + text[at:]
        )
        yield text.replace(b"{", b"{" + member + b",", 1 + chance.randrange(3))
        yield text.replace(member, chance.choice([member + b"," + member, b'"zork":1', member + b" "]), 1)
        yield b"".join(swapped)


def events(text: bytes, format: str, cuts: tuple[int, ...] = ()) -> list[Event]:
    parser = Parser(FORMATS[format])
    found: list[Event] = []
    for start, end in zip((0, *cuts), (*cuts, len(text)), strict=True):
        found += parser.feed(text[start:end])
    return joined(found + parser.close())


def joined(found: list[Event]) -> list[Event]:
    """Return the events, with neighbors that extend the same message joined."""
    whole: list[Event] = []
    for event in found:
        grown = _grown(whole[-1], event) if whole else None
        if grown is None:
            whole.append(event)
        else:
            whole[-1] = grown
    return whole


def _grown(last: Event, event: Event) -> Grew | None:
    if not isinstance(event, Grew) or not isinstance(last, Grew) or event.number != last.number:
        return None
    is_next = event.first == last.first + len(last.pieces)
    return Grew(event.number, last.pieces + event.pieces, last.first) if is_next else None


def both(text: bytes, format: str, monkeypatch: pytest.MonkeyPatch, cuts: tuple[int, ...] = ()) -> None:
    """Read the text by the slow path and by the fast path, and compare the results."""
    for module in (lines, arrays, messages):
        monkeypatch.setattr(module, "READ_WITH_CARE", NEVER)
    for module in (any_lines, reader):
        monkeypatch.setattr(module, "DECODED", NEVER)
    careful = events(text, format, cuts)
    for module in (lines, arrays, messages):
        monkeypatch.setattr(module, "READ_WITH_CARE", 0)
    for module in (any_lines, reader):
        monkeypatch.setattr(module, "DECODED", 0)
    monkeypatch.setattr(shapes, "SEEN_BEFORE", 0)
    for way in BOTH_WAYS if format in ("json", "events", "anthropic-stream") else BOTH_WAYS[:1]:
        with using(way):
            fast = events(text, format, cuts)
        assert fast == careful, next((pair for pair in zip(fast, careful, strict=False) if pair[0] != pair[1]), text)


@each("sample", record_samples(), ids=lambda sample: sample.name, quick=384, test=32)
def test_records_decoded_at_once_give_the_events_of_the_careful_reader(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text in (sample.text, as_lines(sample.text)):
        both(text, format_of(sample), monkeypatch)
        step = max(1, len(text) // MOST_SPLITS)
        for cut in range(1, len(text), step):
            both(text, format_of(sample), monkeypatch, (cut,))


@each("sample", record_samples(), ids=lambda sample: sample.name, quick=0, test=64)
def test_mutated_samples_read_the_same(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    text = as_lines(sample.text)
    for mutated in mutations(text, crc32(sample.name.encode()), 2):
        both(mutated, format_of(sample), monkeypatch)


def as_array(text: bytes) -> bytes:
    """Return the records of the text as one array."""
    rows = [row.strip() for row in as_lines(text).splitlines() if row.strip().startswith(b"{")]
    return b" [ " + b" ,\n".join(rows or [b"{}"]) + b"\n] "


@each("sample", record_samples(), ids=lambda sample: sample.name, quick=504, test=40)
def test_arrays_of_records_read_the_same(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    text = as_array(sample.text)
    both(text, format_of(sample), monkeypatch)
    step = max(1, len(text) // MOST_SPLITS)
    cuts = tuple(range(1, len(text), step))
    both(text, format_of(sample), monkeypatch, cuts)
    for mutated in mutations(text, crc32(sample.name.encode()), 1):
        both(mutated, format_of(sample), monkeypatch, tuple(cut for cut in cuts if cut < len(mutated)))


ITEM = b'{"model":"m","content":[{"type":"text","text":"a"}],"role":"assistant"}'
ARRAYS = (
    *(
        b"[]",
        b"[ ]x",
        b"[" + ITEM + b"]",
        b"[" + ITEM + b",]",
        b"[" + ITEM + b"," + ITEM,
        b"[" + ITEM + b" " + ITEM + b"]",
    ),
    *(b"[" + ITEM + b",1," + ITEM + b"]", b"[1," + ITEM + b"]", b"[" + ITEM + b',{"a":1,"a":2},' + ITEM + b"]" + ITEM),
    *(
        b"[" + ITEM + b"}," + ITEM + b"]",
        b"[" + ITEM + b',{"a":"' + ITEM + b"]",
        b"[" + ITEM + b',{"a":NaN},' + ITEM + b"]",
    ),
    *(
        b"[" + ITEM + b"," + ITEM[:-1] + b"]",
        b"[" + ITEM + b'],["x"],{"a":[' + ITEM + b"]}",
        b"[" + ITEM + b",,]" + ITEM,
    ),
    b"[" + ITEM + b',{"a":' + b"[" * 199 + b"]" * 199 + b"}," + ITEM + b"]",
)


@pytest.mark.slow
def test_arrays_are_read_item_by_item_as_if_they_were_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ARRAYS:
        for cuts in ((), *((cut,) for cut in range(1, len(text), 7)), tuple(range(1, len(text), 3))):
            both(text, "anthropic", monkeypatch, cuts)


def test_items_of_a_long_array_are_read_before_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "READ_WITH_CARE", 0)
    parser = Parser(FORMATS["anthropic"])
    parser.feed(b"[")
    assert all(parser.feed(ITEM + b",\n") for _ in range(3))


def test_a_fault_in_the_positions_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = next(sample for sample in record_samples() if format_of(sample) == "claude-code")
    monkeypatch.setattr(json_lines.LazyNode, "string_place", lambda node: (node.start, node.end, True))
    with pytest.raises(AssertionError):
        for each_text in (sample.text, sample.text.replace(b"e", b"\\u0065")):
            both(each_text, "claude-code", monkeypatch)


def stream(*texts: str, more: str = "") -> bytes:
    """Return an answer in deltas, as JSON strings without their quotes."""
    start: list[dict[str, object]] = [
        {"type": "message_start", "message": {"id": "m1", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    ]
    head = [f"event: {value['type']}\ndata: {json.dumps(value)}\n\n" for value in start]
    delta = '{"type": "content_block_delta", %s"index": 0, "delta": {"type": "text_delta", "text": "%s"}}'
    deltas = [
        f"event: content_block_delta\ndata: {delta % (more.replace('#', str(at)), text)}\n\n"
        for at, text in enumerate(texts)
    ]
    end = 'data: {"type": "content_block_stop", "index": 0}\n\ndata: {"type": "message_stop"}\n\n'
    return "".join([*head, *deltas, end]).encode("utf-8", "surrogateescape")


TEXTS = (
    *(
        "One ",
        "two, ",
        "",
        "",
        "three",
        "\\n",
        'a\\"b\\\\',
        "é🐙",
        "\\u00e9",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ude00",
        " <",
        "think>",
    ),
    *("x</think>", "<|end", "|>", "y", "\udcff", "z", "\\x", "q", "\x01", "r", "last", ""),
)
MORE = (
    "",
    '"usage": {"output_tokens": #}, ',
    '"message": {"usage": {"output_tokens": #}}, ',
    '"uuid": "u#", ',
    '"uuid": #, ',
    '"n": [#], ',
    '"thought": #, ',
    '"text": "#", ',
    '"index": #, ',
    '"a": 0#, ',
)


@pytest.mark.slow
def test_deltas_that_are_read_together_give_the_same_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    for more in MORE:
        text = stream(*TEXTS, more=more)
        both(text, "anthropic-stream", monkeypatch)
        for mutated in mutations(text, crc32(text), 2):
            both(mutated, "anthropic-stream", monkeypatch)
    text = stream(*"abcdefgh", *TEXTS)
    for cut in range(0, len(text), 97):
        both(text, "anthropic-stream", monkeypatch, (cut,))
    lines_only = b"".join(
        line[6:] + b"\n" for line in stream(*"abcdefgh", *TEXTS).split(b"\n") if line.startswith(b"data: ")
    )
    both(lines_only, "anthropic-stream", monkeypatch)


def test_deltas_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: list[int] = []
    grow = streams.BlockStreams.grow

    def counted(self: streams.BlockStreams, step: StreamStep, run: DeltaRun) -> None:
        counts.append(run.count)
        grow(self, step, run)

    monkeypatch.setattr(streams.BlockStreams, "grow", counted)
    for more in ("", '"uuid": "u#", '):
        both(stream(*"abcdefgh", more=more), "anthropic-stream", monkeypatch)
    assert counts == [6, 6] * len(BOTH_WAYS)


def test_a_fault_in_runs_of_deltas_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "_TEXT", rb'[^"]*+')
    deltas._pattern.cache_clear()
    with pytest.raises(AssertionError):
        both(stream(*"abcd", "\\x", "e"), "anthropic-stream", monkeypatch)
    deltas._pattern.cache_clear()


def same(found: JsonNode, careful: JsonNode) -> None:
    for name in ("kind", "start", "end", "text", "plain", "closed", "split", "body_end"):
        assert getattr(found, name) == getattr(careful, name), name
    assert len(found.items) == len(careful.items)
    for item, other in zip(found.items, careful.items, strict=True):
        same(item, other)
    for member, wanted in zip(found.members, careful.members, strict=True):
        assert (member.key, member.key_start, member.key_end) == (wanted.key, wanted.key_start, wanted.key_end)
        same(member.value, wanted.value)
        assert found.get(member.key) is not None


OBJECTS = (
    b"{}",
    b'{"a":1}',
    b'{ "a" : -0.0e+1 , "b":[ ] , "c" : { } }  ',
    b'{"a":[1,[2,"x]"],{"b":"\\"}"}],"c":"d"}\r',
    b'{"a\\"b":"\\\\","\\u0063":"\\ud83d\\ude00\\/"}',
    '{"é":"ü\\n","":null,"t":true,"f":false}'.encode(),
    b'{"deep":[[[[[[[[[["x"]]]]]]]]]],"after":{"b":[[[[[[[[1]]]]]]],2]}}',
    b'{"a":"b:","c":{"a":"{\\"a\\":1}"}}',
)
IRREGULAR = (
    *(
        b'{"a":1,"a":2}',
        b'{"a":{"b":1,"\\u0062":2}}',
        b'{"a":NaN}',
        b'{"a":-Infinity}',
        b'{"a":1}{"b":2}',
        b'[{"a":1}]',
    ),
    *(
        b'{"a":"\\ud83d"}',
        b'{"a":"\\ude00\\ud83d"}',
        b'{"a":"\\\\ud83d\\ude00"}',
        b'{"a":"\xff"}',
        b'\xef\xbb\xbf{"a":1}',
    ),
    *(
        b'{"a":"\x01"}',
        b'{"a":01}',
        b'{"a":1,}',
        b'{"a":1',
        b'{"a":"\\x"}',
        b'{"a" 1}',
        b"",
        b'{"a":' + b"[" * 201 + b"]" * 201 + b"}",
    ),
)


def test_a_regular_object_has_the_positions_of_the_careful_reader() -> None:
    for text in OBJECTS:
        found = json_lines.read_regular(text, 7)
        careful = read_json(text, 7)
        assert found is not None and careful.node is not None and not careful.faults, text
        same(found, careful.node)


def test_an_irregular_object_is_left_to_the_careful_reader() -> None:
    for text in IRREGULAR:
        assert json_lines.read_regular(text, 0) is None, text


def test_numbers_are_their_source_text() -> None:
    text = b'{"a":-0,"b":1.50,"c":123456789012345678901234567890,"d":1E400}'
    found = json_lines.read_regular(text, 0)
    assert found is not None
    assert [member.value.text for member in found.members] == ["-0", "1.50", "123456789012345678901234567890", "1E400"]


ODD_TEXTS = (
    *("Hello", 'He said "no"\nand left', "\n\tback\\slash/", "Café 対話 🙂", "x < y and <b>", "a [{1}] \x7f"),
    *(
        "<think>plums</think>Yes",
        "\n<think>\n\n</think>\n\nYes <b>",
        "<think>a</think> b </think> c",
        "analysis<|message|>plums<|end|>",
        "assistant: hi",
        "\u200bhidden",
        "",
        "\x01",
    ),
)


def conversation(chance: random.Random) -> list[dict[str, object]]:
    """Return messages of a few shapes, any of which may be odd."""
    found: list[dict[str, object]] = []
    for number in range(chance.randint(4, 14)):
        text, odd = chance.choice(ODD_TEXTS), chance.random() < 0.15
        call_id = chance.choice([f"c{number}", f"c{number}", "c1", "", 'c"'])
        call: dict[str, object] = {"id": call_id, "type": "function"}
        call["function"] = {"name": chance.choice(["find", "find", "read"]), "arguments": chance.choice(ODD_TEXTS)}
        choices: list[dict[str, object]] = [
            {"role": "user", "content": text},
            {"role": "assistant", "content": text},
            {"role": "assistant", "content": chance.choice([None, "", text]), "tool_calls": [call]},
            {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "c2"}]},
            {"role": "tool", "tool_call_id": call_id, "content": text},
            {"role": "functions.other", "tool_call_id": call_id, "content": text},
            {"role": "tool", "tool_call_id": call_id, "name": "find", "content": text},
        ]
        extras: list[dict[str, object]] = [{"ts": 5}, {"name": "n"}, {"thought": True}, {"phase": "analysis"}]
        extras += [{"note": text}, {"to": "user"}, {"refusal": text}, {"annotations": [text]}, {"content": [text]}]
        found.append(chance.choice(choices) | (chance.choice(extras) if odd else {}))
    return found


def layouts(chance: random.Random) -> Iterator[bytes]:
    """Yield a conversation as lines, as an array, as rows, as a document, and as an array of rows."""
    is_ascii = chance.random() < 0.5

    def text(value: object, indent: int | None = None) -> bytes:
        return json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode("utf-8")

    messages = [conversation(chance) for _ in range(4)]
    yield b"".join(text(one) + chance.choice([b"\n", b"\n", b" \r\n"]) for row in messages for one in row)
    yield text([one for row in messages for one in row], chance.choice([None, 1]))
    rows = [{"model": "m", "messages": row} for row in messages]
    yield b"".join(text(row) + b"\n" for row in [*rows, {"messages": [], "id": 1}, *rows])
    yield text({"messages": messages[0] + messages[1], "model": "m"}, 1)
    yield text(rows)


@each("seed", range(40), quick=0, test=14)
def test_messages_of_known_shapes_read_as_on_the_slow_path(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    for text in layouts(chance):
        both(text, "json", monkeypatch)
        both(text, "json", monkeypatch, tuple(range(1, len(text), chance.randint(40, 400))))
        for mutated in mutations(text, seed, 1):
            both(mutated, "json", monkeypatch)


def said(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text}


TOKENS: dict[str, object] = {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}
ANSWERED = [said("user", "a"), said("assistant", "b")]
CALLING = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
FIRST_OF_A_SHAPE: dict[str, list[object]] = {
    "its text is divided": [ANSWERED[0], *(said("assistant", text) for text in ("<function=x", "Hello", "World"))],
    "its text is a result": [ANSWERED[1], *(said("user", text) for text in ("Observation: plums", "Hello", "World"))],
    "it calls as a tool": [ANSWERED[0], *[{"role": "tool", "tool_calls": [CALLING]}] * 3],
    "tokens follow a row": [
        *({"messages": ANSWERED}, {"messages": ANSWERED}, {"messages": [], **TOKENS}, {"messages": ANSWERED}),
        *({"response": {}, **TOKENS}, TOKENS),
    ],
}
ITEMS_AFTER_A_ROW: dict[str, list[object]] = {
    "messages": [{"messages": ANSWERED, **TOKENS}, *ANSWERED, said("user", "c")],
    "tokens": [{"messages": ANSWERED, **TOKENS}, TOKENS, {"messages": ANSWERED, **TOKENS}],
}


def test_what_only_the_first_message_of_a_shape_has_is_not_part_of_the_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    for rows in FIRST_OF_A_SHAPE.values():
        text = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        both(text, "json", monkeypatch)
        both(text, "json", monkeypatch, tuple(range(1, len(text), 40)))


def test_tokens_belong_to_the_transcript_that_states_them_at_any_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for items in ITEMS_AFTER_A_ROW.values():
        text = json.dumps(items).encode()
        both(text, "json", monkeypatch)
        both(text, "json", monkeypatch, tuple(range(1, len(text), 40)))
    text = json.dumps({"messages": [], **TOKENS}).encode() + b"\n" + json.dumps(ANSWERED).encode()
    both(text + b"\n" + json.dumps(TOKENS).encode(), "json", monkeypatch)


@each("seed", range(40), quick=0, test=14)
def test_long_objects_with_a_list_are_read_item_by_item_as_on_the_slow_path(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    for module in (lines, messages):
        monkeypatch.setattr(module, "LONG", 0)
    for text in layouts(chance):
        both(text, "json", monkeypatch)
        both(text, "json", monkeypatch, tuple(range(1, len(text), chance.randint(40, 400))))
        for mutated in mutations(text, seed, 1):
            both(mutated, "json", monkeypatch)


LISTS = (
    *('{"messages":[]}', '{"messages":[%s,]}', '{"messages":[%s %s]}', '{"messages":[%s,1]}', '{"messages":[[%s],%s]}'),
    *('{"a":1,"messages":[%s,%s],"a":2}', '{"messages":[%s],"messages":[%s]}', '{"messages":[%s],"chosen":[%s,%s]}'),
    *('{"a":[%s],"messages":[%s]}', '{"messages":[%s],"a":{"b":%s}}', '{"messages":[%s,{"messages":[%s]}]}'),
    *('{"messages":[%s],"request":{"messages":[%s]}}', '{"messages":[%s]}x', '{"messages":[%s]]', '{"messages":[%s}'),
    *(
        '{"\\u006dessages":[%s]}',
        '{"messages":[%s],"model":"m","usage":{"prompt_tokens":3}}',
        ' { "messages" : [ %s ] } ',
    ),
    *('{"messages":[%s,%s],"id":"é","version":"1"}\r', '{"messages":[{"role":"user","content":"a","content":"b"}]}'),
    *(
        '{"a":[[[[[[[1]]]]]]],"messages":[%s]}',
        '{"messages":[%s,{"usage":{"prompt_tokens":3}}],"error":{"message":"x"}}',
    ),
    '{"messages":[%s,{"role":"user","content":' + "[" * 198 + "]" * 198 + "}]}",
)


@pytest.mark.slow
def test_an_object_with_more_than_a_list_is_read_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (lines, messages):
        monkeypatch.setattr(module, "LONG", 0)
    for form in LISTS:
        rows = [json.dumps(said(role, "SECRET")) for role in ("user", "assistant", "user")]
        text = form % tuple(rows[: form.count("%s")])
        for whole in (text, text + "\n", f"{text}\n{text}\n", text.replace(",", ",\n ").replace("{", "{\n", 1)):
            both(whole.encode(), "json", monkeypatch)
            both(whole.encode(), "json", monkeypatch, tuple(range(1, len(whole.encode()), 9)))


def test_a_long_object_is_read_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = {"model": "m", "messages": [said(role, "Hello " * 99) for role in ("user", "assistant")] * 99, "id": "é"}
    found = [json.dumps(rows, indent=1), json.dumps(rows), json.dumps(rows) + "\n"]
    monkeypatch.setattr(messages, "LONG", 1000)
    monkeypatch.setattr(lines, "LONG", 1000)
    whole = MessageLists._read_items
    monkeypatch.setattr(MessageLists, "_read_items", lambda *given: pytest.fail("read as a whole"))
    for text in found:
        assert len(events(text.encode(), "json")) == 199
    monkeypatch.setattr(MessageLists, "_read_items", whole)


def test_almost_all_messages_have_a_known_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "READ_WITH_CARE", 0)
    read: list[object] = []
    careful = MessageObjects.add

    def add(*given: Any, **more: Any) -> None:
        read.append(given)
        careful(*given, **more)

    monkeypatch.setattr(MessageObjects, "add", add)
    for thought in ("", "<think>\nplums\n</think>\n\n", "Is it <|endoftext|>?"):
        rows = [
            {"role": role, "content": f'{thought if role == "assistant" else ""}{role} "{number}"\n'}
            for number in range(50)
            for role in ("user", "assistant")
        ]
        both_layouts = [b"".join(json.dumps(row).encode() + b"\n" for row in rows)]
        both_layouts.append((json.dumps({"messages": rows}).encode() + b"\n") * 3)
        for text in both_layouts:
            read.clear()
            events(text, "json")
            assert len(read) <= 3


def test_no_sign_of_a_mark_has_a_character_that_json_escapes() -> None:
    """Marks are searched for in the source of the text, where JSON may escape characters."""
    escaped = set(b'"\\') | set(range(0x20))
    assert not [sign for sign in (*MARK_SIGNS, *TOKEN_SIGNS) if escaped & set(sign)]
