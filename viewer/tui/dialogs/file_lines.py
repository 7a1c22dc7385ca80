"""Rows of the file list: name, format, size, messages, and problems."""

from __future__ import annotations

from datetime import datetime

from viewer.render.number_format import byte_size
from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells
from viewer.sources.folder import Found
from viewer.tui.dialogs.file_table import Counts
from viewer.tui.panes.columns import fitted, spread
from viewer.tui.panes.key_line import key_line

_FORMAT, _SIZE, _MESSAGES, _PROBLEMS, _MODIFIED = 15, 10, 10, 13, 18
"""The widths of the columns after the name."""
_WITH_FORMAT = 60
_WITH_COUNTS = 44
_WITH_TIME = 100


def heading(width: int, style: Style) -> Line:
    """Return the column titles."""
    words = ("name", "format", "size", "messages", "problems", "changed")
    name, format, size, messages, problems, changed = (Part(trusted(word), StyleRole.STRONG) for word in words)
    return _columns(name, format, size, messages, problems, changed, width, style)


def file_line(file: Found, counts: Counts | None, counted: bool, width: int, style: Style) -> Line:
    """Return the line of one file. Ellipses replace numbers that are not known yet."""
    name = Part(style.name(file.name), StyleRole.PLAIN if file.format else StyleRole.QUIET)
    if file.format is None:
        reason = Part(style.name(file.reason or "not a regular file"), StyleRole.WARNING)
        return _unreadable(name, reason, width, style)
    waiting = trusted("" if counted else style.signs.ellipsis)
    return _columns(
        name,
        Part(style.words(file.format), StyleRole.QUIET),
        Part(trusted(byte_size(file.size))),
        Part(trusted(f"{counts.messages:,}") if counts else waiting),
        _problems(counts, style) if counts else Part(waiting),
        Part(trusted(f"{datetime.fromtimestamp(file.modified):%Y-%m-%d %H:%M}"), StyleRole.QUIET),
        width,
        style,
    )


def title_line(where: SafeText, shown: int, total: int, complete: bool, width: int, style: Style) -> Line:
    """Return the folder and the number of files."""
    number = f"{shown:,} of {total:,}" if shown != total else f"{total:,}"
    ending = "" if complete else f" {style.signs.ellipsis}"
    count = Part(trusted(f"{number} {'file' if total == 1 else 'files'}{ending} "), StyleRole.QUIET)
    name = fitted(where, max(1, width - cells(count.text) - 2), style)
    return spread((Part(trusted(" ")), Part(name, StyleRole.TITLE)), (count,), width)


def empty_line(typed: str, complete: bool, style: Style) -> Line:
    """Return the sentence of an empty list."""
    if not complete:
        return (Part(trusted(f" looking{style.signs.ellipsis}"), StyleRole.QUIET),)
    words = " No file matches." if typed else " No transcripts here yet. New files appear in this list."
    return (Part(trusted(words), StyleRole.QUIET),)


def bottom_line(typed: str, width: int, style: Style) -> Line:
    """Return the typed text, or the keys."""
    if typed:
        return Part(trusted(" name: "), StyleRole.FOOTER_KEY), Part(fitted(style.name(typed), max(1, width - 8), style))
    keys = (("enter", "open"), ("type", "find a name"), ("esc", "back"))
    return key_line(keys)


def _problems(counts: Counts, style: Style) -> Part:
    signs = style.signs
    said = [f"{signs.error} {counts.errors:,}"] if counts.errors else []
    said += [f"{signs.warning} {counts.warnings:,}"] if counts.warnings else []
    look = StyleRole.ERROR if counts.errors else StyleRole.WARNING if counts.warnings else StyleRole.OK
    return Part(trusted("  ".join(said) or "none"), look if said else StyleRole.QUIET)


def _columns(
    name: Part, format: Part, size: Part, messages: Part, problems: Part, modified: Part, width: int, style: Style
) -> Line:
    """Return the columns that fit. The name takes the remaining width."""
    columns: list[Part] = []
    if width >= _WITH_FORMAT:
        columns.append(padded(format, _FORMAT, style))
    columns.append(padded(size, _SIZE, style, right=True))
    if width >= _WITH_COUNTS:
        columns += [
            padded(messages, _MESSAGES, style, right=True),
            Part(trusted("  ")),
            padded(problems, _PROBLEMS, style),
        ]
    if width >= _WITH_TIME:
        columns.append(padded(modified, _MODIFIED, style))
    room = max(1, width - 2 - sum(cells(part.text) for part in columns))
    return (Part(trusted(" ")), padded(name, room, style), *columns)


def _unreadable(name: Part, reason: Part, width: int, style: Style) -> Line:
    half = max(1, width // 2 - 2)
    return (
        Part(trusted(" ")),
        padded(name, half, style),
        Part(trusted(" ")),
        Part(fitted(reason.text, half, style), reason.look),
    )


def padded(part: Part, width: int, style: Style, *, right: bool = False) -> Part:
    """Truncate or pad a table cell to its width."""
    text = fitted(part.text, width, style)
    if right:
        text = SafeText(text.rstrip(" ").rjust(len(text)))
    return Part(text, part.look)
