"""Chat apps: the selected version of each message is shown; everything else is hidden."""

from __future__ import annotations

import json
from typing import Any

from tests.support.agent_records import assert_others_are_hidden
from tests.support.cases import each
from tests.support.record_checks import shown
from tests.support.record_samples import assert_cuts_show_nothing_hidden, assert_read_as_expected
from tests.support.samples import Sample, samples

NAME = "chat-apps"


@each("sample", samples(f"valid/{NAME}"), ids=lambda sample: sample.name, quick=24, test=2, batch=32)
def test_a_sample_shows_what_its_expectation_says_and_no_cut_shows_more(sample: Sample) -> None:
    assert_read_as_expected(sample)
    assert_cuts_show_nothing_hidden(sample)


def test_other_formats_show_nothing_that_is_hidden() -> None:
    assert_others_are_hidden(NAME)


def versions(*texts: str, selected: object) -> dict[str, Any]:
    given = [{"type": "singleStep", "role": "assistant", "content": [{"type": "text", "text": text}]} for text in texts]
    return {"messages": [{"versions": given, "currentlySelected": selected}]}


def test_only_known_text_of_the_selected_version_is_shown() -> None:
    for selected, texts in ((0, ["a"]), (1, ["b"]), (2, []), (-1, []), ("x", []), (None, []), (99, [])):
        assert shown(json.dumps(versions("a", "b", selected=selected)), NAME) == texts, selected
    blocks: list[dict[str, Any]] = [
        {"style": {"type": "thinking"}},
        {"style": {}},
        {"role": "tool"},
        {"type": "new"},
        {"hidden": True},
    ]
    for block in blocks:
        step = {"type": "contentBlock", "content": [{"type": "text", "text": "SECRET"}], **block}
        chat = {
            "messages": [
                {"versions": [{"type": "multiStep", "role": "assistant", "steps": [step]}], "currentlySelected": 0}
            ]
        }
        assert shown(json.dumps(chat), NAME) == [], block
    message = {"role": "assistant", "content": "SECRET", "recipient": "search"}
    for chats in (
        {"exportType": "all", "state": {"messages": [message]}},
        {"data": {"chats": [{"id": "a", "messages": [message]}]}},
        {"session:a": {"id": "a", "messages": [message]}},
    ):
        assert shown(json.dumps(chats), NAME) == []
