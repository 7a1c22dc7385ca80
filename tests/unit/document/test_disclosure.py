"""Disclosure of diagnostics: about text that an audience does not see, it learns only the code."""

from __future__ import annotations

import pytest

from viewer.document.document import Document
from viewer.document.values import ShownDiagnostic
from viewer.model.visibility import END_USER, EVERYTHING, Audience, Reveal
from viewer.sources.files import SpooledSource

TEXT = (
    b"version: 2.2\nmodel: [\n"
    b"<|start|>user<|message|>a\0b<|end|>\n"
    b"<|start|>assistant<|channel|>analysis<|message|>c\0d<|end|>\n"
    b"<|start|>assistant<|channel|>final<|message|>e<|return|>\n"
)
ANALYSIS, STRAY = (Audience(frozenset({what})) for what in (Reveal.ANALYSIS, Reveal.STRAY))
STRICT = Audience(strict=True)
CODES = ("E-PARSE-HEADER", "W-ENCODING")
OUTSIDE, SEEN, HIDDEN = None, 1, 2
EXPECTED: list[tuple[str, Audience, set[int | None], set[int | None]]] = [
    ("end user", END_USER, {SEEN}, set()),
    ("analysis", ANALYSIS, {SEEN, HIDDEN}, {SEEN, HIDDEN}),
    ("stray text", STRAY, {OUTSIDE, SEEN}, {OUTSIDE, SEEN}),
    ("everything", EVERYTHING, {OUTSIDE, SEEN, HIDDEN}, {OUTSIDE, SEEN, HIDDEN}),
]


def with_reasons(audience: Audience) -> list[ShownDiagnostic]:
    document = Document(SpooledSource("input", iter([TEXT]), False)).load()
    return [found for found in document.project(audience).diagnostics() if found.code in CODES]


@pytest.mark.parametrize(("name", "audience", "reasons", "places"), EXPECTED)
def test_the_reason_and_the_place_follow_what_is_seen(
    name: str, audience: Audience, reasons: set[int | None], places: set[int | None]
) -> None:
    found = with_reasons(audience)
    assert {each.message for each in found} == {OUTSIDE, SEEN, HIDDEN}, name
    assert {each.message for each in found if each.reason is not None} == reasons
    assert {each.message for each in found if each.span is not None or each.line is not None} == places
    assert all(each.hidden is (each.message not in reasons) for each in found)


def test_a_strict_audience_learns_of_shown_messages_only() -> None:
    assert [each.message for each in with_reasons(STRICT)] == [SEEN]


OPEN = b"version: 2.2\n<|start|>user a=1<|message|>a<|end|>\n<|start|>assistant a=1<|channel|>final<|message|>b"


def test_a_strict_audience_learns_of_an_open_message_when_it_is_certain() -> None:
    """While the input is read, an open message may still turn out to be a thought. The one before it cannot."""
    document = Document(SpooledSource("input", iter([OPEN + b" c" * 2000 + b"<|end|>\n"]), False))
    document.read_some(len(OPEN))
    known = []
    for _ in range(2):
        for audience in (STRICT, EVERYTHING):
            projection = document.project(audience)
            known.append([each.message for each in projection.diagnostics()])
            growing = projection.problems(projection.rows()).extend(len(document.index))
            assert [growing[place].message for place in range(len(growing))] == known[-1]
        document.load()
    assert known == [[1], [1, 2], [1, 2], [1, 2]]
