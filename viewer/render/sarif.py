"""Findings as SARIF 2.1.0 for code scanning: fixed sentences and positions, no text of the transcript."""

from __future__ import annotations

from collections.abc import Iterable

from viewer import __version__
from viewer.document.document import Finding
from viewer.model.diagnostic import Rule, Severity, fill_in
from viewer.render.diagnostic import full_code
from viewer.rules import RULES

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_INDEX = {code: index for index, code in enumerate(RULES)}


def sarif(findings: Iterable[tuple[str, Finding]], more: Iterable[tuple[str, str]] = ()) -> dict[str, object]:
    """The whole log: one run over all files, each finding with the URI of its file; `more` are notes on files."""
    results = [_result(uri, finding) for uri, finding in findings]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": _driver()},
                "columnKind": "unicodeCodePoints",
                "results": results,
                "invocations": [
                    {"executionSuccessful": True, "toolExecutionNotifications": [_note(*one) for one in more]}
                ],
            }
        ],
    }


def _driver() -> dict[str, object]:
    return {"name": "ocmlview", "version": __version__, "rules": [_rule(rule) for rule in RULES.values()]}


def _rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.code,
        "shortDescription": {"text": fill_in(rule.title)},
        "fullDescription": {"text": f"{fill_in(rule.title)} [{rule.section}]"},
        "help": {"text": rule.advice},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(uri: str, finding: Finding) -> dict[str, object]:
    diagnostic = finding.diagnostic
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": _INDEX[diagnostic.code],
        "level": _LEVELS[diagnostic.rule.severity],
        "message": {"text": diagnostic.sentence},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}, "region": _region(finding)}}],
        "properties": {
            "code": full_code(diagnostic.code, diagnostic.reason),
            "message": diagnostic.message,
            "count": diagnostic.count,
        },
    }


def _note(uri: str, words: str) -> dict[str, object]:
    return {
        "level": "note",
        "message": {"text": words},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": uri}}}],
    }


def _region(finding: Finding) -> dict[str, int]:
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
        "byteOffset": finding.diagnostic.start,
        "byteLength": finding.diagnostic.end - finding.diagnostic.start,
    }
