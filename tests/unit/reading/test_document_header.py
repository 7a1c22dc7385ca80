"""The YAML document header: everything is a string, rejected text has an exact position, and no bytes raise an
exception."""

import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaml.scanner import Scanner

from tests.support.cases import each
from viewer.reading.document_header import HarmonyProfile, profile, read_document_header
from viewer.syntax.yaml_events import read_events
from viewer.syntax.yaml_reader import DEEPEST, YamlFault, read_yaml
from viewer.syntax.yaml_writer import write_yaml

SIZE = 64 * 1024
LONGEST_TIME = 8 if sys.gettrace() else 1.5
"""In seconds of CPU time. Coverage measurement slows everything down."""

VALUES = [
    ("version: 2.10", {"version": "2.10"}),
    ("version: 2.2   # required", {"version": "2.2"}),
    (
        "a: null\nb: ~\nc: true\nd: 1_0\ne: 2025-01-01",
        {"a": "null", "b": "~", "c": "true", "d": "1_0", "e": "2025-01-01"},
    ),
    ("a:\nb: ''\nc: \"\"", {"a": "", "b": "", "c": ""}),
    ("a: [x, {y: z}, 'q']\nb:\n- 1\n- k: v", {"a": ["x", {"y": "z"}, "q"], "b": ["1", {"k": "v"}]}),
    ("a: |\n  one\n  two\nb: >-\n  one\n  two", {"a": "one\ntwo\n", "b": "one two"}),
    ("---\nversion: 2.2\n---\n", {"version": "2.2"}),
    ("--- # first\nversion: 2.2\n--- # last\n# and more\n\n", {"version": "2.2"}),
    ("# c\n---\nversion: 2.2\n...\n", {"version": "2.2"}),
    ("version: 2.2\n...\n...\n", {"version": "2.2"}),
    ("\ufeffversion: 2.2\r\nmodel: m\r\n", {"version": "2.2", "model": "m"}),
    ('"<<": a\n? b\n: c', {"<<": "a", "b": "c"}),
    ("tokens: [\"<|start|>\", '<|end|>']", {"tokens": ["<|start|>", "<|end|>"]}),
    ('a: "\\uD83D\\uDE00 \\ud800 \\e"', {"a": "😀 \ufffd \x1b"}),
    ("", ""),
    ("# nothing\n", ""),
    ("---\n---\n", ""),
    ("word", "word"),
    ("- a", ["a"]),
    ("a: " + "[" * 31 + "]" * 31, None),
]

REFUSED = [
    (b"a: 1\nb: &x 2\nc: 3", b"&x", {"a": "1"}),
    (b"a: 1\nb: *x", b"*x", {"a": "1"}),
    (b"a: 1\nb: !!str 2", b"!!str", {"a": "1"}),
    (b"a: 1\nb: !t {x: y}", b"!t", {"a": "1"}),
    (b"a: {k: 1, b: &x 2}", b"&x", {"a": {"k": "1"}}),
    (b"a: 1\n<<: {b: 2}", b"<<", {"a": "1"}),
    (b"a: 1\nb: 2\n'a': 3", b"'a'", {"a": "1", "b": "2"}),
    (b"{a: 1, a: 2}", b"a", {"a": "1"}),
    (b"a: 1\n[b]: 2", b"[", {"a": "1"}),
    (b"a: 1\nb: c: d", b":", {"a": "1", "b": "c"}),
    (b"a: 1\nmodel gpt  \nb: 2", b"model gpt", {"a": "1"}),
    (b"a: 1\nb: [x, y\n", b"[", {"a": "1", "b": ["x", "y"]}),
    (b"a: 1\nb: 'x\n", b"'", {"a": "1"}),
    (b"a: 1\nb: ]", b"]", {"a": "1"}),
    (b"a: 1\nb: @x", b"@", {"a": "1"}),
    (b"a: 1\n\tb: 2", b"\t", {"a": "1"}),
    (b'a: 1\nb: "\\UFFFFFFFF"', b"\\UFFFFFFFF", {"a": "1"}),
    (b'a: 1\nb: "\\q"', b"q", {"a": "1"}),
    (b"a: 1\nb: 2\x1b[0m", b"\x1b", {"a": "1"}),
    (b"a: 1\nb: \x00\nc: 2", b"\x00", {"a": "1"}),
    (b"a: 1\nb: 2\n---\nc: 3", b"---", {"a": "1", "b": "2"}),
    (b"---\na: 1\n---\n---\n", b"---", {"a": "1"}),
    (b"a: 1\n...\nb: 2", b"b", {"a": "1"}),
    (b"%YAML 1.1\n---\na: 1", b"%", ""),
    (b"a: 1\nb: &x 1\nc: \x1b", b"&x", {"a": "1"}),
    (b"a: \xff\nb: *x", b"*x", {"a": "\ufffd"}),
    (b"a: \xe2\x82 \xc3\xa9 \xff\nb: *x", b"*x", {"a": "\ufffd é \ufffd"}),
    ("ключ: \U0001f408\nb: *x".encode(), b"*x", {"ключ": "\U0001f408"}),
]


