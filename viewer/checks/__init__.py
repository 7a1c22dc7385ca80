"""`CHECKS`, the ordered table of all checks."""

from __future__ import annotations

from viewer.checks.calls import CALLS
from viewer.checks.check import Check
from viewer.checks.headers import CALL_CHANNEL, CHANNEL, PREAMBLE, REPEATED
from viewer.checks.json import JSON_BODY
from viewer.checks.text import ENCODING, HIDDEN_CHARACTERS, TEMPLATE_MARKS, THOUGHTS

CHECKS: tuple[Check, ...] = (
    REPEATED,
    ENCODING,
    CHANNEL,
    CALL_CHANNEL,
    PREAMBLE,
    HIDDEN_CHARACTERS,
    THOUGHTS,
    TEMPLATE_MARKS,
    JSON_BODY,
    CALLS,
)
"""The checks of a message run in this order."""
