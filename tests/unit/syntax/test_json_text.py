"""JSON text: validity, positions, tolerance, and time that grows no faster than the text."""

from __future__ import annotations

import json
import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.cases import each
from viewer.syntax import json_survey, json_text
from viewer.syntax.json_text import JsonKind, JsonNode, check_json, duplicate_keys, plain_object, read_json, string_body

FAULTS = [
    ('{"ok":true,"content":{"temp":23,"rain":light}}', "json-malformed", "light"),
    ("", "empty", ""),
    (" \n", "empty", ""),
    ('{"a":1,}', "json-malformed", "}"),
    ("[1,]", "json-malformed", "]"),
    ("[1,,2]", "json-malformed", ","),
    ("[1 2]", "json-malformed", "2"),
    ("[01]", "json-malformed", "01"),
    ("[+1]", "json-malformed", "+1"),
    ("[.5]", "json-malformed", ".5"),
    ("NaN", "json-malformed", "NaN"),
    ("[-Infinity]", "json-malformed", "-Infinity"),
    ("{a: 1}", "json-malformed", "a"),
    ("{'a': 1}", "json-malformed", "'a'"),
    ('{"a" 1}', "json-malformed", "1"),
    ('{"a"}', "json-malformed", "}"),
    ("[}", "json-malformed", "}"),
    ('"a\nb"', "json-malformed", "\n"),
    ('"a\\xb"', "json-malformed", "\\x"),
    ("[“a”]", "json-malformed", "“"),
    ('["a", light”]', "json-malformed", "light”"),
    ('{"a":1} x y ', "json-trailing", "x y"),
    ("[1]]", "json-trailing", "]"),
    ("[1,2", "json-truncated", ""),
    ('"a', "json-truncated", ""),
    ('"a\\', "json-truncated", ""),
    ('{"a":tru', "json-truncated", ""),
    ("[1.", "json-truncated", ""),
    ("-", "json-truncated", ""),
    ('{"a"', "json-truncated", ""),
    ("[" * 201, "json-too-deep", "["),
]
VALID = [
    "{}",
    "[]",
    "null",
    " true ",
    "-0.5e+3",
    '"\\u00e9\\ud83d\\ude00"',
    '{"a":[1,{"b":null}]}',
    '"\\ud800"',
    "9" * 5000,
]
VALID += ["[" * 200 + "]" * 200, '"he said “hi”, so"', '"\x7f"', "1e400"]


@each("text, reason, blamed", FAULTS)
def test_a_fault_covers_the_offending_bytes_and_nothing_else(text: str, reason: str, blamed: str) -> None:
    data = text.encode()
    fault = check_json(data, base=100)
    assert fault is not None
    assert fault.reason == reason
    assert data[fault.offset - 100 : fault.end - 100].decode() == blamed


@each("text", VALID)
def test_valid_json_has_no_fault(text: str) -> None:
    assert check_json(text.encode()) is None
    assert read_json(text.encode()).fault is None


def test_missing_text_is_reported_at_the_end() -> None:
    fault = check_json(b'{"a":', base=7)
    assert fault is not None
    assert (fault.reason, fault.offset, fault.end) == ("json-truncated", 12, 12)


def test_nodes_know_their_places() -> None:
    data = ' {"é": "x\\n", "k": ["y", 12]}'.encode()
    node = read_json(data, base=50).node
    assert node is not None
    first, second = node.members
    assert data[first.key_start - 50 : first.key_end - 50] == '"é"'.encode()
    assert data[first.value.start - 50 : first.value.end - 50] == b'"x\\n"'
    assert (first.value.text, first.value.plain) == ("x\n", False)
    assert (second.value.items[0].text, second.value.items[0].plain) == ("y", True)
    assert second.value.items[1].text == "12"
    assert data[second.value.start - 50 : second.value.end - 50] == b'["y", 12]'


def test_the_last_duplicate_key_wins_and_all_are_kept() -> None:
    node = read_json(b'{"a": 1, "a": 2}').node
    assert node is not None
    assert [member.value.text for member in node.members] == ["1", "2"]
    assert node.to_python() == {"a": 2}
    value = node.get("a")
    assert value is not None
    assert value.text == "2"
    assert value.get("a") is None


