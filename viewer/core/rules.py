"""What a row of the table of diagnostics is."""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from viewer.values import frozen


class Severity(Enum):
    """How much it matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@frozen
class Rule:
    """One row: what a code means, in words that never quote the transcript."""

    code: str
    title: str
    """One sentence for a developer."""
    safe: str
    """One sentence for an end user; tells nothing of hidden content."""
    section: str
    """Where it comes from."""
    advice: str
    """What to do about it."""
    example: str
    """A short transcript that has it."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Each reason and its sentence."""

    @property
    def severity(self) -> Severity:
        """Told by the first letter of the code."""
        return {"E": Severity.ERROR, "W": Severity.WARNING, "I": Severity.INFO}[self.code[0]]
