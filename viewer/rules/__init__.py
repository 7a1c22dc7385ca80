"""`RULES`, the table of all diagnostic codes: one module for errors, one for notes, and the others by topic."""

from __future__ import annotations

from viewer.model.diagnostic import Rule
from viewer.rules.calls import CALLS
from viewer.rules.errors import ERRORS
from viewer.rules.leaks import I_LEAK, W_LEAK
from viewer.rules.notes import NOTES
from viewer.rules.run import RUN
from viewer.rules.structure import FRAMES, TEXT

RULES: dict[str, Rule] = {rule.code: rule for rule in (*ERRORS, *FRAMES, *CALLS, *RUN, *TEXT, W_LEAK, *NOTES, I_LEAK)}
