"""Cursor transcripts: the query and the answers are shown; everything else is hidden."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.agent_records import (
    as_lines,
    assert_drift_is_hidden,
    assert_hidden,
    assert_others_are_hidden,
    calls,
    found,
    kinds,
    shown,
)
from tests.support.record_samples import assert_read_as_expected, samples_of
from tests.support.samples import Sample
from viewer.formats import detect

NAME = "cursor"


def record(role: str, *parts: Any, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": part} if isinstance(part, str) else part for part in parts]
    return {"role": role, "message": {"content": content}, **more}


def user(text: str) -> bytes:
    return as_lines({"role": "user", "message": {"content": text}})


def test_only_the_query_was_typed() -> None:
    for text, seen in (
        ("<user_query>\nRename it.\n</user_query>", ["Rename it."]),
        ("<open_files>SECRET_F</open_files>\n<user_query>Go.</user_query>\nSECRET_AFTER", ["Go."]),
        ("SECRET_BEFORE <user_query>One.</user_query><user_query>Two.</user_query>", ["One.", "Two."]),
        ("<file><user_query>SECRET_QUOTED</user_query></file><user_query>Go.</user_query>", ["Go."]),
        ("<user_query>SECRET_UNCLOSED", []),
        ("SECRET_X <user_query class='a'>Go.</user_query>", ["Go."]),
        ("<rules>SECRET_RULES</rules>", []),
        ("\n <rules> SECRET_RULES", []),
        ("Plain words, 1 < 2.", ["Plain words, 1 < 2."]),
        ("Use <b>bold</b> here.", ["Use <b>bold</b> here."]),
        ("<user_query>Use <b>bold</b>.</user_query>", ["Use <b>bold</b>."]),
    ):
        assert shown(user(text), NAME) == seen, text
        assert shown(as_lines(record("user", text)), NAME) == seen, text


SESSION = [
    record("user", "<user_info>SECRET_OS</user_info><user_query>Rename the class.</user_query>"),
    record(
        "assistant",
        {"type": "thinking", "thinking": "SECRET_TH"},
        "I rename it.",
        {"type": "tool_use", "name": "Edit", "input": {"path": "SECRET_ARG"}},
    ),
    record("user", {"type": "tool_result", "content": "SECRET_OUT", "is_error": True}),
    record("assistant", {"type": "hologram", "text": "SECRET_NEW"}, "Done."),
    record("system", "SECRET_SYS"),
    {"role": "assistant", "note": {"text": "SECRET_NOTE"}},
]


def test_each_part_has_its_kind() -> None:
    data = as_lines(*SESSION)
    assert [kind for kind, _ in kinds(data, NAME)] == [
        *("injected", "said", "thought", "said", "call", "reply", "unknown", "said", "unknown"),
    ]
    assert shown(data, NAME) == ["Rename the class.", "I rename it.", "Done."]
    assert {"W-PART-UNKNOWN", "W-TOOL-FAILED", "W-CONTENT-MISSING"} <= set(found(data, NAME))
    assert len(calls(data, NAME)) == 1


def test_other_records_with_a_role_are_not_taken_for_a_transcript() -> None:
    assert detect(as_lines(*SESSION)).format == NAME
    assert detect(as_lines({"role": "user", "content": "Hi.", "message": {"content": "x"}})).format == "json"


@pytest.mark.slow
def test_a_damaged_file_shows_nothing_hidden() -> None:
    assert_hidden(as_lines(*SESSION), NAME)
    assert_drift_is_hidden(SESSION, NAME)
    assert_others_are_hidden(NAME)


STREAMS = [sample for sample in samples_of(NAME) if sample.base.startswith("stream-")]


@pytest.mark.surfaces
@pytest.mark.share(test=2)
@pytest.mark.parametrize("sample", STREAMS, ids=lambda sample: sample.name)
def test_a_stream_of_the_command_line_shows_what_its_expectation_says(sample: Sample) -> None:
    assert_read_as_expected(sample)


def piece(text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "session_id": "s", "timestamp_ms": 1, **more}


def test_only_the_whole_answer_of_a_stream_is_shown() -> None:
    pieces = [piece("Hel"), piece("lo.")]
    assert kinds(as_lines(*pieces), NAME) == [("replayed", "Hello.")]
    assert shown(as_lines(*pieces, piece("Hello.", model_call_id="m")), NAME) == ["Hello."]
