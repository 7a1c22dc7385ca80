"""Token IDs are read as the Harmony text they encode, and every position refers to the numbers."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.formats.text.harmony import HARMONY
from viewer.formats.tokens.reader import HARMONY_TOKENS, TokenIdReader, body_of_ids
from viewer.formats.tokens.vocabulary import CONTROL, load_vocabulary
from viewer.model.events import Closed, Event, Found, Grew, Opened, Started, Strayed
from viewer.reading.bodies import read_body
from viewer.reading.format import FormatTraits, Reader, ReadOptions
from viewer.reading.parser import Parser
from viewer.reading.recorder import Recorder

RETURN, CONSTRAIN, CHANNEL, START, END, MESSAGE, CALL = 200002, 200003, 200005, 200006, 200007, 200008, 200012
SYSTEM, USER, ASSISTANT, ANALYSIS, FINAL, TO, JSON = 17360, 1428, 173781, 35644, 17196, 316, 4108
COMMENTARY = [12606, 815]
GUIDE = [CHANNEL, ANALYSIS, MESSAGE, 1844, 31064, 25, END, START, ASSISTANT, CHANNEL, FINAL, MESSAGE, 17, 13, RETURN]

TEXTS = {1: b"Hello", 2: b" <|end|>", 3: b"=functions.f", 4: b" <|constrain|>", 5: b"{}", 6: b"\xe2\x82", 7: b"\xac"}


def spell(number: int) -> bytes:
    return TEXTS[number]


def with_texts(record: Recorder, options: ReadOptions) -> Reader:
    return TokenIdReader(record, options, spell)


WITH_TEXTS = FormatTraits(name="harmony-tokens", reader=with_texts)


def without_texts(record: Recorder, options: ReadOptions) -> Reader:
    return TokenIdReader(record, options)


BARE = FormatTraits(name="harmony-tokens", reader=without_texts)


def read(format: FormatTraits, chunks: list[bytes]) -> list[Event]:
    parser = Parser(format)
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return [event for event in events + parser.close() if not isinstance(event, Grew)]


def told(format: FormatTraits, data: bytes, ids: Callable[[bytes], str] | None = None) -> list[str]:
    """Return the events, one line each, after checking that they are the same for every cut of the input."""
    whole = read(format, [data])
    settled = [event for event in whole if not isinstance(event, Opened)]
    for cut in range(len(data) + 1):
        again = read(format, [data[:cut], data[cut:]])
        assert [event for event in again if not isinstance(event, Opened)] == settled
    again = read(format, [data[at : at + 1] for at in range(len(data))])
    assert [event for event in again if not isinstance(event, Opened)] == settled
    return [line for event in whole if (line := line_of(event, data, ids))]


def line_of(event: Event, data: bytes, ids: Callable[[bytes], str] | None) -> str | None:
    if isinstance(event, Closed):
        message = event.message
        header = message.header
        body = read_body(message.pieces, lambda start, end: data[start:end], ids or body_of_ids).text
        words = [header.role, header.recipient, header.channel_given, header.content_type, message.ending.value]
        return f"{message.number} {' '.join(str(word) for word in words)}: {body}"
    if isinstance(event, Found):
        return f"{event.code} {event.reason} {data[event.start : event.end].decode()!r}"
    if isinstance(event, Strayed):
        return f"stray {data[slice(*event.stray.span)].decode()!r}"
    return f"transcript {event.transcript.number}" if isinstance(event, Started) else None


def as_array(ids: list[int]) -> bytes:
    return json.dumps(ids).encode()


@pytest.mark.parametrize(
    "data",
    [
        as_array(GUIDE),
        "\n".join(map(str, GUIDE)).encode(),
        "\r\n".join(map(str, GUIDE)).encode() + b"\r\n",
        b" , ".join(b"%d" % number for number in GUIDE),
        json.dumps(GUIDE, indent=1).encode(),
    ],
)
def test_the_ids_of_the_guide_are_two_messages_in_every_layout(data: bytes) -> None:
    assert [line for line in told(BARE, data) if line[0].isdigit()] == [
        "1 assistant None analysis None end: ⟨1844⟩⟨31064⟩⟨25⟩",
        "2 assistant None final None return: ⟨17⟩⟨13⟩",
    ]


def test_body_pieces_run_from_the_first_to_after_the_last_number() -> None:
    data = as_array([START, USER, MESSAGE, 1, 2, END])
    closed = [event.message for event in read(BARE, [data]) if isinstance(event, Closed)]
    (message,) = closed
    assert [data[piece.start : piece.end] for piece in message.pieces] == [b"1, 2"]
    assert message.body_span is None
    assert data[slice(*message.span)] == b"200006, 1428, 200008, 1, 2, 200007"
    assert message.stop is not None
    assert data[slice(*message.stop)] == b"200007"


def test_an_empty_body_is_an_empty_piece_after_the_message_mark() -> None:
    data = as_array([START, USER, MESSAGE, END])
    (message,) = [event.message for event in read(BARE, [data]) if isinstance(event, Closed)]
    at = data.index(b"200008") + 6
    assert [(piece.start, piece.end) for piece in message.pieces] == [(at, at)]


def test_a_constraint_that_text_spells_is_none() -> None:
    data = as_array([START, ASSISTANT, TO, 3, CHANNEL, *COMMENTARY, 4, JSON, MESSAGE, 5, CALL])
    (message,) = [event.message for event in read(WITH_TEXTS, [data]) if isinstance(event, Closed)]
    assert (message.header.recipient, message.header.constrained) == ("functions.f", False)


def test_a_real_constraint_is_one() -> None:
    data = as_array([START, ASSISTANT, TO, 3, CHANNEL, *COMMENTARY, CONSTRAIN, JSON, MESSAGE, 5, CALL])
    assert told(WITH_TEXTS, data, lambda body: body_of_ids(body, spell))[-1] == (
        "1 assistant functions.f commentary json call: {}"
    )


def test_text_that_spells_a_control_token_is_text() -> None:
    data = as_array([START, USER, MESSAGE, 1, 2, 1, END])
    assert told(WITH_TEXTS, data, lambda body: body_of_ids(body, spell)) == [
        "transcript 1",
        "1 user None None None end: Hello <|end|>Hello",
    ]


def test_a_spelled_token_in_a_header_is_text_too() -> None:
    data = as_array([START, ASSISTANT, CHANNEL, FINAL, 2, MESSAGE, 1, END])
    (message,) = [event.message for event in read(WITH_TEXTS, [data]) if isinstance(event, Closed)]
    assert message.header.malformed
    assert "\ufdd0" not in repr(message.header)


def test_a_character_may_be_spread_over_two_ids() -> None:
    assert body_of_ids(b"6, 7", spell) == "€"


def test_bodies_spell_control_tokens_words_and_unknown_ids() -> None:
    assert body_of_ids(b"200003, 4108\n17 -1 999999", None) == "<|constrain|>json⟨17⟩⟨?⟩⟨999999⟩"


@pytest.mark.parametrize("item", ["-5", "1.5", "999999", "1e3", "null", '"a, b]"', '"a\\"b"', "{x}", "9" * 40])
def test_an_invalid_item_is_reported_at_its_position_and_reading_continues(item: str) -> None:
    data = f"[{START}, {USER}, {MESSAGE}, {item}, {END}]".encode()
    lines = told(BARE, data)
    assert lines[:2] == ["transcript 1", f"E-PARSE-HEADER not-a-message {item!r}"]
    assert lines[2].startswith("1 user None None None end: ⟨")


def test_a_truncated_array_is_an_open_message() -> None:
    data = as_array([START, USER, MESSAGE, 17, 18])[:-1]
    assert told(BARE, data) == [
        "transcript 1",
        "E-STREAM-TRUNCATED body ''",
        "1 user None None None open: ⟨17⟩⟨18⟩",
    ]


def test_truncation_is_reported_after_the_last_number() -> None:
    data = as_array([START, USER, MESSAGE, 17, 18])[:-1] + b"  "
    (found,) = [event for event in read(BARE, [data]) if isinstance(event, Found)]
    assert (found.start, found.end) == (len(data) - 2, len(data) - 2)


def test_each_array_is_a_transcript() -> None:
    one = as_array([START, USER, MESSAGE, 17, END])
    assert told(BARE, one + b"\n" + one) == [
        "transcript 1",
        "1 user None None None end: ⟨17⟩",
        "transcript 2",
        "2 user None None None end: ⟨17⟩",
    ]


def test_a_second_array_after_a_faulty_first_is_the_second_transcript() -> None:
    data = b"[x] " + as_array([START, USER, MESSAGE, END])
    assert [line for line in told(BARE, data) if line.startswith("transcript")] == ["transcript 1", "transcript 2"]


def test_ids_between_messages_are_one_stray_text() -> None:
    data = as_array([START, USER, MESSAGE, 17, END, 18, 19, START, USER, MESSAGE, END])
    lines = told(BARE, data)
    assert "stray '18, 19'" in lines
    assert lines.count("W-TEXT-BETWEEN None '18, 19'") == 1


@pytest.mark.parametrize("data", [b"", b"[]", b"[", b"  \n", b"[[]]"])
def test_an_empty_list_has_no_messages(data: bytes) -> None:
    assert told(BARE, data) == []


def test_the_format_reads_the_guide_too() -> None:
    assert [event.message.number for event in read(HARMONY_TOKENS, [as_array(GUIDE)]) if isinstance(event, Closed)]


CONTROL_MARK = re.compile(rb"<\|(?:return|constrain|channel|start|end|message|call)\|>")
IDS_OF_MARKS = {mark: number for number, mark in CONTROL.items()}


def byte_of(number: int) -> bytes:
    """Return the byte of an id, in a vocabulary with a token for each byte."""
    if number >= 256:
        raise KeyError(number)
    return bytes([number])


def read_bytes(record: Recorder, options: ReadOptions) -> Reader:
    return TokenIdReader(record, options, byte_of)


BYTES = FormatTraits(name="harmony", reader=read_bytes)


def encoded(text: bytes) -> bytes:
    ids: list[int] = []
    at = 0
    for mark in CONTROL_MARK.finditer(text):
        ids += [*text[at : mark.start()], IDS_OF_MARKS[mark[0]]]
        at = mark.end()
    return as_array([*ids, *text[at:]])


def gist(format: FormatTraits, data: bytes, ids: Callable[[bytes], str] | None = None) -> list[object]:
    """Return the parsed messages without positions."""
    gists: list[object] = []
    for event in read(format, [data]):
        if isinstance(event, Closed):
            message = event.message
            body = read_body(message.pieces, lambda start, end: data[start:end], ids).text
            gists.append((message.number, message.header, message.ending, message.broke_out, body))
        elif isinstance(event, Found):
            gists.append((event.code, event.reason, event.message))
        else:
            gists.append(type(event))
    return gists


@each(
    "text",
    [
        "<|start|>user<|message|>Grüße 😀<|end|>",
        "<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>",
        "<|start|>assistant to=f<|channel|>commentary json<|message|>{}<|call|>",
        "…<|end|><|return|>",
        "<|call|>commentary<|channel|>commentary to=functions.b <|constrain|>json<|message|>{}<|call|>",
        "<|start|><|start|>assistant<|channel|>final<|message|>ok<|return|>",
        "<|start|>assistant<|channel|>analysis<|channel|>commentary to=functions.b<|message|>x<|call|>",
        "<|channel|>commentary?commentary?<|message|>x",
        "<|start|>assistant<|channel|>final answer here<|return|>",
        "We must refuse.<|end|><|start|>assistant<|channel|>final<|message|>Sorry<|return|>",
        "<|start|>assistant<|channel|>analysis<|message|>text<|start|>assistant<|channel|>final<|message|>ok",
        "<|start|>assistant<|channel|>commentary<|message|><|constrain|> json{}<|end|>",
        "<|start|>user<|message|>a<|end|><|start|>assistant",
        "stray <|start|>user<|message|>{",
        "analysisWe need that.assistantfinalHello",
    ],
)
def test_ids_are_read_as_the_text_they_spell(text: str) -> None:
    data = text.encode()
    assert gist(BYTES, encoded(data), lambda body: body_of_ids(body, byte_of)) == gist(HARMONY, data)


def test_without_the_vocabularys_data_there_is_no_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    load_vocabulary.cache_clear()
    assert load_vocabulary() is None
    load_vocabulary.cache_clear()


def test_a_vocabulary_on_this_machine_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "tiktoken"
    package.mkdir()
    (package / "__init__.py").write_text(FAKE)
    (package / "load.py").write_text("")
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_text("")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    load_vocabulary.cache_clear()
    assert body_of_ids(b"17") == "seventeen"
    load_vocabulary.cache_clear()
    for name in ("tiktoken", "tiktoken.load"):
        monkeypatch.delitem(sys.modules, name)


FAKE = """
class Encoding:
    def decode_single_token_bytes(self, number):
        return {17: b"seventeen"}[number]

def get_encoding(name):
    return Encoding()
"""


ITEMS = st.sampled_from(["200002", "200003", "200005", "200006", "200007", "200008", "200012", "173781", "1428"])
TEXT_ITEMS = st.sampled_from(["35644", "17196", "12606 815", "316", "4108", "1", "2", "3", "-1", "x", '"', "[", "]"])


@pytest.mark.slow
@given(st.lists(ITEMS | TEXT_ITEMS, max_size=25), st.data())
def test_cuts_change_nothing(items: list[str], draw: st.DataObject) -> None:
    data = " ".join(items).encode()
    cut = draw.draw(st.integers(0, len(data)))
    whole = [event for event in read(WITH_TEXTS, [data]) if not isinstance(event, Opened)]
    assert [event for event in read(WITH_TEXTS, [data[:cut], data[cut:]]) if not isinstance(event, Opened)] == whole


@pytest.mark.slow
def test_many_ids_in_one_body_and_in_many_messages_are_read_in_time() -> None:
    parser = Parser(BARE)
    parser.feed(as_array([START, USER, MESSAGE, *range(20_000)]))
    parser = Parser(BARE)
    parser.feed(as_array([START, USER, MESSAGE, 17, END] * 5_000))
    assert isinstance(parser.close(), list)
