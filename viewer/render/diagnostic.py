"""Diagnostics as text: under the message they belong to, and like those of a good compiler."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.core.diagnostics import Diagnostic, Severity
from viewer.render.lines import cells, cut, plain_line, wrap
from viewer.render.safe_text import SafeText, safe
from viewer.render.style import Line, Look, Part, Style, own
from viewer.sources.document import Finding
from viewer.sources.shown import ShownDiagnostic

_LOOKS = {"error": Look.ERROR, "warning": Look.WARNING, "info": Look.INFO}
_CONTEXT = 40
"""Cells that are kept before the place when a source line is cut."""


def note(diagnostic: ShownDiagnostic, width: int, style: Style) -> Iterator[Line]:
    """Under a message in `show`: the sentence that the audience may read, the code, and the place if it may be told."""
    look = _LOOKS[diagnostic.severity]
    number = f"#{diagnostic.message} " if diagnostic.message else ""
    sentence = style.words(f"{number}{diagnostic.sentence}")
    tail = _tail(diagnostic, style)
    rows = list(wrap(sentence, width - 2)) if style.wrapped else [sentence]
    sign = style.signs.severity(diagnostic.severity)
    fits = not style.wrapped or cells(rows[-1]) + len(tail) + 3 <= width
    for place, row in enumerate(rows):
        mark = Part(own(f"{'' if place else sign} ".rjust(2)), look)
        last = place == len(rows) - 1
        yield (mark, Part(row), Part(own(f" {tail}"), Look.QUIET)) if last and fits else (mark, Part(row))
    for row in [] if fits else wrap(own(tail), width - 2):
        yield (Part(own(f"  {row}"), Look.QUIET),)


def _tail(diagnostic: ShownDiagnostic, style: Style) -> str:
    place = f" {diagnostic.line}:{diagnostic.column}" if diagnostic.line is not None else ""
    count = f" {style.signs.times}{diagnostic.count}" if diagnostic.count and diagnostic.count > 1 else ""
    return f"({full_code(diagnostic.code, diagnostic.reason)}{place}{count})"


def compiler_lines(name: str, finding: Finding, width: int, style: Style) -> Iterator[Line]:
    """One finding of `check`: the place, what is wrong in fixed words, and where the rule stands.

    One line; on a screen that is too narrow for it the sentence goes below."""
    diagnostic = finding.diagnostic
    severity = diagnostic.rule.severity.value
    count = f" {style.signs.times}{diagnostic.count}" if diagnostic.count > 1 else ""
    sentence = style.words(f"{diagnostic.sentence} [{diagnostic.rule.section}]{count}")
    head = (
        Part(style.name(f"{name}:{finding.line}:{finding.column}: "), Look.STRONG),
        Part(own(f"{severity} {full_code(diagnostic.code, diagnostic.reason)}"), _LOOKS[severity]),
    )
    if not style.wrapped or sum(cells(part.text) for part in head) + 1 + cells(sentence) <= width:
        yield *head, Part(SafeText(f" {sentence}"))
        return
    yield head
    for row in wrap(sentence, width - 2):
        yield (Part(SafeText(f"  {row}")),)


def source_lines(finding: Finding, source: tuple[str, int, int], width: int, style: Style) -> Iterator[Line]:
    """The line of the transcript that a diagnostic is about, carets under the place; only where all is revealed."""
    text, first, last = source
    before, marked, after = (
        plain_line(_tabbed(style, text[a:b])) for a, b in ((0, first), (first, last), (last, None))
    )
    number = str(finding.line)
    room = max(width - len(number) - 3, 20)
    dots = own(style.signs.ellipsis)
    if cells(before) > room // 2:
        before = SafeText(dots + _end_of(before, min(_CONTEXT, room // 2) - cells(dots)))
    shown = cut(SafeText(before + marked + after), room, dots)
    here = cells(before)
    carets = max(1, min(cells(marked), room - here))
    severity = finding.diagnostic.rule.severity.value
    bar = "|" if style.ascii else "│"
    yield Part(own(f"{number} {bar} "), Look.RULE), Part(shown)
    yield (
        Part(own(f"{' ' * len(number)} {bar} "), Look.RULE),
        Part(own(" " * here + "^" + "~" * (carets - 1)), _LOOKS[severity]),
    )


def counts_line(errors: int, warnings: int, messages: int, style: Style) -> Line:
    """The last line of `check`."""
    if not errors and not warnings:
        return (Part(own(f"No problems in {_plural(messages, 'message')}."), Look.QUIET),)
    look = Look.ERROR if errors else Look.WARNING
    found = " and ".join(_plural(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n)
    return Part(own(found), look), Part(own(f" in {_plural(messages, 'message')}."))


def full_code(code: str, reason: str | None) -> str:
    """How a diagnostic is named everywhere: its code, and its reason where it has one."""
    return f"{code}/{reason}" if reason else code


def tally(diagnostics: list[Diagnostic]) -> tuple[int, int]:
    """How many errors and how many warnings."""
    severities = [diagnostic.rule.severity for diagnostic in diagnostics]
    return severities.count(Severity.ERROR), severities.count(Severity.WARNING)


def _tabbed(style: Style, text: str) -> SafeText:
    """A piece of a source line; a tab is one cell here, so that carets stand where they should."""
    return style.spell(safe(text.translate({ord("\t"): " ", ord("\n"): None})))


def _end_of(text: SafeText, width: int) -> SafeText:
    """The last cells of a line."""
    start = max(len(text) - width, 0)
    while cells(text[start:]) > width:
        start += 1
    return SafeText(text[start:])


def _plural(count: int, word: str) -> str:
    return f"{count:,} {word}" + ("" if count == 1 else "s")
