"""Bounds on the cost of hostile input: every cap in one table, and the behavior beyond each."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from operator import attrgetter
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.reading import codes, read
from viewer.cache import bounded_cache
from viewer.reading.document_header import read_document_header
from viewer.render.sanitize import sanitize_line
from viewer.sources.limits import Limits
from viewer.syntax.json_text import check_json
from viewer.tui.search.engine import LONGEST_QUERY, Query
from viewer.tui.transcript.blocks import KEPT_BLOCKS

TESTS = Path(__file__).parent.parent
KB, MB, GB = 1024, 1024**2, 1024**3
LONG = b"x" * (65 * KB)

CAPS = {
    "document header": ("viewer.reading.document_header", "LONGEST", 64 * KB),
    "message header": ("viewer.reading.grammar", "LONGEST_HEADER", 64 * KB),
    "old message header": ("viewer.formats.openchatml_0_1.reader", "LONGEST_HEADER", 64 * KB),
    "YAML": ("viewer.syntax.yaml_reader", "LARGEST", 64 * KB),
    "depth of YAML": ("viewer.syntax.yaml_reader", "DEEPEST", 32),
    "depth of JSON": ("viewer.syntax.json_reader", "MAX_DEPTH", 200),
    "depth of a laid out body": ("viewer.render.body", "DEEPEST_JSON", 200),
    "laid out body": ("viewer.render.body", "LARGEST_JSON", 1_000_000),
    "depth of a declared type": ("viewer.syntax.typescript_types", "DEEPEST", 64),
    "depth of a schema": ("viewer.tools.schema", "DEEPEST", 40),
    "schema": ("viewer.tools.schema", "LARGEST", 8_000),
    "pattern of a schema": ("viewer.tools.schema", "LONGEST_PATTERN", 1_000),
    "references in a schema": ("viewer.tools.openapi", "MOST_REFERENCES", 32),
    "steps of a check of arguments": ("viewer.tools.arguments", "MOST_STEPS", 200_000),
    "YAML blocks in a body": ("viewer.tools.embedded", "MOST_YAML_BLOCKS", 64),
    "event": ("viewer.formats.containers.lines", "LONGEST_LINE", 8 * MB),
    "record": ("viewer.formats.containers.lines", "LONGEST_RECORD", 64 * MB),
    "line between messages": ("viewer.reading.grammar", "LONGEST_LINE", MB),
    "findings of a code": (("viewer.index.findings", "MOST_PER_CODE", 1_000)),
    "findings in a binary input": ("viewer.document.one_reading", "MOST_IN_BINARY", 20),
    "decompressed text": ("viewer.sources.limits", "Limits.max_decompressed", 2 * GB),
    "member of an archive": ("viewer.sources.containers.archive", "LARGEST_MEMBER", 256 * MB),
    "ratio of a member": ("viewer.sources.containers.archive", "LARGEST_RATIO", 200),
    "directory of an archive": ("viewer.sources.containers.archive", "LARGEST_DIRECTORY", 64 * MB),
    "header of an archived log": ("viewer.sources.containers.inspect_log", "LARGEST_HEADER", 16 * MB),
    "value in a container": ("viewer.sources.containers.parts", "LARGEST_TEXT", 64 * MB),
    "steps of a database": ("viewer.sources.containers.database", "MOST_STEPS", 100_000_000),
    "rows of Parquet": ("viewer.sources.containers.parquet", "ROWS_AT_ONCE", 64),
    "spooled text": ("viewer.sources.limits", "Limits.max_spool", 4 * GB),
    "text in memory": ("viewer.sources.spool", "IN_MEMORY", 8 * MB),
    "second attempt": ("viewer.sources.compressed", "MOST_KEPT", MB),
    "event stream head": ("viewer.formats.detect", "HEAD", 64 * KB),
    "files of a folder": ("viewer.sources.folder", "MOST_FILES", 100_000),
    "burst": ("viewer.sources.follow", "TURN", 8 * MB),
    "seconds of a pattern": ("viewer.tui.search.matchers", "SECONDS", 2.0),
    "memory of a pattern": ("viewer.document.search.regex", "MOST_MEMORY", 8 * MB),
    "hits": ("viewer.tui.search.engine", "MOST_MATCHES", 1_000_000),
    "query": ("viewer.tui.search.engine", "LONGEST_QUERY", 1000),
    "copy": ("viewer.tui.terminal.clipboard", "MOST_BYTES", 8 * MB),
    "blocks at hand": ("viewer.tui.transcript.blocks", "KEPT_BLOCKS", 300),
    "raw bytes of a message": ("viewer.tui.panes.raw_lines", "LONGEST_RAW", 64 * KB),
    "name or id": ("viewer.render.sanitize", "LONGEST_LINE", 200),
    "file name in a label": ("viewer.syntax.attachments", "LONGEST_FILE_NAME", 60),
    "name in safe output": ("viewer.reading.header", "LONGEST_NAME", 64),
    "objects in a request": ("viewer.formats.json.wrappers", "DEEPEST_EXCHANGE", 3),
    "marks on a base": ("viewer.render.sanitize", "MOST_MARKS", 4),
}
"""For each bounded quantity, the name of its cap and the maximum allowed value."""

BEYOND_ELSEWHERE = {
    "old message header": "unit/formats/test_openchatml_0_1.py::test_an_oversized_header_ends_at_the_cap",
    "depth of a declared type": "unit/syntax/test_typescript.py::test_nesting_beyond_the_cap_is_open",
    "event": "unit/formats/test_events.py::test_a_line_that_is_too_long_is_passed_over",
    "findings of a code": ("unit/index/test_findings.py::test_a_limited_number_per_code_is_kept_and_the_rest_counted"),
    "findings in a binary input": "cli/test_unknown_format.py::test_noise_stops_after_a_few_findings",
    "decompressed text": "unit/sources/test_compressed.py::test_a_bomb_is_cut_off",
    "member of an archive": "unit/sources/test_containers.py::test_a_bomb_is_refused_with_one_finding",
    "ratio of a member": "unit/sources/test_containers.py::test_a_bomb_is_refused_with_one_finding",
    "directory of an archive": "unit/sources/test_containers.py::test_what_is_too_large_is_one_sentence_or_one_finding",
    "value in a container": "unit/sources/test_containers.py::test_what_is_too_large_is_one_sentence_or_one_finding",
    "steps of a database": "unit/sources/test_containers.py::test_a_row_that_never_comes_is_given_up",
    "spooled text": "unit/sources/test_spool.py::test_an_endless_device_is_cut_off",
    "text in memory": "unit/sources/test_spool.py::test_a_spool_moves_to_an_unlinked_file_of_mode_0600",
    "second attempt": "unit/sources/test_compressed.py::test_damage_far_into_a_large_member_loses_one_slice_at_most",
    "seconds of a pattern": "screens/test_search.py::test_a_slow_search_is_stopped",
    "memory of a pattern": "unit/document/test_regex.py::test_a_refused_pattern_is_one_sentence",
    "burst": "unit/document/test_live.py::test_a_burst_is_read_in_slices",
    "copy": "screens/test_clipboard.py::test_nothing_to_copy_and_too_much",
    "marks on a base": "unit/render/test_lines.py::test_a_base_has_at_most_four_marks",
}
"""Tests of the behavior beyond a cap that are in the test file of the module."""


@each("name", CAPS)
def test_each_cap_has_its_documented_value(name: str) -> None:
    module, constant, value = CAPS[name]
    if constant.startswith("Limits."):
        assert getattr(Limits(), constant.removeprefix("Limits.")) == value
        return
    assert attrgetter(constant)(import_module(module)) == value


@each("name", BEYOND_ELSEWHERE)
def test_each_cap_has_a_test(name: str) -> None:
    file, _, function = BEYOND_ELSEWHERE[name].partition("::")
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    assert function in {
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


BEYOND: dict[str, Callable[[], bool]] = {
    "document header": lambda: _is_told(b"version: 2.2\nnotes: " + LONG + b"\n<|start|>user<|message|>a<|end|>"),
    "message header": lambda: _is_told(b"version: 2.2\n<|start|>user name=" + LONG + b"<|message|>a<|end|>"),
    "YAML": lambda: bool(read_document_header(b"a: b\n" * 20_000).faults),
    "depth of YAML": lambda: bool(read_document_header(b"a: " + b"[" * 40 + b"]" * 40).faults),
    "depth of JSON": lambda: check_json(b"[" * 201 + b"]" * 201, 0) is not None,
    "query": lambda: len(Query.parse("x" * 5000).text) == LONGEST_QUERY,
    "name or id": lambda: len(sanitize_line("x" * 5000)) == 200,
    "blocks at hand": lambda: KEPT_BLOCKS < 1000,
}  # fmt: skip


@pytest.mark.parametrize("name", BEYOND)
def test_input_beyond_a_cap_is_reported(name: str) -> None:
    assert BEYOND[name]()


def _is_told(data: bytes) -> bool:
    """True if there is a diagnostic, and reading continues afterwards."""
    reading = read(data + b"\n<|start|>user<|message|>still here<|end|>", "openchatml-2.2")
    return any(code.startswith("E-PARSE-HEADER") for code in codes(reading)) and "still here" in reading.texts[-1]


def test_json_at_the_cap_is_read() -> None:
    assert check_json(b"[" * 200 + b"]" * 200, 0) is None


def test_every_cache_is_bounded() -> None:
    made: list[int] = []

    @bounded_cache(3)
    def keep(number: int) -> int:
        made.append(number)
        return number

    for number in (1, 2, 3, 4, 1):
        keep(number)
    assert made == [1, 2, 3, 4, 1]
