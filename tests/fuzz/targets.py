"""Targets: everything that reads bytes, from tokens to commands."""

from __future__ import annotations

import importlib
import importlib.util
import os
import random
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from tests.support.native import LEVELS, WAYS, using
from tests.support.native_records import assert_joined
from tests.support.native_rows import (
    assert_as_numpy,
    assert_defined,
    assert_faults,
    assert_matches,
    assert_objects,
    assert_signs,
)
from tests.support.program import run
from tests.support.reading import describe, examine
from tests.unit.native.test_schemas import schema
from viewer.checks.analysis import Analysis
from viewer.columns.plain import PlainColumns
from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.document.positions import Positions
from viewer.document.values import ShownMessage
from viewer.errors import RefusedError
from viewer.formats import FORMATS, WRITERS, detect
from viewer.formats.leak_check import count_leaks
from viewer.formats.text.harmony import GRAMMAR
from viewer.formats.text.openchatml import GRAMMAR_1_X, GRAMMAR_2_0, GRAMMAR_2_2
from viewer.formats.tokens.reader import body_of_ids
from viewer.model.messages import Coding, Piece
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.reading.bodies import read_body
from viewer.reading.document_header import read_document_header
from viewer.reading.header import read_header
from viewer.reading.parser import Parser
from viewer.reading.thoughts import without_thoughts
from viewer.render.sanitize import sanitize, sanitize_copy, sanitize_line
from viewer.sources.files import is_compressed, open_source
from viewer.sources.follow import FollowSource
from viewer.syntax.json_text import check_json, duplicate_keys, read_json, string_body
from viewer.tools.declarations import Declarations

Target = Callable[[bytes, random.Random], None]
HAS_SCANNER = importlib.util.find_spec("viewer.document.scanner") is not None


class InMemory:
    """A source that consists of bytes in memory."""

    name = "bytes"
    converted = False
    fault = ""
    only = ""
    note = ""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read(self, start: int, end: int) -> bytes:
        return self._data[start:end]

    read_again = read


# The functions that are tried on each input.


def read_in(format: str) -> Target:
    def read(data: bytes, chance: random.Random) -> None:
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(6)))
        edges = [0, *cuts, len(data)]
        whole = describe(examine([data], data, format), data)
        parts = describe(examine((data[start:end] for start, end in pairwise(edges)), data, format), data)
        assert parts == whole

    return read


def detect_it(data: bytes, chance: random.Random) -> None:
    assert detect(data).format in FORMATS


def look_at_it(data: bytes, chance: random.Random) -> None:
    document = Document(InMemory(data)).load()
    for finding in document.findings():
        assert 0 <= finding.diagnostic.start <= finding.diagnostic.end <= len(data)
        document.quotes.line_text(finding)
    for audience in (END_USER, EVERYTHING):
        projection = document.project(audience)
        messages = [item for item in projection.items() if isinstance(item, ShownMessage)]
        for message in messages:
            assert sanitize(message.body) is not None
        projection.calls()
        for found in projection.diagnostics():
            assert found.sentence
        for target, write in WRITERS.items():
            try:
                text, _ = write(projection.transcripts(), messages)
            except RefusedError:
                continue
            count_leaks(text, target, messages)


def run_it(*arguments: str) -> Target:
    def run_command(data: bytes, chance: random.Random) -> None:
        result = run(*arguments, "-", stdin=data)
        assert result.code in (0, 1, 2)
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
    made = sanitize(text)
    assert len(made) == len(text)
    assert sanitize(made) == made
    assert len(sanitize_line(text, 80)) <= 80
    assert sanitize_copy(sanitize_copy(text)) == sanitize_copy(text)


def find_places(data: bytes, chance: random.Random) -> None:
    places = Positions(lambda start, end: data[start:end])
    places.feed(data, PlainColumns())
    for offset in [0, len(data), *(chance.randrange(len(data) + 1) for _ in range(8))]:
        line, column = places.line_and_column(offset)
        assert line == data.count(b"\n", 0, offset) + 1
        assert 1 <= column <= offset - places.line_start(offset) + 1


def follow_it(data: bytes, chance: random.Random) -> None:
    """Write a file in pieces, sometimes truncating or replacing it, and check that its final content was read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grows"
        path.write_bytes(b"")
        now = [0.0]
        document = LiveDocument(FollowSource(str(path), clock=lambda: now[0]), clock=lambda: now[0])
        for piece in _pieces(data, chance):
            _write(path, piece, chance)
            now[0] += 5
            document.load()
        path.unlink(missing_ok=True)
        path.write_bytes(data)
        now[0] += 5
        document.load()
        now[0] += 5
        document.load()
        document.close()
        if is_compressed(str(path)):
            return  # such a file is read as it is and never followed
        whole = Document(open_source(str(path)), document.detection.format).load()
        for audience in (END_USER, EVERYTHING):
            assert list(document.project(audience).items()) == list(whole.project(audience).items())


def scan_it(data: bytes, chance: random.Random) -> None:
    """Check that the scanner and the parser agree, however the input is cut, with NumPy and at each native level."""
    with using(chance.choice(WAYS)):
        _scan(data, chance)


def _scan(data: bytes, chance: random.Random) -> None:
    scanner_of = importlib.import_module("viewer.document.scanner").Scanner
    for format in ("openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony"):
        parser = Parser(FORMATS[format])
        analysis = Analysis(lambda start, end: data[start:end], FORMATS, body_of_ids)
        scanner = scanner_of(parser, analysis, shortest_run=1)
        for piece in _pieces(data, chance):
            scanner.feed(piece)
        analysis.apply(parser.close())
        analysis.close()
        assert describe(analysis, data) == describe(examine([data], data, format), data)


def find_native_rows(data: bytes, chance: random.Random) -> None:
    """Check that the native accelerator finds the frames and matches as defined, at each level and in any part."""
    part = data[chance.randrange(len(data) + 1) :]
    at = chance.randrange(len(part) + 1)
    needle = part[at : at + chance.choice((1, 2, 5, 40))] or b"x"
    for level in LEVELS:
        with using(level):
            assert_defined(part)
            assert_as_numpy(part)
            assert_matches(part, needle, chance.choice((needle, needle.swapcase())))
            assert_signs(part, chance)
    places = [at for at, byte in enumerate(part) if byte in b"{}"]
    bounds = [sorted(chance.choices(places, k=2)) for _ in range(20)] if places else []
    assert_objects([part[start : end + 1] for start, end in bounds])
    assert_joined([(part[start : end + 1], chance.random() < 0.5) for start, end in bounds])
    assert_faults([part[start : end + 1] for start, end in bounds], schema(chance))


def _pieces(data: bytes, chance: random.Random) -> list[bytes]:
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(1, 5)))
    return [data[start:end] for start, end in pairwise([0, *cuts, len(data)])]


def _write(path: Path, piece: bytes, chance: random.Random) -> None:
    way = chance.randrange(8)
    if way == 0:
        os.truncate(path, path.stat().st_size // 2)
    elif way == 1:
        other = path.with_name("other")
        other.write_bytes(piece)
        other.replace(path)
    with path.open("ab") as file:
        file.write(piece)


TRIED: dict[str, Target] = {
    **{f"read as {name}": read_in(name) for name in FORMATS},
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
    "follow": follow_it,
    **({"scan": scan_it} if HAS_SCANNER else {}),
    **({"native rows": find_native_rows} if LEVELS else {}),
}
LARGE = {
    "native rows",
    "show",
    "show --json",
    "export html",
    "export md",
    "check --reveal",
    "check --sarif",
    "stats",
    "look at",
}
"""Targets that do more than one read. They receive only small inputs."""
