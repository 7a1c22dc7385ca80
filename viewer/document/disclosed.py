"""Disclosure of one diagnostic: for a hidden message only code, severity and number."""

from __future__ import annotations

from collections.abc import Callable

from viewer.document.positions import Positions
from viewer.document.values import ShownDiagnostic
from viewer.document.vault import Vault
from viewer.document.visibility_cache import VisibilityCache
from viewer.index.calls import CallLedger
from viewer.model.diagnostic import Diagnostic
from viewer.model.visibility import Audience


def for_end_user(diagnostic: Diagnostic, sight: VisibilityCache, label_of: Callable[[int], int]) -> ShownDiagnostic:
    """The diagnostic for the end user, without positions."""
    code, severity, message = diagnostic.code, diagnostic.rule.severity.value, diagnostic.message
    if message is None or not sight.sees(message):
        return ShownDiagnostic(code, None, severity, message, True, None, None, None, None)
    number = label_of(message)
    return ShownDiagnostic(code, diagnostic.reason, severity, number, False, None, None, None, diagnostic.count)


def for_developer(
    diagnostic: Diagnostic,
    sight: VisibilityCache,
    audience: Audience,
    places: Positions,
    vault: Vault,
    calls: CallLedger,
) -> ShownDiagnostic:
    """The diagnostic for a developer, with its position if the audience sees its message."""
    code, severity, message = diagnostic.code, diagnostic.rule.severity.value, diagnostic.message
    if not (audience.sees_stray if message is None else sight.sees(message)):
        return ShownDiagnostic(code, None, severity, message, True, None, None, None, None)
    line, column = places.line_and_column(diagnostic.start)
    span = diagnostic.start, diagnostic.end
    value = vault.value_for(audience, diagnostic)
    delay = calls.delay_ms(message) if (code, diagnostic.reason) == ("E-TOOL-TIMEOUT", "late") and message else None
    return ShownDiagnostic(
        code, diagnostic.reason, severity, message, False, span, line, column, diagnostic.count, value, delay
    )
