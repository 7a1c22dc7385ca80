"""Letters for the role and channel."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.shown import message
from viewer.document.values import Headline
from viewer.render.head import letter_of, look_of
from viewer.render.style import StyleRole


@pytest.mark.parametrize(
    ("changes", "letter", "look"),
    [
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
    ],
)
def test_every_role_has_a_letter_and_a_style(changes: dict[str, Any], letter: str, look: StyleRole) -> None:
    found = message(**changes)
    assert (letter_of(found), look_of(found)) == (letter, look)


def test_only_the_role_of_a_hidden_message_is_shown() -> None:
    assert letter_of(Headline(1, 1, False, "assistant")) == "·"
    assert letter_of(Headline(1, 1, False, "system")) == "S"
    assert look_of(Headline(1, 1, False, "system")) is StyleRole.QUIET
