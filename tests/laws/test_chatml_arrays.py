"""A ChatML array that is read without a tree of its values yields the same events as with the careful reader."""

from __future__ import annotations

import json
from random import Random

import pytest

from tests.laws.test_message_batches import TEXTS as CHECKED_TEXTS
from tests.support.native import BOTH_WAYS, using
from tests.support.reading import read, read_batched
from tests.support.samples import samples
from viewer.formats import FORMATS
from viewer.formats.containers.documents import JsonDocuments
from viewer.formats.json import chatml, chatml_frames
from viewer.formats.json.chatml import ChatMLJsonReader
from viewer.formats.json.chatml_frames import RegularArray, RegularFrames
from viewer.model.events import ClosedBatch, Event
from viewer.reading import recorder
from viewer.reading.parser import Parser

ROLES = ("user", "assistant", "Assistant", "system", "system:example_user", "assistant:example_assistant")
ODD_ROLES = ("tool", " user", "", "us\\u0065r", "assistant:", "User")
TEXTS = (
    *("", "Hello", 'a\\nb \\"c\\" \\\\', "\\u00e9\\ud83d\\ude00", "\\ud83d", "\u4f60\u597d", "]", "<|end_message|>"),
    *('{\\"token\\": \\"<|start|>\\"}', "\u201cq\u201d"),
)
ODD_TEXTS = ("\t", "\\x", "\\u12", "line\nend", "\x00", "\x7f")
SPACES = ("", "", "", " ", "\n", " \t\r\n ")


def array_of(chance: Random) -> bytes:
    """Return an array of a few messages, some of which are irregular."""
    odd = chance.random() < 0.5

    def space() -> str:
        return chance.choice(SPACES)

    def token(name: str) -> str:
        name = chance.choice(["start", "message", "end_message", "other"]) if odd and chance.random() < 0.05 else name
        return space().join(["{", '"token"', ":", f'"<|{name}|>"', "}"])

    parts = []
    for _ in range(chance.randint(0, 5)):
        role = chance.choice(ODD_ROLES if odd and chance.random() < 0.1 else ROLES)
        text = "".join(chance.choice(TEXTS) for _ in range(chance.randint(0, 3)))
        text += chance.choice(ODD_TEXTS) if odd and chance.random() < 0.1 else ""
        items = [token("start"), f'"{role}"', token("message"), f'"{text}"', token("end_message")]
        if odd and chance.random() < 0.2:
            items.insert(chance.randrange(6), chance.choice(['"more"', "1", "null", token("start"), '{"a": 1}']))
        if odd and chance.random() < 0.1:
            del items[chance.randrange(len(items))]
        parts += items
    after = "," if odd and chance.random() < 0.1 else ""
    text = space() + "[" + space() + f"{space()},{space()}".join(parts) + after + space() + "]" + space()
    return (text * chance.choice((1, 1, 2))).encode()


def events_of(data: bytes, cuts: list[int]) -> list[Event]:
    parser = Parser(FORMATS["chatml-json"])
    events = [
        event
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)
        for event in parser.feed(data[start:end])
    ]
    return [*events, *parser.close()]


def careful(data: bytes, cuts: list[int]) -> list[Event]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ChatMLJsonReader, "read_in_place", lambda reader, at, end: False)
        return events_of(data, cuts)


@pytest.mark.share(quick=0, test=3)
@pytest.mark.parametrize("part", range(3))
def test_random_arrays_read_as_on_the_slow_path(part: int) -> None:
    in_place = 0
    for seed in range(part, 3000, 3):
        chance = Random(seed)
        data = array_of(chance)
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 0, 1, 3))))
        wanted = careful(data, cuts)
        for way in BOTH_WAYS:
            with using(way):
                assert events_of(data, cuts) == wanted, (way, seed, data)
        in_place += is_regular(data)
    assert in_place > 200


def is_regular(data: bytes) -> bool:
    """True if an array is read in place."""
    bare = data.strip(b" \t\r\n")
    array = RegularArray(0)
    return array.end(bare, 0) == len(bare) and array.is_whole


