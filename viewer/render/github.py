"""Findings as GitHub annotations (workflow commands), shown next to their lines."""

from __future__ import annotations

from viewer.document.document import Finding
from viewer.model.diagnostic import Severity
from viewer.render.diagnostic import full_code
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Printable

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def workflow_command(name: str, finding: Finding) -> Printable:
    """One annotation; properties and sentence are escaped as the runner expects."""
    diagnostic = finding.diagnostic
    properties = {"file": str(sanitize_line(name)), "line": str(finding.line), "endLine": str(finding.end_line)}
    if finding.line == finding.end_line:  # columns are supported within one line only
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    properties["title"] = full_code(diagnostic.code, diagnostic.reason)
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    sentence = _data(diagnostic.sentence + _times(diagnostic.count))
    return Printable(f"::{_COMMANDS[diagnostic.rule.severity]} {listed}::{sentence}")


def workflow_notice(name: str, words: str) -> Printable:
    """A notice about a whole file."""
    return Printable(f"::notice file={_property(str(sanitize_line(name)))}::{_data(words)}")


def _times(count: int) -> str:
    return f" (×{count:,})" if count > 1 else ""


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
