"""Detect the format of an input from its beginning."""

from __future__ import annotations

import pytest

from tests.support.cases import each
from tests.support.template_cases import CASES as TEMPLATES
from viewer.formats import FORMATS, RECORD_FORMATS, detect
from viewer.formats.detect import HEAD

CASES = [
    ("aider", "# aider chat started at 2026-01-02 03:04:05\n\n#### Hello.\n"),
    ("aider", "A note.\n\n# aider chat started at 2026-01-02 03:04:05\n"),
    ("openchatml-2.2", "version: 2.2\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-2.2", "---\nmodel: m\n---\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-2.2", 'model: m\nversion: "2.2"\n<|start|>user<|message|>x<|end|>'),
    ("openchatml-2.2", "version: [2.2\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-2.2", "version: 7.5\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-2.2", "version: 2.2\n"),
    (
        "openchatml-2.2",
        'version: 2.2\ncapabilities:\n  tokens: ["<|im_start|>","<|start|>"]\n<|start|>user<|message|>x<|end|>',
    ),
    ("openchatml-2.0", "version: 2.0\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-2.0", "version: 2\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-1.x", "version: 1.1\n<|start|>user<|message|>x<|end|>"),
    ("openchatml-0.1", "version: 0.1\n<|im_start|>user\nx<|im_end|>"),
    ("openchatml-2.2", "<|start|>assistant to=functions.f call_id=a<|channel|>commentary<|message|>{}<|call|>"),
    ("openchatml-2.2", "<|start|>assistant<|channel|>commentary intent=preamble<|message|>x<|end|>"),
    ("openchatml-2.2", "<|start|>tool name=functions.f<|message|>x<|end|>"),
    ("openchatml-2.2", "<|start|>tool<|message|>x<|end|>"),
    ("openchatml-2.2", "<|start|>user<|message|><|literal|>x<|endliteral|><|end|>"),
    ("openchatml-1.x", "<|start|>user<|message|>x<|end|>\n<|start|>assistant<|message|>y<|end|>"),
    ("harmony", "<|start|>user<|message|>x<|end|><|start|>assistant"[:40]),
    ("harmony", "<|start|>system<|message|># Valid channels: final<|end|><|start|>assistant<|message|>y<|end|>"),
    ("harmony", "<|channel|>analysis<|message|>x<|end|><|start|>assistant<|channel|>final<|message|>y<|return|>"),
    ("harmony", "<|start|>functions.f to=assistant<|channel|>commentary<|message|>x<|end|>"),
    ("harmony", "We must refuse.<|end|><|start|>assistant<|channel|>final<|message|>Sorry<|return|>"),
    ("harmony", "analysisWe need to greet.assistantfinalHello"),
    ("openchatml-0.1", "[BOS]<|im_start|>user\nx<|im_end|>"),
    ("openchatml-0.1", "<|fim_prefix|>a<|fim_middle|><|fim_suffix|>b"),
    ("openchatml-0.1", "one\n<|file_separator|>\ntwo"),
    ("chatml-json", '[{"token": "<|start|>"}, "user", {"token": "<|message|>"}, "x", {"token": "<|end_message|>"}]'),
    ("chatml-json", '["text", {"token": "<|end_message|>"}]'),
    ("json", '{"role": "user", "content": "<|start|>"}'),
    ("json", '[{"role": "user", "content": "a"}]'),
    ("json", '{"messages": [{"role": "user", "content": "a"}]}'),
    ("json", '{"messages": [{"role": "user", "content": "a"}], "tools": [], "response": {"choices": []}}'),
    ("json", '{"choices": [{"message": {"role": "assistant", "content": "a"}}]}'),
    ("json", '{"role": "user", "content": "a\n{"role": "user", "content": "b"}\n'),
    ("events", '{"type": "response.delta", "delta": "<|start|>"}\n'),
    ("events", '{"event": "tool.cancel", "call_id": "a"}\n'),
    ("events", '{"choices": [{"delta": {"content": "a"}}]}\n'),
    ("events", 'event: response.delta\ndata: {"delta": "a"}\n\n'),
    ("events", 'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n'),
    ("harmony-tokens", "[200006, 1428, 200008]"),
    ("harmony-tokens", "200006\n1428\n200008\n"),
    ("harmony-tokens", "200006 1428 200008\n13225 200007\n"),
    ("harmony-tokens", "[200006, 14"),
    *((case.format, case.whole) for case in TEMPLATES),
    ("server-log", "INFO Received request cmpl-1: prompt: '<|im_start|>user\\n', params: None\n"),
]


@each("format, text", CASES, ids=lambda case: f"{case[0]}: {case[1][:40]}")
def test_the_beginning_decides(format: str, text: str) -> None:
    detection = detect(text.encode())
    assert detection.format == format
    assert detection.reason
    assert 0 < detection.confidence <= 1


@each("format, text", CASES, ids=lambda case: f"{case[0]}: {case[1][:40]}")
def test_a_byte_order_mark_does_not_change_the_format(format: str, text: str) -> None:
    assert detect(b"\xef\xbb\xbf" + text.encode()).format == format


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "Just some prose.\n",
        '{"note": 1}',
        '{"choices": ["a"]}',
        '[{"type": "session.created", "properties": {"info": {}}}]',
        "\x00\x01\x02",
        "[[[[",
        "{" * 1000,
    ],
)
def test_a_file_that_is_no_transcript_has_no_confidence(text: str) -> None:
    assert detect(text.encode()).confidence == 0


def test_only_the_first_64_kilobytes_are_read() -> None:
    assert detect(b" " * HEAD + b"[BOS]<|im_start|>user\nx<|im_end|>").confidence == 0


def test_every_name_is_a_format() -> None:
    assert {format for format, _ in CASES} == set(FORMATS) - {row.name for row in RECORD_FORMATS}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{\n  "name": "shop",\n  "version": "1.0.0",\n  "private": true\n}\n', "json"),
        ('version: "3.8"\nservices:\n  web:\n    image: nginx\n', "text"),
        ("---\ntitle: A day at sea\n---\n\nThe wind was strong.\n", "text"),
        ("---\nname: sailing\nversion: 1.0\n---\n\nThe wind was strong.\n", "text"),
        ("1 2 3\n4 5 6\n", "text"),
    ],
)
def test_a_mere_version_is_no_transcript(text: str, kind: str) -> None:
    assert detect(text.encode()).unknown == kind
