"""Spans of traces read the same whether their conditions are tested on decoded values or on nodes."""

from __future__ import annotations

from zlib import crc32

import pytest

from tests.laws.test_fast_records import as_lines, events, format_of, mutations, record_samples
from tests.support.cases import each
from tests.support.samples import Sample
from viewer.formats import record_formats
from viewer.formats.engine import spans
from viewer.syntax.json_tree import JsonNode

TRACES = frozenset(format.name for format in record_formats() if format.spans is not None)
INNER = (
    b'{"traceId":"t","spanId":"s","name":"chat","attributes":[{"key":"ai.prompt","value":{"stringValue":'
    b'"{\\"messages\\":\\"[{\\\\\\"role\\\\\\":\\\\\\"user\\\\\\",\\\\\\"content\\\\\\":\\\\\\"Hi\\\\\\"}]\\"}"}},'
    b'{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}}]}\n'
)
"""JSON in a string inside JSON in a string: the inner string is found only after the outer one was replaced."""


def on_nodes(text: bytes, format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = events(text, format)
    with monkeypatch.context() as patch:
        patch.setattr(spans, "note_decoded", lambda node: None)
        assert events(text, format) == decoded


@each("sample", record_samples(), ids=lambda sample: sample.name, quick=480, test=12)
def test_spans_read_the_same_on_decoded_values(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    if format_of(sample) not in TRACES:
        return
    text = as_lines(sample.text)
    for one in (sample.text, text, *mutations(text, crc32(sample.name.encode()), 3)):
        on_nodes(one, format_of(sample), monkeypatch)


def test_an_inner_string_of_an_inner_string_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    on_nodes(INNER, "otel", monkeypatch)
    with pytest.raises(AssertionError):
        monkeypatch.setattr(spans, "note_decoded", stale)
        on_nodes(INNER.replace(b"ai.prompt", b"gen_ai.input.messages") + INNER, "otel", monkeypatch)


def stale(node: JsonNode) -> None:
    """Claim that a span has no members."""
    node.decoded = {}