@each("text, value", VALUES)
def test_each_document_header_gives_its_values(text: str, value: object) -> None:
    reading = read_yaml(text.encode(), 30)
    assert reading.faults == ()
    assert value is None or reading.value == value


@each("data, place, value", REFUSED)
def test_a_refused_header_keeps_what_was_read_before(data: bytes, place: bytes, value: object) -> None:
    reading = read_yaml(data, 1000)
    (fault,) = reading.faults
    assert fault.reason == "yaml-malformed"
    assert data[fault.start - 1000 : fault.end - 1000] == place
    assert reading.value == value


def test_the_position_is_that_of_the_last_equal_key() -> None:
    assert read_yaml(b"{a: 1, a: 2}").faults == (YamlFault("yaml-malformed", 7, 8),)
    assert read_yaml(b"---\na: 1\n---\n---\n").faults == (YamlFault("yaml-malformed", 9, 12),)
    assert read_yaml(b"a: 1\nb: c: d").faults == (YamlFault("yaml-malformed", 9, 10),)


def test_nesting_is_capped() -> None:
    assert read_yaml(b"[" * 32 + b"]" * 32).faults == ()
    assert read_yaml(b"[" * 33 + b"]" * 33).faults == (YamlFault("yaml-malformed", 32, 33),)
    assert read_yaml(b"- " * 33 + b"a").faults == (YamlFault("yaml-malformed", 64, 65),)


@pytest.mark.slow
def test_the_size_is_capped() -> None:
    data = b"a: 1\n" + b"# comment\n" * 6553
    assert len(data) > SIZE - 10
    longer = data + b"b: 2\n" * 4
    reading = read_yaml(longer, 5)
    assert reading.faults == (YamlFault("yaml-too-large", 5 + SIZE, 5 + len(longer)),)
    assert reading.value["a"] == "1"  # type: ignore[index]
    assert read_yaml(b"a: 1\nb: [\n" + b"x,\n" * SIZE).faults[0].reason == "yaml-too-large"
    assert read_yaml(b"a: 1\nb: *x\n" + b"#\n" * SIZE).faults == (YamlFault("yaml-malformed", 8, 10),)
    assert read_document_header(b"x" * (SIZE + 1)).faults == (YamlFault("yaml-too-large", SIZE, SIZE + 1),)


BOMBS = [
    b"[",
    b"{",
    b"- ",
    b"? ",
    b": ",
    b"- - - -\n",
    b"-\n",
    b"- [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
    b"&a *a ",
    b"- &a *a\n",
    b"!a ",
    b"a",
    b"a ",
    b"a\n",
    b" ",
    b"\n",
    b"#",
    b"#\n",
    b'"',
    b"'",
    b"\\",
    b"%YAML 1.9",
    b"|",
    b"\xff",
    b"\xc3\xa9",
    b"\x85\xc2",
    b"a: ",
    b"a,",
    b"? a\n",
    b"---\n",
]


@pytest.mark.share(test=5)
@pytest.mark.parametrize("unit", BOMBS)
@pytest.mark.parametrize("lead", [b"", b"[", b'a: "'])
def test_no_bytes_take_more_than_linear_time(unit: bytes, lead: bytes) -> None:
    data = (lead + unit * SIZE)[:SIZE]
    begun = time.process_time()
    read_document_header(data)
    assert time.process_time() - begun < LONGEST_TIME


@pytest.mark.slow
def test_many_keys_take_linear_time() -> None:
    for data in (
        b"".join(b"%d:\n" % n for n in range(10_000)),
        b"{" + b"".join(b"%d:," % n for n in range(10_000)) + b"}",
    ):
        begun = time.process_time()
        assert read_yaml(data[:SIZE]).faults == ()
        assert time.process_time() - begun < LONGEST_TIME


NOTHING_SPECIAL = [
    b"a",
    b"b:",
    b"\n",
    b"  ",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xef\xbb\xbf",
    b"\t",
    b"\r",
    b"@",
    b"`",
    b"#",
]
INDICATORS = [
    b": ",
    b"? ",
    b"- ",
    b"[",
    b"]",
    b"{",
    b"}",
    b", ",
    b"&x ",
    b"*x",
    b"!t ",
    b"!<",
    b">-\n",
    b"|",
    b"|2\n",
    b"<<: ",
]
QUOTES = [b"'", b'"', b"\\", b"\\U0011", b"\\u12", b"%", b"---", b"...", b"\n---\n"]
REFUSED_BYTES = [b"\xff", b"\xe2\x82", b"\x00", b"\x1b", b"\xc2\x85", b"\xe2\x80\xa8"]
PIECES = st.lists(st.sampled_from(NOTHING_SPECIAL + INDICATORS + QUOTES + REFUSED_BYTES))


