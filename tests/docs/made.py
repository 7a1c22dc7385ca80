"""Generate the parts of the pages that come from tables in the code, and write them between their marks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from viewer.document.filter.fields import ANY, FIELDS, Field
from viewer.document.redaction.kinds import KINDS, Shape
from viewer.formats import FORMATS, WRITERS
from viewer.insight.next_prompt import NOTES, POLICIES
from viewer.model.diagnostic import Rule, Severity
from viewer.render.theme import find_theme, theme_names
from viewer.resources import bundled
from viewer.rules import RULES
from viewer.tui.files.keys import list_actions, merged_actions
from viewer.tui.keys import ACTIONS, Action, Group
from viewer.tui.settings.template import TEMPLATE

DOCS = Path(__file__).parents[2] / "docs"
_PART = re.compile(r"(?<=<!-- made: )(\w+)( -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEADINGS = {Severity.ERROR: "Errors", Severity.WARNING: "Warnings", Severity.INFO: "Notes"}


def remade(page: str) -> str:
    """Return a page with its generated parts up to date."""
    return _PART.sub(lambda part: f"{part[1]}{part[2]}\n{MADE[part[1]]()}\n", page)


def formats() -> str:
    """Return the table of formats."""
    rows = [
        [_named(name), FORMATS.title(name), "yes" if name in WRITERS else "", _cell(FORMATS.detected_by(name))]
        for name in FORMATS
    ]
    return _table(("name", "format", "writes", "detected by"), rows)


def _named(format: str) -> str:
    """Return the name of a format, with a link to its page."""
    page = f"formats/{format}.md"
    return f"[{_code(format)}]({page})" if (DOCS / page).exists() else _code(format)


def filters() -> str:
    """Return the table of the fields of a filter."""
    return _table(
        ("field", "value", "matches", "needs"), [[_code(field.name), *_field(field)] for field in FIELDS.values()]
    )


def _field(field: Field) -> list[str]:
    words = ", ".join(map(_code, field.words)) if field.words else field.kind.value
    exceptions = [f"{_needed(need)} for {', '.join(map(_code, values))}" for need, values in _by_need(field).items()]
    return [words, _cell(field.matches), "; ".join([_needed(field.needs), *exceptions])]


def _by_need(field: Field) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for value, need in field.of_values.items():
        found.setdefault(need, []).append(value)
    return found


def _needed(need: str) -> str:
    return "any" if need == ANY else _code(need) if need else "–"


def diagnostics() -> str:
    """Return a table of all codes, then a section for each with its whole row."""
    parts = []
    for severity, heading in _HEADINGS.items():
        rules = [rule for rule in RULES.values() if rule.severity is severity]
        rows = [[f"[{rule.code}](#{rule.code.lower()})", _cell(rule.title)] for rule in rules]
        parts.append(f"## {heading}\n\n" + _table(("code", "meaning"), rows))
    parts.extend(_rule(rule) for rule in RULES.values())
    return "\n".join(parts)


def _rule(rule: Rule) -> str:
    reasons = _table(("reason", "meaning"), [[_code(name), _cell(words)] for name, words in rule.reasons.items()])
    lines = [f"### {rule.code}", "", rule.title, ""]
    lines += [reasons] if rule.reasons else []
    lines += [
        f"What to do: {rule.advice}",
        "",
        f"Safe view: {rule.safe or 'never shown.'}",
        "",
        f"From: {rule.section}",
        "",
    ]
    if rule.example:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", rule.example)), default=0))
        lines += [f"{fence}text", rule.example.rstrip("\n").replace("\0", "\\0"), fence, ""]
    return "\n".join(lines)


def keys() -> str:
    """Return the actions, group by group."""
    return "\n".join(f"## {group.value}\n\n" + _keys(group) for group in Group)


def list_keys() -> str:
    """Return the keys of a list of files."""
    rows = [_key_row(action)[:3] for action in list_actions()]
    return _table(("keys", "action", "description"), rows)


def merged_keys() -> str:
    """Return the keys of the merged view."""
    rows = [_key_row(action)[:3] for action in merged_actions()]
    return _table(("keys", "action", "description"), rows)


def _keys(group: Group) -> str:
    rows = [_key_row(action) for action in ACTIONS if action.group is group]
    return _table(("keys", "action", "description", ""), rows)


def _key_row(action: Action) -> list[str]:
    shown = " ".join(_code(key) for key in action.shown_keys) or "ctrl+p"
    return [shown, _code(action.id), _cell(action.help), "*debug*" if action.debug_only else ""]


def themes() -> str:
    """Return the bundled themes, each with the comment at the top of its file."""
    rows = []
    for name in theme_names():
        first = bundled("themes", f"{name}.yaml").read_text("utf-8").partition("\n")[0]
        rows.append([_code(name), find_theme(name).title, _cell(first.removeprefix("# "))])
    return _table(("theme", "title", "description"), rows)


def settings() -> str:
    """Return the settings file as it is created."""
    return f"```yaml\n{TEMPLATE}```\n"


def policies() -> str:
    """Return the policies of `next`."""
    rows = [
        [
            _code(each.name),
            _cell(each.wording + (f" Same as {each.same_as}." if each.same_as else "")),
            _cell(each.source),
        ]
        for each in POLICIES.values()
    ]
    return _table(("policy", "what it does", "source"), rows)


def notes() -> str:
    """Return the notes of `next`."""
    return _table(("note", "meaning"), [[_code(name), _cell(sentence)] for name, sentence in NOTES.items()])


_SHAPES = {
    Shape.TOKEN: "its form",
    Shape.BLOCK: "its first line",
    Shape.CONTEXT: "the words around it",
    Shape.PERSONAL: "its form",
}


def redaction() -> str:
    """Return the table of secrets."""
    rows = [[_code(kind.name), _cell(kind.title), _SHAPES[kind.shape], _cell(kind.note)] for kind in KINDS]
    return _table(("kind", "description", "recognized by", "note"), rows)


MADE: dict[str, Callable[[], str]] = {
    "filters": filters,
    "formats": formats,
    "diagnostics": diagnostics,
    "keys": keys,
    "list_keys": list_keys,
    "merged_keys": merged_keys,
    "themes": themes,
    "settings": settings,
    "policies": policies,
    "notes": notes,
    "redaction": redaction,
}


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _code(words: str) -> str:
    """Return the words as code, in a table."""
    fence = "``" if "`" in words else "`"
    return f"{fence}{_bar(words)}{fence}"


def _cell(words: str) -> str:
    """Return plain text for a table cell: angle brackets are not HTML."""
    parts = re.split(r"(`[^`]*`)", words)
    return "".join(_bar(part if part.startswith("`") else re.sub(r"([<*_\[\]])", r"\\\1", part)) for part in parts)


def _bar(words: str) -> str:
    return words.replace("|", "\\|")