def test_duplicate_keys_are_found_even_if_one_is_escaped() -> None:
    data = b'{"a": {"b": 1, "c": 2, "b": 3, "b": 4}, "\\u0061": 4, "b": "a"}'
    found = duplicate_keys(data, base=9)
    assert [(data[one.start - 9 : one.end - 9], one.count) for one in found] == [(b'"b"', 2), (b'"\\u0061"', 1)]
    assert duplicate_keys(b'[{"a": 1}, {"a": 2}]') == []


def test_a_run_of_members_may_hold_in_a_string_what_looks_like_a_key() -> None:
    data = b'{"k": [1], "a": "x, \\"k\\":", "k": 2, "z": 3}'
    assert [(one.start, one.count) for one in duplicate_keys(data)] == [(data.rindex(b'"k"'), 1)]


def test_keys_beyond_the_limit_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_survey, "MOST_KEYS", 2)
    assert [one.count for one in duplicate_keys(b'{"a":[], "b":[], "c":[], "c":[], "a":[]}')] == [1]


SOME_JSON = b'{"a": [1, "x\\u00e9", {"b": null, "b": -0.5e3}, []], "c": {}, "d": [true, [false]]}'


def test_long_text_has_the_same_faults_as_short_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [text.encode() for text, _, _ in FAULTS]
    for at in range(len(SOME_JSON) + 1):
        texts += [SOME_JSON[:at], SOME_JSON[:at] + SOME_JSON[at + 1 :]]
        texts += [
            SOME_JSON[:at] + byte + SOME_JSON[at:] for byte in (b",", b"}", b"]", b"{", b'"', b"\xff", b"x", b"\\")
        ]
    short = [check_json(text) for text in texts]
    monkeypatch.setattr(json_text, "LONGEST_GLANCED", -1)
    for text, fault in zip(texts, short, strict=True):
        assert check_json(text) == fault, text


def test_trailing_commas_and_raw_newlines_are_accepted_and_noted() -> None:
    data = b'[ {"a": "x\ny", }, ]'
    reading = read_json(data)
    assert reading.node is not None
    assert reading.node.to_python() == [{"a": "x\ny"}]
    assert reading.fault is None
    assert [data[start:end] for start, end in reading.lenient] == [b"\n", b",", b","]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"token": "<|message|>”}', {"token": "<|message|>"}),
        ('[{"a": "b”},\n "c"]', [{"a": "b"}, "c"]),
        ("{“a”: “b”, “c”: 1}", {"a": "b", "c": 1}),
        ('["he “hi”, so”, "x"]', ["he “hi”, so", "x"]),
    ],
)
def test_reading_continues_after_curly_quotes(text: str, value: object) -> None:
    reading = read_json(text.encode())
    assert reading.node is not None
    assert reading.node.to_python() == value
    assert reading.fault is not None
    assert text.encode()[reading.fault.offset : reading.fault.end].decode() in "“”"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1, "b": [2, "x', {"a": 1, "b": [2, "x"]}),
        ('{"a": 1, oops', {"a": 1}),
        ('[1, {"b"', [1, {}]),
        ('{"c": "he “hi”, so', {"c": "he “hi”, so"}),
        ('{"a": light, "b": 2}', {"a": None, "b": 2}),
    ],
)
def test_after_a_fault_the_value_so_far_is_kept(text: str, value: object) -> None:
    reading = read_json(text.encode())
    assert reading.node is not None
    assert reading.node.to_python() == value
    assert reading.fault is not None


def test_reading_begins_at_an_offset_and_returns_where_it_stopped() -> None:
    reading = read_json(b'{"a":1} {"b":2}', base=10, start=7)
    assert reading.node is not None
    assert reading.node.to_python() == {"b": 2}
    assert (reading.node.start, reading.end) == (18, 25)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b'"plain"', "plain"),
        (b'"a\\n\\"b\\" \\u00e9 \\ud83d\\ude00"', 'a\n"b" é 😀'),
        (b'"\\ud800x"', "�x"),
        (b'"raw\nline"', "raw\nline"),
        (b'"bad \\x escape \\n"', "bad \\x escape \n"),
        (b'"open \\"', 'open "'),
        (b'"open', "open"),
        (b'"\xff"', "�"),
        ("“curly\\n".encode(), "curly\n"),
        (b"", ""),
    ],
)
def test_a_string_is_decoded_whatever_is_wrong_with_it(source: bytes, text: str) -> None:
    assert string_body(source) == text


