"""Actions of the file and transcript lists and of the merged view: the source of their bindings, footer, help, palette,
and documentation."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from viewer.tui.keys import ACTIONS, Action, Group, Scope, Served, by_id, rows_for

_M, _S, _F, _O = Group.MOVE, Group.SEARCH, Group.FILES, Group.PROGRAM

SHARED: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("line_down", ("next_message",), "Move one line down.", "line_down"),
    ("line_up", ("previous_message",), "Move one line up.", "line_up"),
    ("half_page_down", (), "Move half a page down.", "half_page_down"),
    ("half_page_up", (), "Move half a page up.", "half_page_up"),
    ("page_down", (), "Move one page down.", "page_down"),
    ("page_up", (), "Move one page up.", "page_up"),
    ("top", (), "Go to the first row.", "top"),
    ("bottom", (), "Go to the last row; 12G goes to row 12.", "bottom"),
    ("search", (), "Find text in all files; // finds a regular expression.", "ask_search"),
    ("filter", (), "Show only files whose title or name contains these words.", "ask_filter"),
    ("clear", (), "Clear the search, then the filter, then the marks.", "clear"),
    ("open", ("unfold",), "Open the file.", "open_row"),
    ("theme", (), "Choose a theme.", "choose_theme"),
    ("palette", (), "Show all commands.", "open_palette"),
    ("help", (), "Show all keys.", "open_help"),
    ("leave", (), "Quit.", "leave"),
    ("suspend", (), "Suspend; fg resumes.", "suspend"),
    ("copy_or_quit", (), "Press twice to quit.", "quit_twice"),
)
"""Actions that the file list shares with the main screen: the ID, the IDs of other actions whose keys do the same here,
the help, and the method of the list."""

OF_TRANSCRIPTS: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    *SHARED[:6],
    ("top", (), "Go to the first transcript.", "top"),
    ("bottom", (), "Go to the last transcript; 12G goes to transcript 12.", "bottom"),
    ("search", (), "Search all transcripts; // searches by regular expression.", "ask_search"),
    ("filter", (), "Show only transcripts whose title contains these words.", "ask_filter"),
    ("clear", (), "End the search or the filter; if there is none, return.", "clear"),
    ("open", ("unfold",), "Go to the transcript.", "open_row"),
    ("palette", (), "Show all commands.", "open_palette"),
    ("help", (), "Show all keys.", "open_help"),
    ("leave", (), "Return without a choice.", "leave"),
)
"""Actions that the transcript list shares with the main screen."""

OF_MERGED: tuple[tuple[str, tuple[str, ...], str, str], ...] = (
    ("line_down", (), "Move one line down.", "line_down"),
    ("line_up", (), "Move one line up.", "line_up"),
    ("next_message", (), "Go to the next message of any file.", "next_message"),
    ("previous_message", (), "Go to the previous message of any file.", "previous_message"),
    *SHARED[2:6],
    ("top", (), "Go to the top.", "top"),
    ("bottom", ("follow",), "Go to the end and follow.", "bottom"),
    ("search", (), "Find text in all files; // finds a regular expression.", "ask_search"),
    ("next_match", (), "Go to the next match.", "next_match"),
    ("previous_match", (), "Go to the previous match.", "previous_match"),
    ("clear", (), "Clear the search.", "clear"),
    ("open", (), "Open the file at this message.", "open_row"),
    ("unfold", (), "Unfold the card under the cursor.", "unfold"),
    ("fold", (), "Fold the card under the cursor.", "fold"),
    ("debug", (), "Switch between the safe and debug views of all files.", "toggle_debug"),
    ("brief", (), "Show one line per call, or none.", "toggle_brief"),
    ("yank", (), "Copy the text of the message.", "yank"),
    *SHARED[-6:],
)
"""Actions that the merged view shares with the main screen."""

OWN: tuple[Action, ...] = (
    Action("sort_files", ("s",), "Sort", "Change the sort order.", _F, "sort"),
    Action("compare_files", ("D",), "Compare", "Mark the file; marking a second file compares the two.", _F, "compare"),
    Action("follow_newest", ("F",), "Follow newest", "Open the newest file and follow it.", _F, "follow_newest"),
    Action("copy_path", ("y",), "Copy path", "Copy the path of the file.", _F, "copy_path", served=Served.NEVER),
)
"""Actions that only the file list has."""


def list_actions(actions: Sequence[Action] = ACTIONS, scope: Scope = Scope.ALL) -> tuple[Action, ...]:
    """Return the actions of the file list with the configured keys. Keys of the main screen take precedence over the
    list's own."""
    shared = [_shared(row, actions) for row in SHARED]
    taken = {key for action in shared for key in action.keys}
    own = [replace(action, keys=tuple(key for key in action.keys if key not in taken)) for action in OWN]
    return (*shared, *rows_for(scope, own))


def transcript_actions(actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """Return the actions of the transcript list with the configured keys."""
    found = (_shared(row, actions) for row in OF_TRANSCRIPTS)
    labels = {"leave": "Back", "search": "Find in all"}
    return tuple(replace(action, label=labels.get(action.id, action.label)) for action in found)


def merged_actions(actions: Sequence[Action] = ACTIONS, scope: Scope = Scope.ALL) -> tuple[Action, ...]:
    """Return the actions of the merged view with the configured keys."""
    labels = {"search": "Find", "open": "Open file"}
    found = (_shared(row, actions) for row in OF_MERGED)
    return tuple(replace(action, label=labels.get(action.id, action.label)) for action in rows_for(scope, list(found)))


def _shared(row: tuple[str, tuple[str, ...], str, str], actions: Sequence[Action]) -> Action:
    id, others, help, target = row
    action = by_id(id, actions)
    keys = (*action.keys, *(key for other in others for key in by_id(other, actions).keys))
    label = {"search": "Find in all files", "leave": "Quit", "copy_or_quit": "Quit"}.get(id, action.label)
    return replace(action, keys=keys, label=label, help=help, target=target, in_list="", debug_only=False)
