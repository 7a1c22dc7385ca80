"""The checks without their prefilters."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from viewer.checks.check import Always, Check, Scope


def unconditional(checks: Sequence[Check]) -> tuple[Check, ...]:
    """Return the same checks, run for every message. The scanner still decides which headers to parse again."""
    return tuple(check if check.scope is Scope.HEADER else replace(check, trigger=Always()) for check in checks)