@pytest.mark.slow
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_written_values_are_read_back(value: object) -> None:
    for text in (json.dumps(value, ensure_ascii=False), json.dumps(value, indent=1)):
        data = text.encode("utf-8", "surrogatepass")
        assert check_json(data) is None
        reading = read_json(data)
        assert reading.node is not None
        assert (reading.end, reading.faults, reading.lenient) == (len(data), [], [])
        if "\\ud" not in text:
            assert reading.node.to_python() == value


@pytest.mark.slow
@given(st.text(alphabet='[]{}",:\\u”“aé1-.\n tn') | st.binary())
def test_no_text_raises_and_both_readers_agree_on_validity(text: str | bytes) -> None:
    data = text.encode() if isinstance(text, str) else text
    reading = read_json(data)
    fault = check_json(data)
    duplicate_keys(data)
    if fault is None:
        assert not reading.faults
        assert not reading.lenient
    try:
        json.loads(data.decode("utf-8", "replace"), parse_constant=lambda _: pytest.fail("NaN"))
    except ValueError:
        assert fault is not None
    else:
        assert fault is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'"\\"' * 200_000,
        '["a”, '.encode() * 50_000,
        ('["' + "”, " * 50_000).encode(),
        b"1" * 500_000,
    ],
    ids=["arrays", "objects", "escaped quotes", "curly quotes", "curly strings", "digits"],
)
def test_hostile_text_takes_linear_time(data: bytes) -> None:
    began = time.process_time()
    check_json(data)
    read_json(data)
    duplicate_keys(data)
    assert time.process_time() - began < 3


def test_depth_in_strings_does_not_count() -> None:
    assert check_json(b'["' + b"[" * 1000 + b'"]') is None


def test_a_node_that_is_not_an_object_has_no_members() -> None:
    assert JsonNode(JsonKind.NULL, 0, 4).get("a") is None


STRINGS = ("a", ":", '\\"', "\\\\", "\\n", "é", "\\u00e9", "\\ud800", '":', '\\":', "\x7f", "\x01", '"', "\\x", "日")
ATOMS = ("1", "-0", "1.5e3", "1e999", "01", "1.", "NaN", "9" * 50, "true", "null", "nul", "1E-400")
NAMES = ('"a"', '"a"', '"b"', '"ok"', '"c:"', '"d\\""', '"e\\\\"', '"\\u0061"')
SPACES = ("", "", "", " ", "\n", "\t ", "\f")


def json_by_chance(chance: Random, depth: int = 0) -> str:
    """Return random JSON with repeated keys and faults."""
    match chance.randrange(7 if depth < 4 else 4):
        case 0 | 1:
            return chance.choice(ATOMS)
        case 2 | 3:
            return (
                '"' + "".join(chance.choice(STRINGS[:11] if chance.random() < 0.9 else STRINGS) for _ in range(3)) + '"'
            )
        case 4:
            return "[" + ",".join(json_by_chance(chance, depth + 1) for _ in range(chance.randrange(3))) + "]"
    members = []
    for _ in range(chance.randrange(4)):
        before, after = chance.choice(SPACES), chance.choice(SPACES)
        members.append(f"{before}{chance.choice(NAMES)}{after}:{json_by_chance(chance, depth + 1)}")
    return "{" + ",".join(members) + "}"


def test_an_object_that_is_read_quickly_is_that_of_the_careful_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []
    for number in range(6000):
        chance = Random(number)
        data = bytearray(json_by_chance(chance).encode())
        if number % 3 == 0:
            data[chance.randrange(len(data))] = chance.choice(b'":,{}[] \\\n0\xff')
        texts.append(bytes(data))
    quick = [plain_object(data) for data in texts]
    assert sum(value is not None for value in quick) > 400
    monkeypatch.setattr(json_text, "_quick_object", lambda _: None)
    for text, value in zip(texts, quick, strict=True):
        assert repr(value) == repr(plain_object(text)), text
