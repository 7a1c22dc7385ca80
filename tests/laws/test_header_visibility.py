"""The visibility rule agrees with a table from VISIBILITY.md for generated headers of the text formats."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.reading import examine
from viewer.model.visibility import is_user_safe
from viewer.reading.format import ReadOptions

ROLES = [
    *("user", "assistant", "system", "developer", "tool", "functions.f", "python", "browser.search"),
    *("User", "assistantassistant", "system:example_user", "assistant:example_user", "functions.", "model", "final"),
]
CHANNELS = [
    *(None, "final", "final", "analysis", "commentary", "commentary", "Final", "Analysis", "anaylsis", ""),
    *("final\N{NO-BREAK SPACE}", "fin\N{CYRILLIC SMALL LETTER A}l", "final?"),
]
RECIPIENTS = [None, None, None, "user", "assistant", "all", "functions.f", "python", "User", "customer"]
INTENTS = [None, None, "preamble", "debug", "status", "plan", "Preamble", "preamble,debug"]
ATTRIBUTES = ["", "", " mood=curious", " cot=x", " name=eve", " content_type=json", " intent=preamble", " intent=debug"]
TYPES = ["", "", "<|constrain|>json", " json", " text", " code"]
STOPS = ["<|end|>", "<|end|>", "<|return|>", "<|call|>", ""]
FORMATS = ["openchatml-2.2", "openchatml-2.2", "openchatml-2.0", "openchatml-1.x", "harmony", "harmony preambles"]


@dataclass(frozen=True)
class Words:
    """A generated header."""

    format: str
    role: str
    channel: str | None
    recipient: str | None
    intent: str | None
    attributes: tuple[str, ...]
    type: str
    stop: str
    second_channel: str | None
    late: bool
    """True if the attributes come after the channel."""

    @property
    def text(self) -> str:
        words = f" to={self.recipient}" if self.recipient else ""
        words += f" intent={self.intent}" if self.intent else ""
        words += "".join(self.attributes)
        channels = (self.channel, self.second_channel) if self.channel is not None else ()
        channel = "".join(f"<|channel|>{one}" for one in channels if one is not None)
        order = channel + words if self.late and self.channel else words + channel
        return f"<|start|>{self.role}{order}{self.type}<|message|>x{self.stop}"


WORDS = st.builds(
    Words,
    st.sampled_from(FORMATS),
    st.sampled_from([*ROLES, *["user", "assistant"] * 8]),
    st.sampled_from(CHANNELS),
    st.sampled_from(RECIPIENTS),
    st.sampled_from(INTENTS),
    st.lists(st.sampled_from(ATTRIBUTES), max_size=2).map(tuple),
    st.sampled_from(TYPES),
    st.sampled_from(STOPS),
    st.sampled_from([None] * 8 + ["final", "analysis"]),
    st.booleans(),
)


def may_be_shown(words: Words) -> bool:
    """True if section 1 shows the message: one of the rows matches, and no entry of "always hidden" applies."""
    if words.second_channel is not None and words.channel is not None:
        return False
    intents = {words.intent, *re.findall(r"intent=(\S+)", "".join(words.attributes))} - {None}
    if intents & {"debug", "status"} or len(intents) > 1:
        return False
    if words.role == "user":
        return words.channel in (None, "final") and words.recipient in (None, "assistant")
    if words.role != "assistant":
        return False
    if words.channel is None:
        return words.recipient is None
    if words.channel == "final":
        return words.recipient in (None, "user")
    if words.channel != "commentary" or words.recipient not in (None, "user") or words.stop in ("", "<|call|>"):
        return False
    if words.format == "openchatml-2.2":
        return intents == {"preamble"}
    is_data = words.type not in ("", " text") or " content_type=json" in words.attributes
    return words.format == "harmony preambles" and words.recipient is None and not is_data and intents <= {"preamble"}


@pytest.mark.slow
@pytest.mark.parametrize("examples", [150, pytest.param(1500, marks=pytest.mark.lab)])
def test_nothing_is_shown_that_the_table_does_not_list(examples: int) -> None:
    @settings(max_examples=examples)
    @given(WORDS)
    def search(words: Words) -> None:
        data = words.text.encode()
        format, _, preambles = words.format.partition(" ")
        analysis = examine([data], data, format, ReadOptions(harmony_preambles=bool(preambles)))
        shown = [is_user_safe(message) for message in analysis.index]
        malformed = {one.message for one in analysis.findings if one.code == "E-PARSE-HEADER"}
        assert len(shown) == 1
        assert shown[0] == (may_be_shown(words) and 1 not in malformed), words.text
        assert all(analysis.index[number].header.malformed for number in malformed if number)
        assert bool(malformed) == analysis.index[1].header.malformed

    search()
