"""Findings: equal neighbors are merged into one with a count, and the number per code is capped."""

from __future__ import annotations

import tracemalloc

import pytest

from viewer.document.document import Document
from viewer.index.findings import MOST_PER_CODE, Findings
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.rules.structure import W_ENCODING, W_TEXT_BETWEEN
from viewer.sources.files import SpooledSource
from viewer.syntax.utf8 import ill_formed, whole_characters


def findings_of(data: bytes, spans: list[tuple[int, int]], most: int = 0, message: int | None = None) -> Findings:
    findings = Findings(lambda start, end: data[start:end], most)
    for start, end in spans:
        findings.add(W_TEXT_BETWEEN, None, start, end, message)
    return findings


def test_equal_neighbors_are_one_with_a_span_over_the_run() -> None:
    data = b"ab  cd" + b"\n" * 9000 + b"ef x gh"
    (run, other) = findings_of(data, [(0, 2), (4, 6), (9006, 9008), (9011, 9013)])
    assert (run.start, run.end, run.count) == (0, 9008, 3)
    assert (other.start, other.end, other.count) == (9011, 9013, 1)


def test_neighbors_of_other_messages_or_reasons_stay_apart() -> None:
    findings = Findings(lambda start, end: b" " * (end - start))
    findings.add(W_ENCODING, "nul", 0, 1, 1)
    findings.add(W_ENCODING, "nul", 1, 2, 2)
    findings.add(W_ENCODING, "invalid-utf8", 2, 3, 2)
    assert [found.count for found in findings] == [1, 1, 1]


def test_empty_spans_join_only_at_the_same_place() -> None:
    assert [(one.start, one.count) for one in findings_of(b"    ", [(1, 1), (1, 1), (2, 2)])] == [(1, 2), (2, 1)]


def test_a_limited_number_per_code_is_kept_and_the_rest_counted() -> None:
    findings = findings_of(b"a.a.a.a.a.", [(0, 1), (2, 3), (4, 5), (6, 7), (8, 9)], most=2)
    assert [found.start for found in findings] == [0, 2]
    assert findings.more == {"W-TEXT-BETWEEN": 3}
    assert findings.total("warning") == 5
    findings.add(W_ENCODING, "nul", 9, 10, None, 7)
    assert findings.total("warning") == 12
    assert len(findings) == 3


def document(data: bytes) -> Document:
    return Document(SpooledSource("x", iter([data]), False)).load()


def test_a_run_of_nul_bytes_is_one_finding_with_a_count_in_a_body_and_outside() -> None:
    data = b"version: 2.2\n<|start|>user<|message|>a\0\0\0 \0b<|end|>\n" + b"\0" * 3_000_000 + b"\n"
    found = [one.diagnostic for one in document(data).findings() if one.diagnostic.code == "W-ENCODING"]
    at = data.index(b"\0")
    assert [(one.start, one.end, one.count) for one in found] == [
        (at, at + 5, 4),
        (data.index(b"\n\0") + 1, len(data) - 1, 3_000_000),
    ]


def test_a_character_across_a_block_boundary_is_whole() -> None:
    text = "\N{GRINNING FACE}é\N{EURO SIGN}".encode() + b"\xf0\x9f\x98 \x80\x80\x80\x80\x80 \xe2\x82"
    for cut in range(4, len(text)):
        first = whole_characters(text[:cut], True)
        assert first
        rest = text[len(first) :]
        assert [*ill_formed(first), *ill_formed(rest, len(first))] == list(ill_formed(text)), cut
    assert whole_characters(text, False) == text


def test_duplicate_keys_of_an_object_are_one_finding() -> None:
    head = b"version: 2.2\n<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|constrain|>json<|message|>"
    body = b'{"k":1,"k":1,"k":1,"o":{"x":1,"x":2}}'
    found = [one.diagnostic for one in document(head + body + b"<|call|>").findings()]
    keys = [(one.start - len(head), one.end - len(head), one.count) for one in found if one.code.endswith("KEY")]
    assert keys == [(7, 10, 2), (30, 33, 1)]


@pytest.mark.slow
def test_many_duplicate_keys_take_little_memory() -> None:
    head = b"version: 2.2\n<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|constrain|>json<|message|>"
    data = head + b"{" + b",".join([b'"k":1'] * 200_000) + b"}<|call|>"
    one = Document(SpooledSource("x", iter([data]), False), "openchatml-2.2")
    tracemalloc.start()
    one.load()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * len(data)
    assert one.tally.diagnostics("warning") >= 199_999


HIDDEN = "<|start|>assistant<|channel|>analysis<|message|>a\u200bb<|end|>\n"
SHOWN = "<|start|>assistant<|channel|>final<|message|>c\u200bd<|end|>\n"


def disclosed(text: str, audience: Audience) -> list[tuple[object, ...]]:
    document = Document(SpooledSource("x", iter([f"version: 2.2\n{text}".encode()]), False)).load()
    found = document.project(audience).diagnostics()
    return [(one.code, one.reason, one.message, one.count) for one in found if not one.hidden]


@pytest.mark.share(test=3)
@pytest.mark.parametrize("shown", [1, 999, 1_500])
def test_hidden_problems_do_not_push_out_those_that_the_end_user_sees(shown: int) -> None:
    strict = Audience(strict=True)
    alone = disclosed(SHOWN * shown, strict)
    assert len(alone) == min(shown, MOST_PER_CODE)
    half = shown // 2
    for hidden in (1, 2_100):
        assert disclosed(HIDDEN * hidden + SHOWN * shown, strict) == alone
        assert disclosed(SHOWN * half + HIDDEN * hidden + SHOWN * (shown - half), strict) == alone
        assert len(disclosed(HIDDEN * hidden + SHOWN * shown, END_USER)) == len(alone)


@pytest.mark.slow
def test_a_developer_gets_no_more_than_the_cap() -> None:
    document = Document(SpooledSource("x", iter([f"version: 2.2\n{HIDDEN * 5_000}{SHOWN}".encode()]), False)).load()
    assert len(document.findings()) == len(document.project(EVERYTHING).diagnostics()) == MOST_PER_CODE
    assert document.tally.unlisted == {"W-TEXT-HIDDEN-CHARACTERS": 4_001}
    projection = document.project(EVERYTHING)
    assert len(projection.problems(projection.rows()).extend(5_001)) == MOST_PER_CODE
