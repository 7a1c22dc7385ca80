"""Cases from the Harmony reference library: accepted text is read the same way, and rejected text is reported."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import each
from tests.support.reading import Reading, read, read_cut

CASES = [json.loads(line) for line in (Path(__file__).parent.parent / "data" / "harmony_reference.jsonl").open("rb")]
PROMPT = {"frame/open_header_eos", "spec/guide_01_joined", "spec/guide_04_joined"}


def text_of(case: dict[str, Any]) -> bytes:
    return base64.b64decode(case["text_b64"]) if case.get("text") is None else case["text"].encode()


def as_library(reading: Reading) -> list[dict[str, Any]]:
    rows = []
    for message, text in zip(reading.messages, reading.texts, strict=True):
        header = message.header  # type: ignore[attr-defined]
        kind = f"<|constrain|>{header.content_type}" if header.constrained else header.content_type
        rows.append(
            {
                "role": header.role,
                "name": header.name,
                "recipient": header.recipient,
                "channel": header.channel_given,
                "content_type": kind,
                "content": text,
            }
        )
    return rows


def exact(case: dict[str, Any]) -> list[dict[str, Any]] | None:
    if case["suspect"] == []:
        return case["expected"]  # type: ignore[no-any-return]
    return case["expected_ws"] if isinstance(case.get("expected_ws"), list) else None


@each("case", CASES, ids=lambda case: case["name"], quick=4)
def test_accepted_cases_read_exactly_and_others_are_reported(case: dict[str, Any]) -> None:
    reading = read(text_of(case), "harmony")
    expected = exact(case)
    if expected is not None:
        assert as_library(reading) == expected
    else:
        assert reading.findings


@each("case", CASES, ids=lambda case: case["name"])
def test_no_message_is_lost_that_reading_again_would_find(case: dict[str, Any]) -> None:
    found = as_library(read(text_of(case), "harmony"))
    for message in (case.get("resync") or {}).get("messages", []):
        assert message in found


@pytest.mark.slow
@each("case", CASES, ids=lambda case: case["name"], quick=24, test=4)
def test_cuts_never_change_the_result(case: dict[str, Any]) -> None:
    text = text_of(case)
    whole = read(text, "harmony")
    assert read_cut(text, "harmony", range(1, len(text))) == whole
    for cut in range(1, len(text)):
        assert read_cut(text, "harmony", [cut]) == whole
