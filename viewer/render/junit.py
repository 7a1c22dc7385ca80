"""Findings as JUnit XML: one test suite per file, with a failure per error and the warnings as output."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from viewer.document.document import Finding
from viewer.model.diagnostic import Severity
from viewer.render.diagnostic import full_code, headline
from viewer.render.sanitize import sanitize_line
from viewer.render.style import Printable
from viewer.values import frozen

_LONGEST_NAME = 4096
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@frozen
class Suite:
    """The findings of one file, or the reason why it could not be read."""

    name: str
    format: str
    findings: list[Finding]
    more: list[str]
    """Sentences about errors and warnings that are counted but not listed."""
    error: str | None = None


def junit(suites: Iterable[Suite]) -> Iterable[Printable]:
    """The lines of the document."""
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
        yield f"      <system-out>{escape(_clean(chr(10).join(said)))}</system-out>"
    yield "    </testcase>"
    yield "  </testsuite>"


def _line(finding: Finding) -> str:
    """The line of `check` without the file name."""
    diagnostic = finding.diagnostic
    count = f" (×{diagnostic.count:,})" if diagnostic.count > 1 else ""
    code = full_code(diagnostic.code, diagnostic.reason)
    place = f"{finding.line}:{finding.column}"
    return f"{place}: {diagnostic.rule.severity.value}: {headline(diagnostic)}{count} [{code}]"


def _attribute(value: str) -> str:
    return quoteattr(_clean(str(sanitize_line(value, _LONGEST_NAME))))


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
