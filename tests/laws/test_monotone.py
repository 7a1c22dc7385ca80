"""While an input grows byte by byte, shown text stays shown and grows only at its end."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import viewer.document.vault
from tests.support.cases import each
from tests.support.event_cases import CASES, Json, lines
from tests.support.late_cases import FOUND_CASES, HIDDEN_CASES, LATE_CASES
from tests.support.samples import KNOWN_TOO_LATE, Sample, samples
from tests.unit.document.test_live import Log
from tests.unit.formats.test_events import EVENT
from viewer.document.projection import Projection
from viewer.document.values import ShownMessage
from viewer.model.visibility import END_USER

Seen = list[tuple[str, str]]

STREAMS = [*CASES, *LATE_CASES, *HIDDEN_CASES, *FOUND_CASES]
LARGEST = 1_500
"""The maximum size in bytes of a sample that is written byte by byte."""


def seen(projection: Projection) -> dict[int, tuple[str, str]]:
    """Return the role and text of the messages that the user sees now."""
    items = projection.items()
    return {item.number: (item.role, item.body) for item in items if isinstance(item, ShownMessage)}


def withdrawn(data: bytes, format: str | None = None, size: int = 1) -> list[str]:
    """Return the text that was shown while the input grew but not at the end."""
    with tempfile.TemporaryDirectory() as folder:
        log = Log(Path(folder) / "run.log", format)
        try:
            return list(_withdrawn(log, data, size))
        finally:
            log.document.following.close()


def _withdrawn(log: Log, data: bytes, size: int) -> Iterator[str]:
    before: dict[int, tuple[str, str]] = {}
    for at in range(0, len(data), size):
        log.write(data[at : at + size])
        now = seen(log.document.project(END_USER))
        for number, (role, text) in before.items():
            its_role, its_text = now.get(number, ("", ""))
            if its_role != role or not its_text.startswith(text):
                yield f"{number}: {text} -> {its_text}"
        before = now


SAMPLES = [
    sample for sample in samples() if sample.path.stat().st_size <= LARGEST and sample.name not in KNOWN_TOO_LATE
]


@each("sample", SAMPLES, ids=lambda sample: sample.name, quick=0, test=120)
def test_no_shown_text_of_a_sample_is_withdrawn(sample: Sample) -> None:
    assert withdrawn(sample.path.read_bytes(), sample.asked) == []


@each("data", [case[1] for case in STREAMS], ids=[case[0] for case in STREAMS], quick=24, test=12)
def test_no_shown_text_of_a_stream_is_withdrawn(data: bytes) -> None:
    assert withdrawn(data, size=3) == []


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(EVENT, max_size=8), st.integers(1, 40))
def test_no_shown_text_of_any_stream_is_withdrawn(events: list[Json], size: int) -> None:
    assert withdrawn(lines(*events), "events", size) == []


PARTS = ["<|start|>", "user", "assistant", "<|channel|>", "final", "<|message|>", "Hi ", "<|end|>", "<|literal|>"]
PARTS += ["<|endliteral|>", "<|return|>", "\n", "<|start_reason|>", "<|constrain|>json", "\\ud83d"]


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.sampled_from(PARTS), max_size=12), st.integers(1, 5))
def test_no_shown_text_of_any_input_is_withdrawn(parts: list[str], size: int) -> None:
    assert withdrawn("".join(["<|start|>assistant<|channel|>final<|message|>", *parts]).encode(), None, size) == []


def test_a_token_of_another_format_is_not_shown_while_it_arrives() -> None:
    text = b"<|start|>assistant<|channel|>final<|message|>a <|literal|>x<|endliteral|> b<|end|>"
    assert withdrawn(text) == []


@pytest.mark.slow
def test_half_of_a_character_is_not_shown() -> None:
    events = rb'{"type":"response.delta","delta":"Hi \ud83d"}' + b"\n" + rb'{"type":"response.delta","delta":"\ude00"}'
    assert withdrawn(events + b"\n") == []


def test_an_unmatched_closing_tag_withdraws_the_text_before_it() -> None:
    """No program can know this before the tag arrives."""
    text = b"<|start|>assistant<|channel|>final<|message|>why</think> b<|end|>"
    assert withdrawn(text) == ["1: why -> "]


def test_these_tests_find_planted_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viewer.document.vault, "hold_back", lambda body, numbers: None)
    half = rb'{"type":"response.delta","delta":"Hi \ud83d"}' + b"\n" + rb'{"type":"response.delta","delta":"\ude00"}'
    assert withdrawn(half + b"\n") != []
