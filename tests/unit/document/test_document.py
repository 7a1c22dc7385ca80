"""A big document: read with the scanner, checked after the index, with the same result."""

from __future__ import annotations

import pytest

from tests.fuzz.targets import InMemory
from tests.laws.test_scan_equals_parse import DECLARED, ODD, TEXT, turn
from tests.support.reading import examine
from viewer.document import document as document_module
from viewer.document.document import CHECKED_AT_ONCE, PARSED_AT_ONCE, Document

NAMES = [name for name in ODD if not name.startswith(("an un", "another")) and "literal" not in name]
TURNS = [turn(number) + (ODD[NAMES[number % len(NAMES)]] if number % 9 == 0 else b"") for number in range(5000)]
BIG = b"version: 2.2\n" + DECLARED + b"".join(TURNS)
LARGE = b"version: 2.2\n" + DECLARED + b"".join(TURNS[:3000])
"""A smaller input, because the parser that it is compared with takes longer."""


@pytest.mark.share(test=80)
@pytest.mark.parametrize("format", TEXT)
def test_a_large_document_equals_the_result_of_the_parser(format: str) -> None:
    expected = examine([LARGE], LARGE, format)
    document = Document(InMemory(LARGE), format)
    assert document.step_size > PARSED_AT_ONCE
    taken = 0
    while not document.is_complete:
        document.read_some(document.step_size)
        taken = document._reading.scanner.taken if document._reading.scanner else taken
    assert taken > (5_000 if format in ("openchatml-2.2", "harmony") else 0)  # the other formats have no call IDs
    assert list(document.index) == list(expected.index)
    assert list(document.tally.links) == list(expected.calls.links)
    assert [finding.diagnostic for finding in document.findings()] == expected.findings.by_position()


@pytest.mark.slow
def test_a_large_document_is_read_then_checked_and_reports_progress() -> None:
    document = Document(InMemory(BIG))
    progress = [document.progress]
    while not document.is_read:
        document.read_some(document.step_size)
        progress.append(document.progress)
    assert document.message_count > 20_000
    assert not document.is_complete
    assert document.step_size == CHECKED_AT_ONCE
    while not document.is_complete:
        document.read_some(document.step_size)
        progress.append(document.progress)
    assert progress == sorted(progress)
    assert progress[0] == 0
    assert progress[-1] == 1
    assert len(progress) > 8


def test_a_small_document_is_checked_while_it_is_read() -> None:
    document = Document(InMemory(BIG[:40_000]))
    document.read_some(PARSED_AT_ONCE)
    assert document._analysis.is_checked
    document.load()
    assert document._reading.scanner is None


@pytest.mark.share(quick=5)
@pytest.mark.parametrize(("size", "times"), [(40_000, 0), (1_200_000, 1)])
def test_memory_is_released_once_after_a_large_reading(size: int, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[None] = []
    monkeypatch.setattr(document_module, "release_memory", lambda: given.append(None))
    Document(InMemory(BIG[:size])).load().load()
    assert len(given) == times
