"""`RULES`, the table of all diagnostic codes."""

from __future__ import annotations

from viewer.core.rules import Rule
from viewer.core.rules_calls import CALLS
from viewer.core.rules_errors import ERRORS
from viewer.core.rules_notes import NOTES
from viewer.core.rules_structure import FRAMES, TEXT

RULES: dict[str, Rule] = {rule.code: rule for rule in (*ERRORS, *FRAMES, *CALLS, *TEXT, *NOTES)}
