"""`RULES`, the table of all that can be wrong with a transcript, and the value that says where."""

from __future__ import annotations

from viewer.core.rules import Rule, Severity, fill_in
from viewer.core.rules_calls import CALLS
from viewer.core.rules_errors import ERRORS
from viewer.core.rules_notes import NOTES
from viewer.core.rules_structure import FRAMES, TEXT
from viewer.values import frozen

__all__ = ["RULES", "Diagnostic", "Rule", "Severity"]

RULES: dict[str, Rule] = {rule.code: rule for rule in (*ERRORS, *FRAMES, *CALLS, *TEXT, *NOTES)}


@frozen
class Diagnostic:
    """Something wrong, or worth knowing, at an exact place."""

    code: str
    reason: str | None
    message: int | None
    """The number of the message it belongs to."""
    start: int
    end: int
    count: int = 1
    """Equal diagnostics that touch are one."""

    @property
    def rule(self) -> Rule:
        """Its row of the table."""
        return RULES[self.code]

    @property
    def sentence(self) -> str:
        """The text of the reason, or the title, without values of the transcript."""
        return fill_in(self.template)

    @property
    def template(self) -> str:
        """The text of the reason, or the title, as it is in the table."""
        return self.rule.template(self.reason)
