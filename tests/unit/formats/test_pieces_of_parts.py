"""Labels, line breaks, and halves of characters in text that is split at hidden parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.reading import read, read_cut
from viewer.formats.json import content_parts
from viewer.model.messages import Coding, Piece
from viewer.reading.bodies import Body, ByteRun, read_body

PNG = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
LABEL = "[image/png, 8 B]"
CALL = '<tool_call>{"name": "f", "arguments": {"k": "SECRET"}}</tool_call>'
REPLY = "<tool_response>SECRET</tool_response>"
HIDDEN = {"call": CALL, "reply": REPLY, "thought": "<think>SECRET</think>", "open call": CALL[:-12]}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def parts(*content: object) -> str:
    return json.dumps([{"role": "assistant", "content": list(content)}])


def said(document: str) -> list[str]:
    reading = read(document, "json")
    heads = [(one.header.role, one.header.channel_given, one.header.recipient) for one in reading.messages]  # type: ignore[attr-defined]
    return [body for body, head in zip(reading.texts, heads, strict=True) if head == ("assistant", None, None)]


@pytest.mark.parametrize("hidden", ["call", "reply"])
def test_a_label_before_and_after_a_hidden_part_stays_whole(hidden: str) -> None:
    document = parts(text("See"), PNG, text(f"{HIDDEN[hidden]}and"), PNG, text("Done."))
    assert said(document) == [f"See\n{LABEL}", f"and\n{LABEL}\nDone."]


def test_labels_around_a_hidden_part_stay_whole() -> None:
    assert said(parts(PNG, text(CALL), PNG)) == [LABEL, LABEL]


def test_a_label_in_a_hidden_part_is_hidden() -> None:
    document = parts(text("a<tool_call>x"), PNG, text("y</tool_call>b"))
    assert said(document) == ["a", "b"]
    assert [body for body in read(document, "json").texts if LABEL in body] == [f"x\n{LABEL}\ny"]


@pytest.mark.parametrize("hidden", HIDDEN)
def test_halves_of_a_character_in_two_parts_stay_together(hidden: str) -> None:
    """The last character before a hidden part, or the first one after it, begins in one string and ends in the next."""
    before = '[{"role":"assistant","content":[{"type":"text","text":"a\\ud83d"},{"type":"text","text":"\\ude00'
    escaped = json.dumps(f"\n{HIDDEN[hidden]}")[1:-1]
    assert said(f'{before}{escaped}"}}]}}]')[0] == "a😀"
    if hidden != "open call":
        middle = '\\ud83d"},{"type":"text","text":"\\ude00z"}]}]'
        start = f'[{{"role":"assistant","content":[{{"type":"text","text":"a{escaped}'
        assert said(start + middle)[-1] == "😀z"


@pytest.mark.parametrize("hidden", HIDDEN)
def test_any_cut_gives_the_same_result(hidden: str) -> None:
    words = f"\\ude00 b {json.dumps(HIDDEN[hidden])[1:-1]} c\\ud83d"
    halves = [f'{{"type":"text","text":"{one}"}}' for one in ("a\\ud83d", words, "\\ude00d")]
    content = ",".join([halves[0], halves[1], halves[2], json.dumps(PNG)])
    document = f'[{{"role":"assistant","content":[{content}]}}]'.encode()
    whole = read(document, "json")
    assert "�" not in "".join(whole.texts)
    for step in (1, 5, 32):
        assert read_cut(document, "json", range(step, len(document), step)) == whole


class CountedRuns(list[ByteRun]):
    """The runs of a body, with a count of accesses."""

    reads = 0

    def __getitem__(self, index: Any) -> Any:
        CountedRuns.reads += 1
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[ByteRun]:
        return (self[index] for index in range(len(self)))


def reads_of_runs(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the number of runs visited when splitting the text of `count` strings, each with a hidden part."""
    string = json.dumps(f"a{REPLY}").encode()
    pieces = [Piece(at, at + len(string), Coding.JSON_STRING) for at in range(0, count * len(string), len(string))]
    data = string * count

    def read_counted(pieces: tuple[Piece, ...], read: Callable[[int, int], bytes]) -> Body:
        body = read_body(pieces, read)
        assert len(body.runs) >= count
        return Body(body.data, CountedRuns(body.runs))

    monkeypatch.setattr(content_parts, "read_body", read_counted)
    CountedRuns.reads = 0
    assert len(content_parts.split_content(pieces, lambda start, end: data[start:end], "assistant")) >= count
    return CountedRuns.reads


def test_twice_the_parts_take_about_twice_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = (reads_of_runs(count, monkeypatch) for count in (300, 600))
    assert 300 <= small < large <= 2.5 * small