def test_an_array_is_read_in_place_wherever_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    items = '{"token": "<|start|>"}, "user", {"token": "<|message|>"}, "a\\nb", {"token": "<|end_message|>"}'
    data = f" [{', '.join([items] * 4)} ]\n".encode()
    wanted = careful(data, [])
    monkeypatch.setattr(JsonDocuments, "read_value", None)
    for way in BOTH_WAYS:
        with using(way):
            for cut in range(len(data) + 1):
                assert events_of(data, [cut, min(cut + len(data) // 2, len(data))]) == wanted, (way, cut)


@pytest.mark.parametrize("count", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_mutated_samples_read_as_on_the_slow_path(count: int) -> None:
    found = [sample for sample in samples() if sample.name.startswith("valid/chatml-json/")]
    assert found
    for number, sample in enumerate(found):
        for seed in range(count):
            chance, data = Random(1000 * number + seed), bytearray(sample.text)
            for _ in range(chance.randint(0, 3)):
                at = chance.randrange(len(data))
                data[at : at + chance.randint(0, 2)] = chance.choice((b'"', b"\\", b",", b"]", b" ", b"\x01", b"x"))
            wanted = careful(bytes(data), [])
            for way in BOTH_WAYS:
                with using(way):
                    assert events_of(bytes(data), []) == wanted, (way, sample.name, bytes(data))


CONTENTS = tuple(json.dumps(text, ensure_ascii=False)[1:-1] for text in CHECKED_TEXTS)


def checked_array_of(chance: Random) -> bytes:
    """Return an array of messages with text that the checks examine."""
    roles = chance.choice((ROLES, ROLES[:2], ("system", "user", "assistant")))
    space = chance.choice(("", " ", "\n", chance.choice(SPACES), "\r\n"))
    parts = []
    for _ in range(chance.randint(1, 12)):
        text = "".join(chance.choice(CONTENTS if chance.random() < 0.4 else TEXTS) for _ in range(chance.randint(0, 3)))
        parts += ['{"token": "<|start|>"}', f'"{chance.choice(roles)}"', '{"token": "<|message|>"}', f'"{text}"']
        parts += ['{"token": "<|end_message|>"}']
    text = f"[{f',{space}'.join(parts)}]{chance.choice(SPACES)}"
    data = (text * chance.choice((1, 1, 3))).encode("utf-8", "surrogatepass")
    if chance.random() < 0.1:
        at = chance.randrange(len(data))
        data = data[:at] + chance.choice((b"\xff", b"\x00", b"\r", b"\xed\xa0\x80", b" ")) + data[at:]
    return data


def compare_checked(seeds: range, patched: pytest.MonkeyPatch) -> int:
    """Read random arrays as columns and compare the results with those of the careful reader."""
    sizes: list[int] = []
    count = recorder.Recorder.count_batch

    def counted(self: recorder.Recorder, batch: ClosedBatch) -> None:
        count(self, batch)
        sizes.append(len(batch))

    patched.setattr(recorder.Recorder, "count_batch", counted)
    for seed in seeds:
        chance = Random(f"checked {seed}")
        data = checked_array_of(chance)
        cuts = [chance.randrange(len(data) + 1) for _ in range(chance.choice((0, 0, 1, 3)))]
        with pytest.MonkeyPatch.context() as slow:
            slow.setattr(ChatMLJsonReader, "read_in_place", lambda reader, at, end: False)
            wanted = read(data, "chatml-json")
        for module in (chatml, recorder):
            patched.setattr(module, "SMALLEST_BATCH", chance.choice((1, 1, 4)))
        patched.setattr(chatml_frames, "MOST_SIGNED_TOGETHER", chance.choice((1, 3, 1024)))
        assert read_batched(data, "chatml-json", cuts, chance.choice((0, 300, 5000))) == wanted, (seed, data, cuts)
    return sum(sizes)


@pytest.mark.slow
def test_random_arrays_read_and_check_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_checked(range(250), monkeypatch) > 1000


@pytest.mark.lab
def test_many_random_arrays_read_the_same_as_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compare_checked(range(250, 6000), monkeypatch) > 20_000


def test_a_fault_in_the_columns_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RegularFrames, "_signed", lambda frames, data, base: bytearray(len(frames.roles)))
    with pytest.raises(AssertionError):
        compare_checked(range(250), monkeypatch)
