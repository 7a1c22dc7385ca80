"""Tests of how the benchmarks handle results, and of the files and pages that they generate. No result is evaluated."""

from __future__ import annotations

import random

import pytest

from tests.benchmarks import records
from tests.benchmarks.conversations import FOREIGN
from tests.benchmarks.figures import NEVER, Bound, Figure, Row, Unit, exponent, table
from tests.benchmarks.groups import GROUPS, MODULES
from tests.benchmarks.inputs import CORPORA, FIRST, LAST, MEGABYTE, RARE, parts
from tests.benchmarks.pages import PAGES, has_marks, put
from tests.benchmarks.timing import ROOT
from tests.support.reading import read
from viewer.formats import detect

MS, RATE = Unit.MILLISECONDS, Unit.RATE
READ = ("chat", "agent-5", "harmony-20")


def row(value: float, peer: float | None, *bounds: Bound, unit: Unit = MS) -> Row:
    return Row("work", Figure(value, unit), (("less", None if peer is None else Figure(peer, unit)),), bounds)


@pytest.mark.parametrize(
    ("measured", "met"),
    [
        (row(10, 5, Bound(2, "less")), "yes"),
        (row(10.1, 5, Bound(2, "less")), "**no**"),
        (row(10, None, Bound(2, "less")), "not measured"),
        (row(10, None, Bound(2, "less"), Bound(16)), "yes, 1 of 2"),
        (row(17, None, Bound(2, "less"), Bound(16)), "**no**"),
        (row(1, 9, Bound(1 / 9, "less", True), unit=RATE), "yes"),
        (row(0.9, 9, Bound(1 / 9, "less", True), unit=RATE), "**no**"),
        (row(NEVER, 9, Bound(16)), "**no**"),
        (row(10, 5), ""),
        (Row("work", None, (), (Bound(1),)), "not measured"),
    ],
)
def test_a_bound_is_reached_or_missed(measured: Row, met: str) -> None:
    assert measured.met == met


def test_a_table_has_one_line_for_each_row_and_says_what_is_missing() -> None:
    lines = table([row(10, 4, Bound(2, "less")), row(9, None), row(NEVER, 4)]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    assert cells[0] == ["work", "10.0 ms", "less 4.00 ms (2.50 ×)", "at most 2 × less", "**no**"]
    assert cells[1][2] == "less: not installed"
    assert cells[2][1:3] == ["not reached", "less 4.00 ms"]
    assert len({len(line) for line in lines}) == 1


@pytest.mark.parametrize("power", [0.5, 1, 2])
def test_growth_is_the_exponent_of_the_size(power: float) -> None:
    sizes = [1e6, 1e8, 1e9]
    assert exponent(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)


@pytest.mark.share(test=3)
@pytest.mark.parametrize("name", CORPORA)
def test_corpora_are_reproducible_and_of_their_format(name: str) -> None:
    text = "".join(parts(name, MEGABYTE // 4))
    random.seed(7)
    assert text == "".join(parts(name, MEGABYTE // 4))
    assert MEGABYTE // 4 <= len(text.encode("utf-8", "replace")) < MEGABYTE
    assert detect(text.encode("utf-8", "replace")).format == CORPORA[name].format


@pytest.mark.slow
@pytest.mark.parametrize("name", READ)
def test_a_text_corpus_begins_and_ends_with_a_word_that_is_searched_for(name: str) -> None:
    text = "".join(parts(name, MEGABYTE // 4))
    assert text.count(FIRST) == text.count(LAST) == 1
    reading = read(text.encode("utf-8", "replace"), CORPORA[name].format)
    assert len(reading.messages) == text.count("<|start|>")


@pytest.mark.slow
def test_only_a_corpus_with_a_number_has_foreign_tokens() -> None:
    def count(name: str) -> int:
        text = "".join(parts(name, MEGABYTE))
        return sum(text.count(line) for line in FOREIGN)

    assert count("agent-0") == count("harmony-0") == count("chat") == 0
    assert count("agent-5") > 2 * count("agent-20") > 4 * count("agent-100") > 0


@pytest.mark.slow
def test_the_rare_word_occurs_rarely() -> None:
    assert "".join(parts("chat", 20 * MEGABYTE)).count(RARE) == 1


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_has_its_file(group: str) -> None:
    path = ROOT / "tests" / "benchmarks" / f"{MODULES.get(group, group)}.py"
    assert "def measure(scale: Scale, report: Report) -> None:" in path.read_text("utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_marks_around_its_table(name: str) -> None:
    assert has_marks(name)


def test_a_table_is_put_between_the_marks_and_nowhere_else() -> None:
    page = "a\n<!-- measured: all -->\nold\n<!-- end -->\nb\n<!-- made: keys -->\nc\n<!-- end -->\n"
    made = put(page, "all", "new\n")
    assert made == page.replace("old\n", "\nnew\n\n")
    assert put(made, "all", "new\n") == made


@pytest.mark.slow
def test_files_of_records_are_of_the_formats_in_their_names() -> None:
    named = {"array.json": "json", "chats.jsonl": "json", "responses-array.json": "responses"}
    for kind, rows in records.KINDS.items():
        text = "".join(records.parts(rows(random.Random(1)), kind.endswith("array.json"), 20_000))
        assert detect(text.encode()).format == named.get(kind, kind.partition(".")[0])
