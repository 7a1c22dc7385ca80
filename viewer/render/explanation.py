"""Explanation of a diagnostic code: meaning, reasons, advice, an example."""

from __future__ import annotations

from collections.abc import Iterator

from viewer.model.diagnostic import Rule
from viewer.render.line import lines_of, wrap
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted

_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}
_WIDEST = 100


def explanation_lines(rule: Rule, width: int, style: Style) -> Iterator[Line]:
    """The explanation of one code as lines."""
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
            yield from _entry(reason.ljust(longest), sentence, width, style)
    yield ()
    yield from _entry("What to do", rule.advice, width, style)
    yield from _entry("Safe view ", rule.safe, width, style)
    if rule.example:
        yield (Part(trusted("  Example"), StyleRole.STRONG),)
        for line in lines_of(rule.example.rstrip("\n")):
            yield Part(trusted(f"    {style.signs.gutter} "), StyleRole.RULE), Part(style.spell(line))


def _entry(label: str, sentence: str, width: int, style: Style) -> Iterator[Line]:
    """A label with the wrapped sentence next to it."""
    indent = len(label) + 4
    rows = _rows(sentence, width - indent, style)
    yield Part(trusted(f"  {label}  "), StyleRole.STRONG), Part(rows[0])
    for row in rows[1:]:
        yield (Part(SafeText(" " * indent + row)),)


def _paragraph(sentence: str, indent: int, width: int, style: Style) -> Iterator[Line]:
    for row in _rows(sentence, width - indent, style):
        yield (Part(SafeText(" " * indent + row)),)


def _rows(sentence: str, width: int, style: Style) -> list[SafeText]:
    return list(wrap(style.words(sentence), max(width, 20)))
