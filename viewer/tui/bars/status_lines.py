"""Content of the status row: a problem, counts of hidden problems, the search or filter, and the position."""

from __future__ import annotations

from msgspec import Struct

from viewer.document.values import ShownDiagnostic
from viewer.model.diagnostic import first_sentence
from viewer.render.diagnostic import described
from viewer.render.number_format import counted
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, cut
from viewer.tui.panes.columns import cut_start, length

ROOMY, WIDE = 100, 120
"""The minimum screen widths at which a problem's code and a key hint are shown."""
_LOOKS = {"error": StyleRole.ERROR, "warning": StyleRole.WARNING, "info": StyleRole.INFO}


class NamedProblem(Struct, frozen=True):
    """A problem and its position among all problems."""

    problem: ShownDiagnostic
    place: int
    """The position, counted from 1."""
    total: int
    """The number of problems; 0 until everything is checked."""


class StatusFacts(Struct, frozen=True):
    """The facts of the status row."""

    safe: bool = True
    problem: NamedProblem | None = None
    hidden_steps: int = 0
    """How many hidden messages have problems; shown in the safe view."""
    problem_key: str = "e"
    open_key: str = "enter"
    """The key that explains the problem; empty if none does."""
    new_messages: int = 0
    """How many messages arrived since the view left the end."""
    end_key: str = "G"
    search: str = ""
    """The search, with its sign."""
    filter: str = ""
    """The filter, with its count."""
    filter_keys: str = ""
    place: str = ""
    """The position at the right edge."""
    source: str = ""
    """How the input is stored, if it is not read in place."""
    name: str = ""
    """The file under the cursor in a list."""


def status_line(facts: StatusFacts, width: int, style: Style) -> Line:
    """Return the row without a notice. The left side shows the first of these: search or filter, problem here, new
    messages, hidden problems, file under the cursor, how the input is stored."""
    right = _right(facts, style)
    room = max(width - length(right) - 3, 0)
    left = _left(facts, room, width, style)
    gap = max(width - length(left) - length(right) - 1, 1)
    line = (*left, Part(trusted(" " * gap)), *right, Part(trusted(" ")))
    return line if length(line) <= width else left


def notice_line(notice: SafeText, look: StyleRole, aside: str, width: int, style: Style) -> Line:
    """Return a notice, and the position or a hint if there is room for both."""
    right: Line = (Part(style.words(aside), StyleRole.QUIET),) if aside else ()
    if cells(notice) + length(right) + 4 > width:
        right = ()
    text = cut(notice, max(width - length(right) - 2, 0), trusted(style.signs.ellipsis))
    left = (Part(trusted(" ")), Part(text, look))
    gap = max(width - length(left) - length(right) - 1, 0)
    return (*left, Part(trusted(" " * gap)), *right, Part(trusted(" "))) if right else left


def problem_words(found: ShownDiagnostic, style: Style, *, safe: bool) -> SafeText:
    """Return the text of a problem; in the debug view, only its first sentence."""
    words = described(found)
    shown = words if safe else SafeText(first_sentence(words).rstrip("."))
    return style.spell(style.words(shown))


def _right(facts: StatusFacts, style: Style) -> Line:
    if facts.filter and not facts.search:
        return (Part(style.words(facts.filter_keys), StyleRole.QUIET),)
    return (Part(trusted(facts.place), StyleRole.QUIET),) if facts.place else ()


def _left(facts: StatusFacts, room: int, width: int, style: Style) -> Line:
    ellipsis = trusted(style.signs.ellipsis)
    if facts.search or facts.filter:
        words = style.name(facts.search) if facts.search else style.name(f"Filter {facts.filter}")
        return Part(trusted(" ")), Part(cut(words, room, ellipsis), StyleRole.STRONG)
    if facts.problem is not None:
        return _problem(facts, facts.problem, room, width, style)
    if facts.new_messages:
        them = "it" if facts.new_messages == 1 else "them"
        words = style.words(f"{counted(facts.new_messages, 'new message')}. Press {facts.end_key} to see {them}.")
        return Part(trusted(" ")), Part(cut(words, room, ellipsis), StyleRole.QUIET)
    if facts.hidden_steps:
        count = counted(facts.hidden_steps, "hidden message")
        words = style.words(f"{count} had problems · {facts.problem_key} shows the next one")
        sign = Part(trusted(f" {style.signs.warning} "), StyleRole.WARNING)
        return sign, Part(cut(words, max(room - 2, 0), ellipsis), StyleRole.QUIET)
    if facts.name:
        return Part(trusted(" ")), Part(cut_start(style.name(facts.name), room, style), StyleRole.QUIET)
    if facts.source:
        return Part(trusted(" ")), Part(cut(style.name(f"[{facts.source}]"), room, ellipsis), StyleRole.QUIET)
    return (Part(trusted(" ")),)


def _problem(facts: StatusFacts, named: NamedProblem, room: int, width: int, style: Style) -> Line:
    """Return a line such as `✖ 1/7 #12 Expected celsius or fahrenheit  86:134 E-CALL-SCHEMA · enter explains it`."""
    found = named.problem
    place = f" {named.place}/{named.total}" if named.total else ""
    head = trusted(f" {style.signs.severity(found.severity)}{place}")
    number = f" #{found.message}" if found.message else ""
    words = problem_words(found, style, safe=facts.safe)
    if facts.safe:
        words = SafeText(f"{words} ({found.code})")
    tails: list[str] = []
    if found.line is not None:
        tails.append(f"  {found.line}:{found.column}")
        tails += [f" {found.code}"] if width >= ROOMY else []
        tails += [style.words(f" · {facts.open_key} explains it")] if facts.open_key and width >= WIDE else []
    used = cells(head) + len(number) + 1
    kept = ""
    for tail in tails:
        if used + cells(words) + len(kept) + cells(trusted(tail)) <= room + 1:
            kept += tail
    text = cut(words, max(room + 1 - used - len(kept), 0), trusted(style.signs.ellipsis))
    return (
        Part(head, _LOOKS[found.severity]),
        Part(trusted(number), StyleRole.QUIET),
        Part(SafeText(f" {text}")),
        Part(trusted(kept), StyleRole.QUIET),
    )