@given(PIECES.map(b"".join) | st.binary(max_size=50))
@pytest.mark.slow
def test_no_bytes_raise_and_positions_are_inside_the_input(data: bytes) -> None:
    header = read_document_header(data, 10)
    for fault in header.faults:
        assert 10 <= fault.start <= fault.end <= 10 + len(data)
    written = read_yaml(write_yaml(header.values).encode())
    assert written.value == header.values
    assert written.faults == ()


def test_the_document_header() -> None:
    header = read_document_header(b"version: 2.10\nmodel: gpt-oss-120b # which\nextra: {a: b}\n", 4)
    assert (header.version, header.model, header.faults) == ("2.10", "gpt-oss-120b", ())
    assert header.values["extra"] == {"a": "b"}


@pytest.mark.parametrize("data", [b"", b"---\n---\n", b"model: m", b"version:\nmodel: m", b"version: [2, 2]"])
def test_a_header_without_version(data: bytes) -> None:
    header = read_document_header(data, 4)
    assert header.faults == (YamlFault("version-missing", 4, 4),)
    assert header.version is None


def test_a_fault_before_the_version_is_the_only_one() -> None:
    assert [fault.reason for fault in read_document_header(b"model: *x\nversion: 2.2").faults] == ["yaml-malformed"]


@pytest.mark.parametrize(
    ("data", "place"), [(b"# c\nversion 2.2\n", b"version 2.2"), (b"---\n- a\n- b\n", b"- a\n- b\n")]
)
def test_a_header_that_is_not_a_mapping(data: bytes, place: bytes) -> None:
    header = read_document_header(data, 9)
    (fault,) = header.faults
    assert fault.reason == "yaml-malformed"
    assert data[fault.start - 9 : fault.end - 9] == place
    assert header.values == {}


PROFILES = [
    ("version: 2.2", HarmonyProfile()),
    ("profiles: none", HarmonyProfile()),
    ("profiles: {harmony: none}", HarmonyProfile()),
    ("profiles: {harmony: {}}", HarmonyProfile()),
    ("profiles: {harmony: {require_channels: [analysis]}}", HarmonyProfile(require_channels=True)),
    ("profiles: {harmony: {require_channels: []}}", HarmonyProfile()),
    ("profiles: {harmony: {require_channels: true}}", HarmonyProfile(require_channels=True)),
    ("profiles: {harmony: {require_channels: No}}", HarmonyProfile()),
    ("profiles: {harmony: {tool_calls_in: analysis}}", HarmonyProfile(tool_calls_in="analysis")),
    ("profiles: {harmony: {tool_calls_in: }}", HarmonyProfile()),
    ("profiles: {harmony: {builtins_in: [analysis]}}", HarmonyProfile(builtins_in=("analysis",))),
    ("profiles: {harmony: {builtins_in: commentary}}", HarmonyProfile(builtins_in=("commentary",))),
    ("profiles: {harmony: {builtins_in: []}}", HarmonyProfile(builtins_in=())),
    *[
        (f"profiles: {{harmony: {{enabled: {word}, require_channels: [analysis]}}}}", HarmonyProfile())
        for word in ("false", "False", "FALSE", "no", "No", "off", "OFF", "n", "N", "'false'")
    ],
    *[
        (f"profiles: {{harmony: {{enabled: {word}, require_channels: [a]}}}}", HarmonyProfile(require_channels=True))
        for word in ("true", "yes", "on", "''", "maybe")
    ],
]


@each("text, expected", PROFILES)
def test_the_harmony_profile(text: str, expected: HarmonyProfile) -> None:
    assert profile(read_document_header(text.encode()).values) == expected


@pytest.mark.parametrize("opening", [b"[", b"{", b"[{", b"a: [", b"[[a],"])
def test_no_more_keys_are_looked_for_than_may_be_nested(opening: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each one costs a check at every token: a kilobyte of brackets used to take as long as a megabyte of text."""
    most, stale = [0], Scanner.stale_possible_simple_keys

    def counted(self: Scanner) -> None:
        most.append(len(self.possible_simple_keys))
        stale(self)

    monkeypatch.setattr(Scanner, "stale_possible_simple_keys", counted)
    assert [fault.reason for fault in read_events(opening * 500).faults] == ["yaml-malformed"]
    assert max(most) <= DEEPEST + 1
