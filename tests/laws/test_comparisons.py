"""Laws of comparison over all samples: a transcript equals itself and its lossless conversion; swapped sides swap
rows."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.support.cases import each
from tests.support.program import run
from tests.support.samples import ROOT, Sample, samples
from viewer.document.document import Document, open_document
from viewer.insight.align import Row
from viewer.insight.compared import Spelling
from viewer.insight.comparison import Comparison, RowKind
from viewer.model.visibility import EVERYTHING, Audience

TOUR = str(ROOT / "tour.ocml")
SWAPPED = {RowKind.ONLY_A: RowKind.ONLY_B, RowKind.ONLY_B: RowKind.ONLY_A}


def opened(sample: Sample) -> Document:
    return open_document(str(sample.path), format=sample.asked)


@cache
def tour() -> Document:
    return open_document(TOUR)


def compared(a: Document, b: Document, audience: Audience, spelling: Spelling = Spelling()) -> Comparison:  # noqa: B008
    return Comparison(a.project(audience), b.project(audience), spelling)


@each("sample", samples(), ids=lambda sample: sample.name, quick=240, test=8)
def test_a_sample_equals_itself(sample: Sample) -> None:
    one, other = opened(sample), opened(sample)
    for audience in (EVERYTHING, Audience(strict=True)):
        for spelling in (Spelling(), Spelling(strict=True, strict_json=True)):
            assert not compared(one, other, audience, spelling).totals().differ


@pytest.mark.slow
@each("sample", samples("valid"), ids=lambda sample: sample.name, quick=60, test=16)
def test_swapping_the_sides_swaps_the_rows(sample: Sample) -> None:
    one, other = opened(sample), tour()
    there, back = compared(one, other, EVERYTHING), compared(other, one, EVERYTHING)
    found = {(*there.numbers(row), there.kind(row)) for row in there.rows}
    mirrored = {(*back.numbers(row)[::-1], SWAPPED.get(back.kind(row), back.kind(row))) for row in back.rows}
    assert len(found) == len(mirrored)
    assert {kind for *_, kind in found} == {kind for *_, kind in mirrored}
    assert all_rows(there) == (there.sides[0].number.tolist(), there.sides[1].number.tolist())


def all_rows(comparison: Comparison) -> tuple[list[int], list[int]]:
    """Return the messages of each side that have a row, each once."""

    def of(row: Row, side: int) -> int | None:
        return comparison.numbers(row)[side]

    a, b = (sorted(number for row in comparison.rows if (number := of(row, side)) is not None) for side in (0, 1))
    return a, b


@pytest.mark.parametrize("format", ["openchatml-2.2", "harmony", "json"])
def test_the_safe_view_of_a_conversion_equals_that_of_its_source(format: str, tmp_path: Path) -> None:
    source = ROOT / "valid/openchatml-2.2/conversation.ocml"
    source = source if source.exists() else next(iter(samples("valid/openchatml-2.2"))).path
    made = tmp_path / "made"
    made.write_text(run("convert", "--to", format, source).out, "utf-8")
    done = run("diff", source, made)
    assert done.code == 0, done.out
