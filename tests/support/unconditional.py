"""The checks without their prefilters."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from viewer.checks.check import Always, Check, Scope


def unconditional(checks: Sequence[Check]) -> tuple[Check, ...]:
    """The same checks, run for every message; the scanner decides still which headers to report again."""
    return tuple(check if check.scope is Scope.HEADER else replace(check, trigger=Always()) for check in checks)
