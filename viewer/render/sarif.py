"""SARIF 2.1.0, GitHub annotations, and JUnit XML: findings for code scanning and test reports."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from viewer import __version__
from viewer.cache import lazy_regex
from viewer.document.document import Finding
from viewer.model.diagnostic import Rule, Severity, fill_in
from viewer.render.diagnostic import full_code, headline
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Printable
from viewer.rules import RULES

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_INDEX = {code: index for index, code in enumerate(RULES)}


def sarif(findings: Iterable[tuple[str, Finding]], more: Iterable[tuple[str, str]] = ()) -> dict[str, object]:
    """Return the whole log: one run over all files, each finding with the URI of its file. `more` are URIs of files,
    each with a note on the file."""
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


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def workflow_command(name: str, finding: Finding) -> Printable:
    """Return a GitHub annotation for a finding, escaped as the runner expects."""
    diagnostic = finding.diagnostic
    properties = {"file": str(sanitize_line(name)), "line": str(finding.line), "endLine": str(finding.end_line)}
    if finding.line == finding.end_line:  # columns are supported within one line only
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    properties["title"] = full_code(diagnostic.code, diagnostic.reason)
    listed = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    sentence = _data(diagnostic.sentence + _times(diagnostic.count))
    return Printable(f"::{_COMMANDS[diagnostic.rule.severity]} {listed}::{sentence}")


def workflow_notice(name: str, words: str) -> Printable:
    """Return a GitHub annotation with a notice about a whole file."""
    return Printable(f"::notice file={_property(str(sanitize_line(name)))}::{_data(words)}")


def _times(count: int) -> str:
    return f" (×{count:,})" if count > 1 else ""


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


_LONGEST_NAME = 4096
_NOT_XML = lazy_regex("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Suite(Struct, frozen=True):
    """The findings of one file, or the reason why it could not be read."""

    name: str
    format: str
    findings: list[Finding]
    more: list[str]
    """Sentences about errors and warnings that are counted but not listed."""
    error: str | None = None


def junit(suites: Iterable[Suite]) -> Iterable[Printable]:
    """Yield the lines of the JUnit document, with one test suite per file."""
    yield Printable('<?xml version="1.0" encoding="UTF-8"?>')
    yield Printable("<testsuites>")
    for suite in suites:
        yield from map(Printable, _suite(suite))
    yield Printable("</testsuites>")


def _suite(suite: Suite) -> Iterable[str]:
    errors = [one for one in suite.findings if one.diagnostic.rule.severity is Severity.ERROR]
    rest = [one for one in suite.findings if one.diagnostic.rule.severity is not Severity.ERROR]
    failed, broken = int(bool(errors)), int(suite.error is not None)
    name = _attribute(suite.name)
    yield f'  <testsuite name={name} tests="1" failures="{failed}" errors="{broken}">'
    yield f"    <testcase name={_attribute(suite.format)} classname={name}>"
    if suite.error is not None:
        yield f"      <error message={_attribute(suite.error)}/>"
    for one in errors:
        kind = full_code(one.diagnostic.code, one.diagnostic.reason)
        yield f"      <failure message={_attribute(_line(one))} type={_attribute(kind)}/>"
    if said := [*map(_line, rest), *suite.more]:
        yield f"      <system-out>{_escape(_clean(chr(10).join(said)))}</system-out>"
    yield "    </testcase>"
    yield "  </testsuite>"


def _line(finding: Finding) -> str:
    """Return the line of `check` without the file name."""
    diagnostic = finding.diagnostic
    count = f" (×{diagnostic.count:,})" if diagnostic.count > 1 else ""
    code = full_code(diagnostic.code, diagnostic.reason)
    place = f"{finding.line}:{finding.column}"
    return f"{place}: {diagnostic.rule.severity.value}: {headline(diagnostic)}{count} [{code}]"


def _attribute(value: str) -> str:
    from xml.sax.saxutils import quoteattr  # slow to import; only JUnit needs it

    return quoteattr(_clean(str(sanitize_line(value, _LONGEST_NAME))))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _escape(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(text)
