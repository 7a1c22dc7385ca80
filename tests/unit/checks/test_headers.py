"""Checks of headers: required channels, and preambles that have no effect."""

from __future__ import annotations

import pytest

from tests.support.reading import codes, read

PROFILE = "version: 2.2\nprofiles:\n  harmony:\n    require_channels: [analysis, commentary, final]\n"
PLAIN = "version: 2.2\n"
CALL = "<|start|>assistant to=functions.f call_id=c<|channel|>commentary<|message|>{}<|call|>\n"
MISSING = "E-PARSE-CHANNEL-MISSING"
ON_CALL, ON_ANALYSIS = "E-PERM-VISIBILITY/preamble-on-call", "E-PERM-VISIBILITY/preamble-on-analysis"

CHANNELS = [
    (PROFILE, "<|start|>assistant<|message|>a<|end|>\n", True),
    (PROFILE, CALL + '<|start|>tool name=functions.f call_id=c<|message|>{"ok":true}<|end|>\n', True),
    (PROFILE, "<|start|>user<|message|>a<|end|>\n", False),
    (PROFILE, "<|start|>assistant<|channel|>final<|message|>a<|end|>\n", False),
    (PLAIN, CALL + '<|start|>tool name=functions.f call_id=c<|message|>{"ok":true}<|end|>\n', False),
]
PREAMBLES = [
    ("assistant intent=preamble<|channel|>commentary", "<|end|>", []),
    ("assistant intent=preamble<|channel|>commentary", "<|call|>", [ON_CALL]),
    ("assistant to=functions.f call_id=c intent=preamble<|channel|>commentary", "<|call|>", [ON_CALL]),
    ("assistant intent=preamble<|channel|>analysis", "<|end|>", [ON_ANALYSIS]),
    ("user intent=preamble", "<|end|>", []),
]


@pytest.mark.parametrize(("head", "text", "is_reported"), CHANNELS)
def test_a_profile_requires_channels_of_assistants_and_tools(head: str, text: str, is_reported: bool) -> None:
    assert (MISSING in codes(read(head + text, "openchatml-2.2"))) is is_reported


@pytest.mark.parametrize(("header", "stop", "reported"), PREAMBLES)
def test_a_preamble_on_analysis_or_on_a_call_is_reported(header: str, stop: str, reported: list[str]) -> None:
    found = codes(read(f"{PLAIN}<|start|>{header}<|message|>a{stop}\n", "openchatml-2.2"))
    assert [code for code in found if code.startswith("E-PERM")] == reported
