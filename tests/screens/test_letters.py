"""Letters for the role and channel."""

from __future__ import annotations

from typing import Any

from tests.support.shown import message
from viewer.document.values import Headline
from viewer.render.head import letter_of, look_of
from viewer.render.style import StyleRole


def test_every_role_has_a_letter_and_a_style() -> None:
    expected: list[tuple[dict[str, Any], str, StyleRole]] = [
        ({"role": "system"}, "S", StyleRole.SYSTEM),
        ({"role": "system:example_user"}, "S", StyleRole.SYSTEM),
        ({"role": "developer"}, "D", StyleRole.SYSTEM),
        ({"role": "user"}, "U", StyleRole.USER),
        ({"role": "tool", "channel": "commentary"}, "T", StyleRole.TOOL),
        ({"role": "assistant"}, "F", StyleRole.ASSISTANT),
        ({"role": "assistant", "channel": "analysis"}, "A", StyleRole.ANALYSIS),
        ({"role": "assistant", "channel": "commentary"}, "C", StyleRole.COMMENTARY),
        ({"role": "assistant", "channel": None}, "?", StyleRole.UNKNOWN),
        ({"role": "wizard"}, "?", StyleRole.UNKNOWN),
    ]
    found = [(changes, message(**changes)) for changes, _, _ in expected]
    assert [(changes, letter_of(each), look_of(each)) for changes, each in found] == expected


def test_only_the_role_of_a_hidden_message_is_shown() -> None:
    assert letter_of(Headline(1, 1, False, "assistant")) == "·"
    assert letter_of(Headline(1, 1, False, "system")) == "S"
    assert look_of(Headline(1, 1, False, "system")) is StyleRole.QUIET
