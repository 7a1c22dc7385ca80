"""A followed file that is already big: it is read first and checked later, with the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.reading import describe
from tests.support.source_following import Clock
from viewer.document import live as live_module
from viewer.document import one_reading
from viewer.document.document import CHECKED_AT_ONCE, Document, open_document
from viewer.document.live import LiveChange, LiveDocument
from viewer.sources.changes import Reason
from viewer.sources.follow import FollowSource

HEAD = "version: 2.2\n"
TURN = (
    "<|start|>user<|message|>How warm?<|end|>\n"
    "<|start|>assistant to=functions.f call_id=c{0}<|channel|>commentary<|constrain|>json<|message|>"
    '{{"at": {0}}}<|call|>\n'
    "<|start|>tool name=functions.f call_id=c{0} to=assistant<|channel|>commentary<|message|>{{broken{1}<|end|>\n"
    "<|start|>assistant<|channel|>final<|message|>It is.<|end|>\n"
)
BIG, STEP = 256 * 1024, 64 * 1024
QUESTION = "<|start|>user<|message|>Hi<|end|>\n"


@pytest.fixture(autouse=True)
def _sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the threshold for big files to make the tests quick."""
    for module in (live_module, one_reading):
        monkeypatch.setattr(module, "BIG", BIG)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "run.log"
    turns = 3 * BIG // len(TURN)
    found.write_text(HEAD + "".join(TURN.format(number, "" if number % 100 else "\x00") for number in range(turns)))
    return found


def follow(path: Path, *, reads_first: bool = True) -> LiveDocument:
    clock = Clock()
    return LiveDocument(FollowSource(str(path), clock=clock), clock=clock, reads_first=reads_first)


def read_on(document: LiveDocument) -> LiveDocument:
    while document.step(STEP).more:
        pass
    return document


def steps_until_caught_up(document: LiveDocument) -> list[LiveChange]:
    changes = []
    while not document.has_caught_up:
        changes.append(document.step(STEP))
    return changes


def reading(document: Document) -> object:
    return describe(document._analysis, Path(document._source.name).read_bytes())


@pytest.mark.slow
def test_a_large_file_is_read_to_its_end_before_it_is_checked(path: Path) -> None:
    document, whole = follow(path), open_document(str(path))
    changes = steps_until_caught_up(document)
    assert document.message_count == whole.message_count
    assert len(changes) < 20
    assert document._analysis.unchecked > BIG


@pytest.mark.slow
def test_a_large_file_is_checked_in_small_steps(path: Path) -> None:
    document = follow(path)
    steps_until_caught_up(document)
    sizes, unchecked = [], document._analysis.unchecked
    while document.step(STEP).more:
        sizes.append(unchecked - document._analysis.unchecked)
        unchecked = document._analysis.unchecked
    assert unchecked == 0
    assert max(sizes) < 4 * CHECKED_AT_ONCE


@pytest.mark.slow
def test_the_final_result_equals_a_plain_reading(path: Path) -> None:
    assert reading(read_on(follow(path))) == reading(open_document(str(path)))


@pytest.mark.slow
def test_new_bytes_are_read_at_once_and_checked_in_their_turn(path: Path) -> None:
    document = follow(path)
    steps_until_caught_up(document)
    known = document.message_count
    with path.open("a") as file:
        file.write(QUESTION + TURN.format("new", ""))
    assert document.step(STEP).grew
    assert document.message_count == known + 5
    assert document._analysis.unchecked > 0
    assert reading(read_on(document)) == reading(open_document(str(path)))


@pytest.mark.slow
def test_every_finding_is_returned_once(path: Path) -> None:
    document, told = follow(path), []
    while document.step(STEP).more:
        told += document.new_findings()
    assert sorted(map(str, told)) == sorted(map(str, open_document(str(path)).findings()))


@pytest.mark.slow
def test_a_rotation_waits_for_the_checks(path: Path) -> None:
    document, data = follow(path), path.read_bytes()
    expected = describe(open_document(str(path))._analysis, data)
    steps_until_caught_up(document)
    path.rename(path.with_name("old"))
    path.write_text(HEAD + QUESTION)
    changes = [document.step(STEP)]
    while not changes[-1].restarted:
        if changes[-1].ended:
            assert describe(document._analysis, data) == expected
        changes.append(document.step(STEP))
    assert [change.ended for change in changes].count(True) == 1
    assert changes[-1].reset is Reason.REPLACED
    assert document.message_count == 1


@pytest.mark.slow
def test_the_end_of_the_checks_is_a_change(path: Path) -> None:
    document = follow(path)
    steps_until_caught_up(document)
    pulse = document.version
    read_on(document)
    assert document.version[-1] != pulse[-1]


def test_a_small_file_is_checked_as_it_is_read(tmp_path: Path) -> None:
    small = tmp_path / "small.log"
    small.write_text(HEAD + TURN.format(1, ""))
    document = follow(small)
    document.step(STEP)
    assert document._analysis.is_checked


@pytest.mark.slow
def test_parsed_content_is_checked_while_it_is_read(tmp_path: Path) -> None:
    lines = tmp_path / "run.jsonl"
    lines.write_text(f'{{"role":"user","content":"{"Hi " * 300}"}}\n' * (3 * BIG // 930))
    document = follow(lines)
    while document.step(STEP).more:
        assert document._analysis.is_checked
    assert reading(document) == reading(open_document(str(lines)))


@pytest.mark.slow
def test_printed_output_is_checked_while_it_is_read(path: Path) -> None:
    document = follow(path, reads_first=False)
    while document.step(STEP).more:
        assert document._analysis.is_checked
    assert reading(document) == reading(open_document(str(path)))
