"""No input raises, and none takes long: mutations of the samples, hostile shapes, soups of tokens."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.cli.program import run
from tests.hostile import SHAPES
from tests.reading import describe, examine
from viewer.core.bodies import read_body
from viewer.core.declarations import Declarations
from viewer.core.headers import read_header
from viewer.core.json_text import check_json, duplicate_keys, read_json, string_body
from viewer.core.messages import Coding, Piece
from viewer.core.thoughts import without_thoughts
from viewer.core.visibility import END_USER, EVERYTHING
from viewer.core.yaml_header import read_document_header
from viewer.errors import RefusedError
from viewer.formats import DIALECTS, WRITERS, detect
from viewer.formats.harmony import GRAMMAR
from viewer.formats.openchatml import GRAMMAR_1_X, GRAMMAR_2_0, GRAMMAR_2_2
from viewer.formats.token_ids import body_of_ids
from viewer.formats.unhidden import unhidden_count
from viewer.render.safe_text import safe, safe_line
from viewer.sources.document import Document
from viewer.sources.places import Places
from viewer.sources.shown import ShownMessage

ROOT = Path(__file__).parent.parent
FOUND = Path(__file__).parent / "data" / "fuzz"
SECONDS = float(os.environ.get("OCML_LAB_SECONDS", "600"))
LARGEST = 64 * 1024
SLOWEST = 1.0
SEED = int(os.environ.get("OCML_LAB_SEED", "0"))


class InMemory:
    """A source that is bytes."""

    name = "bytes"
    converted = False
    note = ""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]


# What is tried on each input.


def read_in(dialect: str) -> Callable[[bytes, random.Random], None]:
    def read(data: bytes, chance: random.Random) -> None:
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(6)))
        edges = [0, *cuts, len(data)]
        whole = describe(examine([data], data, dialect), data)
        parts = describe(examine((data[start:end] for start, end in pairwise(edges)), data, dialect), data)
        assert parts == whole

    return read


def detect_it(data: bytes, chance: random.Random) -> None:
    assert detect(data).dialect in DIALECTS


def look_at_it(data: bytes, chance: random.Random) -> None:
    document = Document(InMemory(data)).load()
    for finding in document.findings():
        assert 0 <= finding.diagnostic.start <= finding.diagnostic.end <= len(data)
        document.line_text(finding)
    for audience in (END_USER, EVERYTHING):
        projection = document.project(audience)
        messages = [item for item in projection.items() if isinstance(item, ShownMessage)]
        for message in messages:
            assert safe(message.body) is not None
        projection.calls()
        for found in projection.diagnostics():
            assert found.sentence
        for target, write in WRITERS.items():
            try:
                text, _ = write(projection.transcripts(), messages)
            except RefusedError:
                continue
            unhidden_count(text, target, messages)


def run_it(*arguments: str) -> Callable[[bytes, random.Random], None]:
    def run_command(data: bytes, chance: random.Random) -> None:
        result = run(*arguments, "-", stdin=data)
        assert result.code in (0, 1)
        assert "bug" not in result.err

    return run_command


def read_headers(data: bytes, chance: random.Random) -> None:
    for grammar in (GRAMMAR_2_2, GRAMMAR_2_0, GRAMMAR_1_X, GRAMMAR):
        for partial in (False, True):
            reading = read_header(data, grammar.header, implied=chance.random() < 0.5, partial=partial)
            assert 0 <= reading.rest <= len(data)
            assert all(0 <= problem.start <= problem.end <= len(data) for problem in reading.problems)


def read_yaml_header(data: bytes, chance: random.Random) -> None:
    reading = read_document_header(data)
    assert all(0 <= fault.start <= fault.end <= len(data) for fault in reading.faults)


def read_json_text(data: bytes, chance: random.Random) -> None:
    fault = check_json(data, 7)
    assert fault is None or 7 <= fault.offset <= fault.end <= len(data) + 7
    reading = read_json(data, 7)
    assert 7 <= reading.end <= len(data) + 7
    duplicate_keys(data, 7)
    string_body(data)
    if reading.node:
        reading.node.to_python()


def read_declarations(data: bytes, chance: random.Random) -> None:
    declarations = Declarations()
    declarations.read(data.decode("utf-8", "replace"))
    declarations.read_function_list(data.decode("utf-8", "replace"))
    for tool in ("f", "get_weather", "functions.lookup_weather", "get_current_weather"):
        declarations.check(tool, data, 3)
        declarations.check(tool, b'{"location": 1, "city": [1, {"a": null}]}', 3)


def read_bodies(data: bytes, chance: random.Random) -> None:
    cut = chance.randrange(len(data) + 1)
    for coding in Coding:
        pieces = (Piece(0, cut, coding), Piece(cut, len(data), coding))
        body = read_body(pieces, lambda start, end: data[start:end], body_of_ids)
        without_thoughts(body)
        start, end = body.source_span(cut % (len(body.data) + 1), len(body.data))
        assert 0 <= start <= end <= len(data)


def make_it_safe(data: bytes, chance: random.Random) -> None:
    text = data.decode("utf-8", "surrogatepass" if chance.random() < 0.3 and data.isascii() else "replace")
    made = safe(text)
    assert len(made) == len(text)
    assert safe(made) == made
    safe_line(text, 80)


def find_places(data: bytes, chance: random.Random) -> None:
    places = Places(lambda start, end: data[start:end])
    places.feed(data)
    for offset in [0, len(data), *(chance.randrange(len(data) + 1) for _ in range(8))]:
        line, column = places.line_and_column(offset)
        assert line == data.count(b"\n", 0, offset) + 1
        assert 1 <= column <= offset - places.line_start(offset) + 1


TRIED: dict[str, Callable[[bytes, random.Random], None]] = {
    **{f"read as {name}": read_in(name) for name in DIALECTS},
    "detect": detect_it,
    "look at": look_at_it,
    "show": run_it("show"),
    "show --json": run_it("show", "--json", "--reveal", "all"),
    "export html": run_it("export", "-o", "-", "--reveal", "all"),
    "export md": run_it("export", "-o", "-", "--to", "md", "--reveal", "all"),
    "check --reveal": run_it("check", "--reveal", "all"),
    "check --sarif": run_it("check", "--sarif"),
    "stats": run_it("stats"),
    "headers": read_headers,
    "YAML headers": read_yaml_header,
    "JSON": read_json_text,
    "declarations": read_declarations,
    "bodies": read_bodies,
    "safe text": make_it_safe,
    "places": find_places,
}
LARGE = {"show", "show --json", "export html", "export md", "check --reveal", "check --sarif", "stats", "look at"}
"""What does more than read once; it is tried on small inputs."""


# The inputs.

SOUP = [
    *(f"<|{name}|>".encode() for name in ("start", "end", "message", "channel", "constrain", "return", "call")),
    *(f"<|{name}|>".encode() for name in ("literal", "endliteral", "im_start", "im_end", "file_separator")),
    *(f"<|{name}|>".encode() for name in ("fim_prefix", "fim_middle", "fim_suffix", "function_call", "function_list")),
    *(f"<|{name}|>".encode() for name in ("start_reason", "end_reason", "function_output", "end_message", "endoftext")),
    *(b"user assistant system developer tool functions.f python final analysis commentary json".split()),
    *(b" to=f to=assistant call_id=c name=n intent=preamble intent=status content_type=json a=b to= ".split(b" ")),
    *(
        b"<",
        b"|>",
        b"<<",
        b"\n",
        b"\r\n",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xe2\x80",
        b"\xc2\xa0",
        b"\xe2\x80\x8b",
        b"\xef\xbb\xbf",
    ),
    *(
        b"---\n",
        b"version: 2.2\n",
        b"version: 2.0\n",
        b"model: m\n",
        b"&a ",
        b"*a ",
        b"!!x ",
        b"? ",
        b"- ",
        b": ",
        b"|\n",
        b"%YAML",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b'"',
        b"\\",
        b",",
        b":",
        b"null",
        b"1e999",
        b"NaN",
        b"\\ud800",
        b"\\u0000",
        b"-",
        b"0",
        b"9" * 30,
    ),
    *(
        b'"role"',
        b'"content"',
        b'"channel"',
        b'"tool_calls"',
        b'"thinking"',
        b'"type"',
        b'"delta"',
        b'"message_id"',
        b'"m"',
    ),
    *(
        b'"response.delta"',
        b'"response.cancel"',
        b'"response.done"',
        b'"tool.cancel"',
        b'"choices"',
        b'"name"',
        b'"parameters"',
    ),
    *(
        b"event: response.delta\n",
        b"data: ",
        b"[DONE]\n",
        b"[BOS]",
        b"[EOS]",
        b"<think>",
        b"</think>",
        b"200006,",
        b"1428,200008,",
    ),
    *(
        b"namespace functions {\n",
        b"type f = (_: {\n",
        b"a?: string,\n",
        b"}) => any;\n",
        b"} // x\n",
        b"// c\n",
        b"| ",
        b"paths:\n",
    ),
    *(mark.encode() for mark in ("“", "”", "é", "😀", "\u202e", "\U000e0041", "\ufdd0")),
    *(b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x1b]0;x\x07"),
]


def seeds() -> list[bytes]:
    """The samples, the found cases and the hostile shapes, small."""
    files = [file for folder in (ROOT / "samples", FOUND) for file in sorted(folder.rglob("*")) if file.is_file()]
    texts = [file.read_bytes()[:LARGEST] for file in files]
    return [*texts, *(shape.text(300) for shape in SHAPES)]


def mutated(seed: bytes, others: list[bytes], chance: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        at = chance.randrange(len(data) + 1)
        to = min(len(data), at + chance.choice((0, 1, 1, 2, 5, 20, 100)))
        way = chance.randrange(7)
        if way == 0:
            del data[at:to]
        elif way == 1:
            data[at:to] = chance.choice(SOUP)
        elif way == 2:
            data[at:at] = b"".join(chance.choices(SOUP, k=chance.randrange(1, 6)))
        elif way == 3:
            data[at:at] = data[at:to] * chance.choice((1, 2, 30))
        elif way == 4:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            data[at:to] = other[start : start + chance.choice((3, 30, 300))]
        elif way == 5 and at < len(data):
            data[at] = chance.randrange(256)
        else:
            del data[at:]
    return bytes(data[:LARGEST])


def next_input(others: list[bytes], chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return b"".join(chance.choices(SOUP, k=chance.choice((1, 3, 8, 20, 60, 200))))
    return mutated(chance.choice(others), others, chance)


def try_everything(data: bytes, seed: int, names: list[str]) -> None:
    for name in names:
        start = time.process_time()
        TRIED[name](data, random.Random(seed))
        took = time.process_time() - start
        most = SLOWEST * (3 if name in LARGE else 1)  # a thousand findings are a thousand excerpts to print
        assert took < most, f"{name} took {took:.1f} s"


def try_and_keep(data: bytes, seed: int, names: list[str]) -> None:
    """A case that fails is written down, so that it can be looked at and replayed."""
    kept = FOUND / f"new-{seed}"
    kept.write_bytes(data)
    try_everything(data, seed, names)
    kept.unlink()


def campaign(seconds: float, first: int) -> int:
    others = seeds()
    end = time.monotonic() + seconds
    number = first
    while time.monotonic() < end:
        chance = random.Random(number)
        data = next_input(others, chance)
        slow = number % 4 == 0
        try_and_keep(data, number, [name for name in TRIED if slow or name not in LARGE])
        number += 1
    return number - first


@pytest.mark.slow
def test_no_input_raises_in_a_few_seconds() -> None:
    assert campaign(6, 1_000_000) > 20


@pytest.mark.lab
def test_no_input_raises() -> None:
    assert campaign(SECONDS, SEED * 10_000_000) > SECONDS


def found_cases() -> list[ParameterSet]:
    """Those of more than a few kilobytes take their time."""
    files = [file for file in sorted(FOUND.iterdir()) if file.is_file()]
    return [
        pytest.param(file, id=file.name, marks=[pytest.mark.slow] if file.stat().st_size > 4096 else [])
        for file in files
    ]


@pytest.mark.parametrize("file", found_cases())
def test_found_cases_stay_fixed(file: Path) -> None:
    try_everything(file.read_bytes(), 1, list(TRIED))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TRIED if name not in LARGE])
def test_hostile_shapes_of_64_kb_take_less_than_a_second(name: str) -> None:
    for shape in SHAPES[SEED % 3 :: 3]:
        data = shape.text(LARGEST)
        start = time.process_time()
        TRIED[name](data, random.Random(1))
        took = time.process_time() - start
        assert took < 2.5 * SLOWEST, f"{shape.title}: {took:.1f} s"
