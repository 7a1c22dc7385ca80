"""Entries of the command palette: every action and every command of the tables. They contain no transcript text."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from viewer.tui.keys import Action, Group, offered

RECENT = "Recent"
COMMANDS = "Commands"
MOST_RECENT = 5
"""How many recently run entries come first."""


class Entry(Struct, frozen=True):
    """One row of the palette."""

    id: str
    """The ID of an action, or a command with its colon; one that ends with a space needs an argument."""
    title: str
    shown: str
    """The key, or the command."""
    words: str
    """The help text, which is also searched."""
    group: str


def action_entries(actions: Sequence[Action]) -> list[Entry]:
    """Return the actions that the view offers, group by group."""
    return [
        Entry(
            action.id,
            action.title or action.label,
            palette_key(action),
            f"{action.help} {command_of(action)}",
            group.value,
        )
        for group in Group
        for action in offered(actions)
        if action.group is group
    ]


def palette_key(action: Action) -> str:
    """Return the key of an action, or its command if it has none."""
    return action.shown_key or command_of(action)


def command_of(action: Action) -> str:
    """Return the command that runs an action."""
    return f":{action.id.replace('_', '-')}"


def matching(entries: Sequence[Entry], typed: str) -> list[Entry]:
    """Return the entries that contain every typed word in their name, command, or help, best match first."""
    words = typed.lower().split()
    ranked = [(rank, entry) for entry in entries if (rank := _rank(entry, words)) is not None]
    return [entry for _, entry in sorted(ranked, key=lambda each: each[0])]


def _rank(entry: Entry, words: Sequence[str]) -> int | None:
    """Rank how well the words match: at the start of the name, at the start of its words, within it, or elsewhere.
    Return None if they do not match.
    """
    title = entry.title.lower()
    everything = f"{title} {entry.shown.lower()} {entry.words.lower()}"
    if not all(word in everything for word in words):
        return None
    if title.startswith(" ".join(words)):
        return 0
    starts = [each.strip("(") for each in title.replace(":", " ").split()]
    if all(any(each.startswith(word) for each in starts) for word in words):
        return 1
    return 2 if all(word in title for word in words) else 3


def grouped(entries: Sequence[Entry], recent: Sequence[str]) -> list[Entry | str]:
    """Return all entries below their groups' headings, preceded by the entries that were run recently."""
    by_id = {entry.id: entry for entry in entries}
    first = [by_id[id] for id in recent if id in by_id]
    rows: list[Entry | str] = [RECENT, *first] if first else []
    for place, entry in enumerate(entries):
        if not place or entries[place - 1].group != entry.group:
            rows.append(entry.group)
        rows.append(entry)
    return rows
