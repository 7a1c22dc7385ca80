"""Rows of the file list: title, columns, entries, and the preview of the file under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from viewer.render.blocks.inline import without_marks
from viewer.render.number_format import ago, byte_size, counted
from viewer.render.sanitize import SafeText, sanitize_line
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import FollowState, badge_part, follow_sign
from viewer.render.width import between, cells, cut
from viewer.tui.files.catalog import Catalog
from viewer.tui.files.facts import FileFacts, Hit, Said
from viewer.tui.files.listing import Entry
from viewer.tui.main.follow import FollowTitle
from viewer.tui.panes.columns import cut_start, fitted, padded

PREVIEW = 100
"""The minimum width for a preview."""
_LEFT = 5
"""The width before the title: cursor bar, sign, and mark."""
_ROLE = 11
_LEAST_TITLE, _LONGEST_TITLE = 12, 60
_LOOKS = {"user": StyleRole.USER, "assistant": StyleRole.ASSISTANT, "tool": StyleRole.TOOL}


class Column(Struct, frozen=True):
    """A column after the title."""

    head: str
    cells: int
    """The width in cells, including the gap before the column."""
    least: int
    """The minimum width of a list that shows the column. In a list with agents, the width of their column is added."""
    right: bool = True


AGENT = Column("agent", 14, 60, False)
COLUMNS = (
    AGENT,
    Column("turns", 7, 60),
    Column("hidden", 7, 90),
    Column("calls", 7, 90),
    Column("problems", 10, 44),
    Column("size", 10, 70),
    Column("changed", 15, 80, False),
)


class RowFacts(Struct, frozen=True):
    """The data that a row shows in addition to its entry."""

    facts: FileFacts | None = None
    hit: Hit | None = None
    state: FollowTitle | None = None
    """The state of a followed input."""
    is_cursor: bool = False
    is_marked: bool = False


def title_line(catalog: Catalog, live: int, width: int, style: Style) -> Line:
    """Return the title line: the folder, the number of files, how many are live, the sort order, and the level."""
    is_safe = catalog.reading.audience.is_safe
    total, shown = len(catalog.listing.entries), len(catalog.entries)
    number = counted(total, "transcript") if shown == total else f"{shown:,} of {counted(total, 'transcript')}"
    ending = "" if catalog.listing.is_listed else style.signs.ellipsis
    following = f"   {style.signs.live} {live} live" if live else ""
    badge = badge_part(catalog.reading.audience.level.value)
    count = Part(trusted(f"  {number}{ending}"), StyleRole.QUIET)
    lives = Part(trusted(following), StyleRole.OK)
    order = Part(trusted(f"{catalog.sort.words}   "), StyleRole.QUIET)
    name = style.name(catalog.where)
    used = 4 + sum(cells(part.text) for part in (count, lives, badge))
    space = Part(trusted(" "))
    right: Line = (
        (space, order, badge) if used + cells(order.text) + min(cells(name), _LEAST_TITLE) <= width else (space, badge)
    )
    room = width - used - (cells(order.text) if len(right) > 2 else 0)
    left = (space, Part(cut_start(name, room, style), StyleRole.TITLE), count, lives, space)
    return between(left, right, width, style.signs, None if is_safe else Part(trusted(_slash(style)), StyleRole.RULE))


def heading(catalog: Catalog, width: int, style: Style) -> Line:
    """Return the titles of the columns."""
    shown = columns_of(catalog, width)
    words = {column.head: Part(trusted(column.head), StyleRole.STRONG) for column in shown}
    if catalog.search and "problems" in words:
        words["problems"] = Part(trusted("matches"), StyleRole.STRONG)
    return _row(trusted(" " * _LEFT), Part(trusted("title"), StyleRole.STRONG), words, shown, width, style)


def columns_of(catalog: Catalog, width: int) -> list[Column]:
    """Return the columns that this audience may see and that fit."""
    audience, has_agents = catalog.reading.audience, catalog.listing.has_groups
    absent = {"hidden" if audience.strict or not audience.is_safe else "", "calls" if audience.is_safe else ""}
    if not has_agents:
        absent.add("agent")
    more = AGENT.cells if has_agents else 0
    return [
        column
        for column in COLUMNS
        if column.head not in absent and width >= column.least + (more if column is not AGENT else 0)
    ]


def entry_line(entry: Entry, row: RowFacts, columns: Sequence[Column], now: float, width: int, style: Style) -> Line:
    """Return the line of one file. An ellipsis replaces a value that is not known yet."""
    facts, signs = row.facts, style.signs
    sign, word = _state(entry, row, now, style)
    bar = Part(trusted(signs.gutter if row.is_cursor else " "), StyleRole.FOCUS)
    mark = Part(trusted("D" if row.is_marked else " "), StyleRole.BOOKMARK)
    left = (bar, sign, Part(trusted(" ")), mark, Part(trusted(" ")))
    name = _title(facts.title, style) if facts and facts.title else style.name(entry.name)
    look = StyleRole.PLAIN if facts and facts.title else StyleRole.QUIET
    title = Part(SafeText(f"{word}  {name}") if word else name, look)
    if row.state is None and (entry.reason or not entry.is_transcript or (facts and not facts.is_transcript)):
        reason = style.name(entry.reason or "not a transcript")
        return _broken(left, title, Part(reason, StyleRole.WARNING), entry, now, width, style)
    waits = trusted("" if entry.waits or (facts and facts.is_counted) else signs.ellipsis)
    values = {
        "agent": Part(trusted(entry.agent), StyleRole.QUIET),
        "turns": _number(facts.turns if facts else None, waits),
        "hidden": _number(facts.hidden if facts else None, waits, StyleRole.QUIET),
        "calls": _number(facts.calls if facts else None, waits),
        "problems": _problems(facts, waits, style),
        "size": Part(trusted(byte_size(entry.size) if entry.size else ""), StyleRole.QUIET),
        "changed": Part(trusted(ago(now - entry.modified) if entry.modified else ""), StyleRole.QUIET),
    }
    if row.hit is not None:
        values["problems"] = Part(trusted(f"{row.hit.count:,} found"), StyleRole.MATCH)
    return _row(left, title, values, columns, width, style)


def group_line(words: str, width: int, style: Style) -> Line:
    """Return the rule above a group, with its label."""
    stroke = style.signs.rule
    text = f" {stroke * 2} {words} "
    return (Part(trusted(text + stroke * max(0, width - len(text) - 1)), StyleRole.RULE),)


def empty_line(catalog: Catalog, style: Style) -> Line:
    """Return the sentence shown for an empty list."""
    if not catalog.listing.is_listed:
        words = f" Looking{style.signs.ellipsis}"
    elif catalog.search:
        words = f" Searching{style.signs.ellipsis}" if catalog.searched[2] else " No file has a match."
    elif catalog.filter:
        words = " No title or name contains these words."
    elif catalog.listing.has_groups:
        words = " No sessions found in the known folders."
    else:
        words = " No transcripts here yet." + (" New files appear in this list." if catalog.listing.repeats else "")
    return (Part(trusted(words), StyleRole.QUIET),)


def _title(words: str, style: Style) -> SafeText:
    return cut(without_marks(style.name(words)), _LONGEST_TITLE, trusted(style.signs.ellipsis))


def preview_lines(entry: Entry | None, row: RowFacts, height: int, width: int, style: Style) -> list[Line]:
    """Return a rule with the file's name, followed by the file's last shown messages or its matches."""
    stroke = style.signs.rule
    words = "Matches" if row.hit is not None else "Preview"
    name = fitted(style.name(entry.name), min(cells(style.name(entry.name)), width // 2), style) if entry else ""
    head = f"{stroke} {words} "
    tail = f" {name} {stroke}" if name else ""
    filling = stroke * max(0, width - len(head) - cells(trusted(tail)))
    rule = (Part(SafeText(head + filling + tail), StyleRole.RULE),)
    said = row.hit.said if row.hit is not None else row.facts.last if row.facts else ()
    kept = said[: height - 1] if row.hit is not None else said[len(said) - min(len(said), height - 1) :]
    return [rule, *(_said(each, width, style) for each in kept)]


def _said(said: Said, width: int, style: Style) -> Line:
    role = Part(fitted(style.name(said.role.capitalize()), _ROLE, style), _LOOKS.get(said.role, StyleRole.UNKNOWN))
    first, last = said.match
    texts = ((said.text[:first], None), (said.text[first:last], StyleRole.MATCH), (said.text[last:], None))
    parts = [Part(style.spell(sanitize_line(text)), look or StyleRole.PLAIN) for text, look in texts if text]
    if first == last:
        parts = [Part(style.spell(without_marks(sanitize_line(said.text))))]
    return between((Part(trusted("  ")), role, *parts), (), width, style.signs)


def _state(entry: Entry, row: RowFacts, now: float, style: Style) -> tuple[Part, str]:
    """Return the glyph of a row and the word before its title."""
    signs, facts, state = style.signs, row.facts, row.state
    if state is not None and state.busy:
        return Part(trusted(signs.ellipsis[:1]), StyleRole.PENDING), state.busy
    if state is not None and state.state is not FollowState.STILL:
        sign, look = follow_sign(state.state, style)
        return Part(trusted(sign[:1] or " "), look), state.words.split("  ")[0] or state.state.value
    if entry.reason:
        return Part(trusted(signs.error), StyleRole.ERROR), ""
    if not entry.is_transcript or (facts and not facts.is_transcript):
        return Part(trusted("?"), StyleRole.WARNING), ""
    if entry.is_live(now):
        return Part(trusted(signs.live), StyleRole.OK), "live"
    if facts and facts.errors:
        return Part(trusted(signs.error), StyleRole.ERROR), ""
    if facts and facts.warnings:
        return Part(trusted(signs.warning), StyleRole.WARNING), ""
    return Part(trusted(" ")), ""


def _number(value: int | None, waits: SafeText, look: StyleRole = StyleRole.PLAIN) -> Part:
    return Part(waits if value is None else trusted(f"{value:,}"), look)


def _problems(facts: FileFacts | None, waits: SafeText, style: Style) -> Part:
    if facts is None or not facts.is_counted:
        return Part(waits, StyleRole.QUIET)
    signs = style.signs
    words = [f"{signs.error} {facts.errors:,}"] if facts.errors else []
    words += [f"{signs.warning} {facts.warnings:,}"] if facts.warnings else []
    look = StyleRole.ERROR if facts.errors else StyleRole.WARNING if facts.warnings else StyleRole.QUIET
    return Part(style.words(" ".join(words) or "–"), look)


def _row(
    left: SafeText | Line, title: Part, values: dict[str, Part], columns: Sequence[Column], width: int, style: Style
) -> Line:
    """Return the columns that fit. The title takes the remaining width."""
    before = (Part(left),) if isinstance(left, str) else left
    shown = list(columns)
    while shown and width - _LEFT - sum(column.cells for column in shown) < _LEAST_TITLE:
        shown.pop(0 if shown[0] is AGENT else -1)
    room = max(1, width - _LEFT - sum(column.cells for column in shown))
    parts = [*before, Part(fitted(title.text, room, style), title.look)]
    for column in shown:
        value = values.get(column.head, Part(trusted("")))
        gap = 1 if column.right else 2
        parts += [Part(trusted(" " * gap)), padded(value, column.cells - gap, style, right=column.right)]
    return tuple(parts)


def _broken(left: Line, title: Part, reason: Part, entry: Entry, now: float, width: int, style: Style) -> Line:
    size = byte_size(entry.size) if entry.size else ""
    changed = ago(now - entry.modified) if entry.modified else ""
    tail = f"{size.rjust(9)}  {changed}".ljust(24) if width >= COLUMNS[-1].least else ""
    room = max(2, width - _LEFT - len(tail) - 1)
    half = min(room // 2, cells(reason.text))
    return (
        *left,
        Part(fitted(title.text, room - half, style), title.look),
        Part(trusted(" ")),
        Part(fitted(reason.text, half, style), reason.look),
        Part(trusted(tail), StyleRole.QUIET),
    )


def _slash(style: Style) -> str:
    return "/" if style.ascii else "╱"
