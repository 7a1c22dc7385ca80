"""The words of a header: attributes and their values, problems, and the fields that the end user may see."""

from __future__ import annotations

import pytest

from viewer.formats.text.harmony import GRAMMAR as GRAMMAR_HARMONY
from viewer.formats.text.openchatml import GRAMMAR_2_2
from viewer.model.messages import Channel, Header
from viewer.reading.header import read_header, safe_header, withheld_count

CALL_IDS: list[tuple[bytes, str | None, list[str]]] = [
    (b"c1", "c1", []),
    (b"a=b", "a=b", []),
    (b"a=", "a=", []),
    (b"=", "=", []),
    (b"a==b=", "a==b=", []),
    (b"", None, ["attribute-empty"]),
    (b"c1 call_id=c1", "c1", []),
    (b"c1 call_id=", "c1", ["attribute-empty"]),
    (b"c1 call_id=c2", "c1", ["attribute-repeated"]),
]


@pytest.mark.parametrize("text, call_id, reasons", CALL_IDS)
def test_the_first_equals_sign_ends_the_key_and_an_empty_value_is_reported(
    text: bytes, call_id: str | None, reasons: list[str]
) -> None:
    for grammar in (GRAMMAR_2_2, GRAMMAR_HARMONY):
        words = b"assistant to=functions.f call_id=" + text + b"<|channel|>commentary<|constrain|>json"
        reading = read_header(words, grammar.header)
        of_text = [problem.reason for problem in reading.problems if (problem.reason or "").startswith("attribute-")]
        assert reading.header.call_id == call_id, words
        assert of_text == reasons, words
        assert reading.header.recipient == "functions.f"
        assert reading.header.malformed is bool(reasons)


def test_the_end_user_sees_listed_fields_with_listed_values_only() -> None:
    header = Header(
        "assistant",
        name="Ann\u202e\x1b",
        recipient="functions.f",
        channel=Channel.FINAL,
        intent="status",
        call_id="c1",
        content_type="secret/type",
        extra=(("mood", "curious"),),
    )
    assert withheld_count(header) == 5
    safe = safe_header(header)
    assert (safe.role, safe.channel, safe.name) == ("assistant", Channel.FINAL, "Ann")
    assert (safe.recipient, safe.intent, safe.call_id, safe.content_type, safe.extra) == (None, None, None, None, ())
    shown = Header("assistant", recipient="user", channel=Channel.COMMENTARY, intent="preamble", content_type="JSON")
    safe = safe_header(shown)
    assert (safe.recipient, safe.intent, safe.content_type) == ("user", "preamble", "JSON")
    assert withheld_count(shown) == 0
