"""Diagnostics taken in steps equal those requested at the end, in the same order."""

from __future__ import annotations

from pathlib import Path

from tests.support.cases import each
from tests.support.samples import Sample, samples
from viewer.document.diagnostics import DiagnosticView
from viewer.document.document import Document
from viewer.document.live import LiveDocument
from viewer.document.values import ShownDiagnostic
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal
from viewer.sources.files import open_source
from viewer.sources.follow import FollowSource

AUDIENCES = {
    "all": EVERYTHING,
    "thoughts": Audience(frozenset({Reveal.ANALYSIS})),
    "safe": END_USER,
    "strict": Audience(strict=True),
}


def facts(found: DiagnosticView, numbers: range) -> tuple[object, ...]:
    """Return all data of a view."""
    severities = ["error", "warning"]
    return (
        list(found),
        [found.of(number) for number in numbers],
        [found.place_of(one) for one in found],
        [found.severities[name] for name in severities],
        [list(found.numbers(name)) for name in severities],
        [number in found.faulty for number in numbers],
        [found.worst(first, first + 2) for first in numbers],
        (found.largest, found.codes),
    )


def expected(found: list[ShownDiagnostic], numbers: range) -> tuple[object, ...]:
    """Return the same data, computed diagnostic by diagnostic."""
    by_severity = {
        name: sorted(one.message for one in found if one.message and one.severity == name)
        for name in ("error", "warning")
    }

    def worst(first: int, last: int) -> str:
        return next((name for name, at in by_severity.items() if any(first <= one <= last for one in at)), "")

    return (
        found,
        [[one for one in found if number and one.message == number] for number in numbers],
        [found.index(one) for one in found],
        [sum(one.severity == name for one in found) for name in by_severity],
        list(by_severity.values()),
        [number in by_severity["error"] for number in numbers],
        [worst(first, first + 2) for first in numbers],
        (max((one.message or 0 for one in found), default=0), frozenset(one.code for one in found)),
    )


def without_notes(found: list[ShownDiagnostic], audience: Audience) -> list[ShownDiagnostic]:
    return [one for one in found if one.severity != "info" or not audience.is_safe]


@each(
    "sample, step, audience",
    [(sample, step, audience) for sample in samples() for step in (97, 7) for audience in AUDIENCES.values()],
    ids=lambda case: f"{case[0].name} {case[1:]}",
    quick=480,
    test=72,
)
def test_incremental_diagnostics_equal_those_of_the_projection(sample: Sample, step: int, audience: Audience) -> None:
    document = Document(open_source(str(sample.path)), sample.asked)
    projection = document.project(audience)
    rows = projection.rows()
    seen = projection.problems(rows)
    while not document.is_complete:
        document.read_some(step)
        rows.extend()
        assert_the_same(seen.extend(rows.settled_number), projection.diagnostics(), audience)
    assert_the_same(seen.extend(rows.settled_number), projection.diagnostics(), audience, full=not audience.strict)
    listed = [one for one in projection.diagnostics() if one.severity != "info"]
    for row in range(len(rows) if audience.strict else 0):
        assert seen.of(rows.value(row)) == [one for one in listed if one.message == rows.label(row)]
    assert seen.largest == max((one.message or 0 for one in seen), default=0)
    assert [seen.place_of(one) for one in seen] == [list(seen).index(one) for one in seen]


@each(
    "sample, audience",
    [(sample, audience) for sample in samples("broken") if not sample.is_compressed for audience in AUDIENCES.values()],
    ids=lambda case: f"{case[0].name} {case[1]}",
    quick=540,
    test=12,
)
def test_diagnostics_of_a_growing_file_equal_those_of_the_projection(
    sample: Sample, audience: Audience, tmp_path: Path
) -> None:
    data, path = sample.path.read_bytes(), tmp_path / "run.log"
    path.write_bytes(b"")
    document = LiveDocument(FollowSource(str(path)), sample.asked)
    reading, projection = document.detection, document.project(audience)
    rows = projection.rows()
    seen = projection.problems(rows)
    for end in range(0, len(data) + 40, 40):
        path.write_bytes(data[:end])
        document.load()
        if not document.project(audience).is_of_same_reading(projection) or document.detection is not reading:
            reading, projection = document.detection, document.project(audience)
            rows = projection.rows()
            seen = projection.problems(rows)
        rows.extend()
        assert_the_same(seen.extend(rows.settled_number), projection.diagnostics(), audience)
    document.close()


def assert_the_same(
    seen: DiagnosticView, listed: list[ShownDiagnostic], audience: Audience, *, full: bool = False
) -> None:
    wanted = without_notes(listed, audience)
    if full:
        assert facts(seen, range(40)) == expected(wanted, range(40))
    assert list(seen) == wanted
