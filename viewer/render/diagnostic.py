"""Format diagnostics as text: notes under messages, compiler-style lines, and explanations of codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from viewer.document.document import Finding
from viewer.model.diagnostic import Diagnostic, Rule, fill_in, first_sentence
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText, sanitize, sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cluster_cells, clusters_at, cut, lines_of, wrap

if TYPE_CHECKING:
    from viewer.document.values import ShownDiagnostic

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
LONGEST_PATH = 4096
"""The maximum length of a file name in `check`. It is generous, because problem matchers need the whole path."""
_CONTEXT = 40
"""How many cells before the position to keep when a source line is truncated."""
_NEAR = 4
"""How many characters of a source line to read per screen cell after the position."""


def note(diagnostic: ShownDiagnostic, width: int, style: Style) -> Iterator[Line]:
    """Yield the note under a message in `show`: the sentence for the audience, the code, and the position if
    disclosed."""
    look = _LOOKS[diagnostic.severity]
    number = f"#{diagnostic.message} " if diagnostic.message else ""
    sentence = style.spell(style.words(f"{number}{described(diagnostic)}"))
    tail = _tail(diagnostic, style)
    rows = list(wrap(sentence, width - 2)) if style.wrapped else [sentence]
    sign = style.signs.severity(diagnostic.severity)
    fits = not style.wrapped or cells(rows[-1]) + len(tail) + 3 <= width
    for place, row in enumerate(rows):
        mark = Part(trusted(f"{'' if place else sign} ".rjust(2)), look)
        last = place == len(rows) - 1
        yield (mark, Part(row), Part(trusted(f" {tail}"), StyleRole.QUIET)) if last and fits else (mark, Part(row))
    for row in [] if fits else wrap(trusted(tail), width - 2):
        yield (Part(trusted(f"  {row}"), StyleRole.QUIET),)


def _tail(diagnostic: ShownDiagnostic, style: Style) -> str:
    place = f" {diagnostic.line}:{diagnostic.column}" if diagnostic.line is not None else ""
    count = f" {style.signs.times}{diagnostic.count}" if diagnostic.count and diagnostic.count > 1 else ""
    return f"({full_code(diagnostic.code, diagnostic.reason)}{place}{count})"


def described(found: ShownDiagnostic) -> SafeText:
    """Return the text of a diagnostic, with its offending value if the audience sees it."""
    return SafeText(fill_in(found.template, _shown_value(found.value)))


def compiler_line(name: str, finding: Finding, style: Style, value: str | None = None) -> Line:
    """Return one finding of `check` on one line: position, severity, first sentence, and code. Problem matchers
    parse it (docs/ci.md)."""
    diagnostic = finding.diagnostic
    severity = diagnostic.rule.severity.value
    return (
        Part(style.spell(sanitize_line(name, LONGEST_PATH)), StyleRole.STRONG),
        Part(trusted(f":{finding.line}:{finding.column}: "), StyleRole.STRONG),
        Part(trusted(severity), _LOOKS[severity]),
        Part(style.spell(style.words(f": {headline(diagnostic, value)}{_times(diagnostic.count, style)} "))),
        Part(trusted(f"[{full_code(diagnostic.code, diagnostic.reason)}]"), StyleRole.QUIET),
    )


def more_words(code: str, count: int) -> str:
    """Describe how many diagnostics are counted but not listed."""
    return f"and {count:,} more {code}"


def headline(diagnostic: Diagnostic, value: str | None = None) -> SafeText:
    """Return the first sentence of a diagnostic without its period."""
    return SafeText(first_sentence(diagnostic.template, _shown_value(value)))


def _shown_value(value: str | None) -> str | None:
    if not value:
        return None
    from viewer.checks.offending import LONGEST_VALUE  # lazy: few diagnostics have a value

    return sanitize_line(value, LONGEST_VALUE)


def _times(count: int, style: Style) -> str:
    return f" ({style.signs.times}{count:,})" if count > 1 else ""


def source_lines(finding: Finding, source: tuple[str, int, int], width: int, style: Style) -> Iterator[Line]:
    """Yield the source line of a diagnostic with carets below its span. Call this only if everything is revealed."""
    number = str(finding.line)
    shown, here, carets = excerpt(source, max(width - len(number) - 3, 20), style)
    severity = finding.diagnostic.rule.severity.value
    bar = "|" if style.ascii else "│"
    yield Part(trusted(f"{number} {bar} "), StyleRole.RULE), Part(shown)
    yield (
        Part(trusted(f"{' ' * len(number)} {bar} "), StyleRole.RULE),
        Part(trusted(" " * here + "^" + "~" * (carets - 1)), _LOOKS[severity]),
    )


def excerpt(source: tuple[str, int, int], room: int, style: Style) -> tuple[SafeText, int, int]:
    """Truncate a source line around its marked characters; return it with their column and width in cells."""
    text, first, last = source
    dots = trusted(style.signs.ellipsis)
    before, here = _before(text[max(0, first - room) : first], room, first > room, dots, style)
    marked, length, fits = _beginning(text[first:last], room - here, style)
    after, _, fits = _beginning(text[last:], room - here - length, style) if fits else ("", 0, False)
    shown = SafeText(before + marked + after)
    if not fits:
        shown = SafeText(cut(shown, room - cells(dots), trusted("")) + dots)
    return shown, here, max(1, min(length, room - here))


def counts_line(errors: int, warnings: int, messages: int, style: Style) -> Line:
    """Return the summary line of `check`."""
    if not errors and not warnings:
        return (Part(trusted(f"No problems in {counted(messages, 'message')}."), StyleRole.QUIET),)
    look = StyleRole.ERROR if errors else StyleRole.WARNING
    found = ", ".join(counted(n, word) for n, word in ((errors, "error"), (warnings, "warning")) if n)
    return Part(trusted(found), look), Part(trusted(f" in {counted(messages, 'message')}."))


def full_code(code: str, reason: str | None) -> str:
    """Return the full name of a diagnostic: its code, and its reason if it has one."""
    return f"{code}/{reason}" if reason else code


def _tabbed(style: Style, text: str) -> SafeText:
    """Sanitize part of a source line. A tab becomes one cell so that the carets align."""
    return style.spell(sanitize(text.translate({ord("\t"): " ", ord("\n"): None})))


def _before(text: str, room: int, is_cut: bool, dots: SafeText, style: Style) -> tuple[SafeText, int]:
    """Return the end of the text before the position, and its width in cells."""
    clusters = [(cluster, cluster_cells(cluster)) for _, cluster in clusters_at(_tabbed(style, text))]
    used = sum(size for _, size in clusters)
    if not is_cut and used <= room // 2:
        return SafeText("".join(cluster for cluster, _ in clusters)), used
    left = min(_CONTEXT, room // 2) - cells(dots)
    kept: list[str] = []
    for cluster, size in reversed(clusters):
        if size > left:
            break
        left -= size
        kept.append(cluster)
    return SafeText(dots + "".join(reversed(kept))), min(_CONTEXT, room // 2) - left


def _beginning(text: str, room: int, style: Style) -> tuple[SafeText, int, bool]:
    """Return the part of text that fits, its width in cells, and whether all of the text fits."""
    kept: list[str] = []
    used = 0
    for _, cluster in clusters_at(_tabbed(style, text[: _NEAR * room])):
        size = cluster_cells(cluster)
        if used + size > room:
            return SafeText("".join(kept)), used, False
        kept.append(cluster)
        used += size
    return SafeText("".join(kept)), used, len(text) <= _NEAR * room


_WIDEST = 100


def explanation_lines(rule: Rule, width: int, style: Style) -> Iterator[Line]:
    """Yield the lines that explain a code."""
    severity = rule.severity.value
    width = min(width, _WIDEST)
    sign = style.signs.severity(severity)
    yield (
        Part(trusted(f"{sign} {rule.code}"), _LOOKS[severity]),
        Part(trusted(f"  {severity}"), _LOOKS[severity]),
        Part(style.words(f"  [{rule.section}]"), StyleRole.QUIET),
    )
    yield from _paragraph(rule.title, 2, width, style)
    if rule.reasons:
        yield ()
        longest = max(map(len, rule.reasons))
        for reason, sentence in rule.reasons.items():
            yield from _labeled(reason.ljust(longest), sentence, width, style)
    yield ()
    yield from _labeled("What to do", rule.advice, width, style)
    yield from _labeled("Safe view ", rule.safe or "never shown.", width, style)
    if rule.example:
        is_other = rule.shown_reason and [*rule.reasons] != [rule.shown_reason]
        yield (Part(style.words(f"  Example of {rule.shown_reason}" if is_other else "  Example"), StyleRole.STRONG),)
        for line in lines_of(rule.example.rstrip("\n")):
            yield Part(trusted(f"    {style.signs.gutter} "), StyleRole.RULE), Part(style.spell(line))


def _labeled(label: str, sentence: str, width: int, style: Style) -> Iterator[Line]:
    """Yield a label with the wrapped sentence next to it."""
    indent = len(label) + 4
    rows = _wrapped_rows(sentence, width - indent, style)
    yield Part(trusted(f"  {label}  "), StyleRole.STRONG), Part(rows[0])
    for row in rows[1:]:
        yield (Part(SafeText(" " * indent + row)),)


def _paragraph(sentence: str, indent: int, width: int, style: Style) -> Iterator[Line]:
    for row in _wrapped_rows(sentence, width - indent, style):
        yield (Part(SafeText(" " * indent + row)),)


def _wrapped_rows(sentence: str, width: int, style: Style) -> list[SafeText]:
    return list(wrap(style.words(sentence), max(width, 20)))
