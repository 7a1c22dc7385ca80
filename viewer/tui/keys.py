"""`ACTIONS`, the table of all actions and their keys: the source of bindings, help screen, palette, and remapping.

`MainScreen.action_do` calls the target of an action. Lists and the merged view have the tables in `files/keys.py`.
The footer and its labels are in `bars/footer_keys.py`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from viewer.render.sanitize import sanitize_line
from viewer.tui.terminal.key_names import is_key, key_name, shown_key, similar_key

if TYPE_CHECKING:
    from textual.binding import Binding


class Group(Enum):
    """The headings of the help screen, in order."""

    MOVE = "Move"
    SEARCH = "Search"
    PROBLEMS = "Problems"
    CALLS = "Calls"
    VIEW = "View"
    MESSAGE = "Message"
    COPY = "Copy"
    FILES = "Files"
    PROGRAM = "Program"


class Served(Enum):
    """The served views that offer an action: all of them, those that may open the debug view, or none."""

    SAFE = "safe"
    DEBUG = "debug"
    NEVER = "never"


class Scope(Enum):
    """The kind of view, which determines the actions that it offers."""

    ALL = "all"
    SEALED = "sealed"
    """A terminal view that is sealed to the safe view."""
    SERVED = "served"
    """A browser view that may open the debug view."""
    SERVED_SAFE = "served safe"
    """A browser view that is sealed to the safe view."""

    @property
    def refusal(self) -> str:
        """The message for an action that the view does not offer."""
        return "not available in the served view" if self.is_served else "not available with --safe-only"

    @property
    def is_sealed(self) -> bool:
        """True if the view never shows more than the safe view."""
        return self in (Scope.SEALED, Scope.SERVED_SAFE)

    @property
    def is_served(self) -> bool:
        """True if the view is in a browser."""
        return self in (Scope.SERVED, Scope.SERVED_SAFE)

    def has(self, served: Served, *, debug_only: bool = False) -> bool:
        """True if the view offers an action with this value of `served`."""
        if self.is_sealed and (debug_only or served is Served.DEBUG):
            return False
        return not (self.is_served and served is Served.NEVER)


class Action(Struct, frozen=True):
    """One row of the table: an action, its keys, and its effect."""

    id: str
    keys: tuple[str, ...]
    """Textual's key names."""
    label: str
    help: str
    group: Group
    target: str
    """The method to call on a part of the main screen, such as `navigator.next_turn`."""
    debug_only: bool = False
    """True if the action needs the debug view. In the safe view, its keys only show a message that says so."""
    after_yank: tuple[str, ...] = ()
    """The keys of this action after the prefix `y`."""
    in_list: str = ""
    """The target while a list has the focus, if it differs from `target`."""
    served: Served = Served.SAFE
    """The served views that offer the action. The bindings, footer, help, and palette of other served views omit it."""
    title: str = ""
    """The title in the palette, if it is not the label."""
    refusal: str = ""
    """The message if this view does not offer the action; empty if it does."""

    @property
    def shown_keys(self) -> tuple[str, ...]:
        """All keys in printed form."""
        return (*map(shown_key, self.keys), *(f"y {shown_key(key)}" for key in self.after_yank))

    @property
    def shown_key(self) -> str:
        """The first key in printed form; empty if it has no key."""
        if self.keys:
            return shown_key(self.keys[0])
        return f"y {shown_key(self.after_yank[0])}" if self.after_yank else ""


_M, _S, _P, _C, _V = Group.MOVE, Group.SEARCH, Group.PROBLEMS, Group.CALLS, Group.VIEW
_B, _Y, _F, _O = Group.MESSAGE, Group.COPY, Group.FILES, Group.PROGRAM

ACTIONS: tuple[Action, ...] = (
    Action(
        "line_down",
        ("j", "down"),
        "Line down",
        "Move one line down.",
        _M,
        "navigator.line_down",
        in_list="lists.line_down",
    ),
    Action("line_up", ("k", "up"), "Line up", "Move one line up.", _M, "navigator.line_up", in_list="lists.line_up"),
    Action(
        "next_message",
        ("J",),
        "Next message",
        "Go to the next message, or the next value of an open card.",
        _M,
        "navigator.next_message",
        in_list="lists.line_down",
    ),
    Action(
        "previous_message",
        ("K",),
        "Previous message",
        "Go to the previous message, or the previous value of an open card.",
        _M,
        "navigator.previous_message",
        in_list="lists.line_up",
    ),
    Action("next_turn", ("right_curly_bracket",), "Next turn", "Go to the next turn.", _M, "navigator.next_turn"),
    Action(
        "previous_turn",
        ("left_curly_bracket",),
        "Previous turn",
        "Go to the previous turn.",
        _M,
        "navigator.previous_turn",
    ),
    Action(
        "next_transcript",
        ("right_parenthesis",),
        "Next transcript",
        "Go to the next transcript in this file.",
        _M,
        "navigator.next_transcript",
    ),
    Action(
        "previous_transcript",
        ("left_parenthesis",),
        "Previous transcript",
        "Go to the previous transcript in this file.",
        _M,
        "navigator.previous_transcript",
    ),
    Action("transcripts", ("X",), "Transcripts", "List the transcripts of this file.", _M, "program.list_transcripts"),
    Action(
        "half_page_down",
        ("ctrl+d",),
        "Half page down",
        "Scroll half a page down.",
        _M,
        "navigator.half_page_down",
        in_list="lists.half_page_down",
    ),
    Action(
        "half_page_up",
        ("ctrl+u",),
        "Half page up",
        "Scroll half a page up.",
        _M,
        "navigator.half_page_up",
        in_list="lists.half_page_up",
    ),
    Action(
        "page_down",
        ("space", "f", "pagedown", "ctrl+f"),
        "Page down",
        "Scroll one page down.",
        _M,
        "navigator.page_down",
        in_list="lists.page_down",
    ),
    Action(
        "page_up",
        ("b", "pageup", "ctrl+b"),
        "Page up",
        "Scroll one page up.",
        _M,
        "navigator.page_up",
        in_list="lists.page_up",
    ),
    Action("top", ("g", "home"), "Top", "Go to the top.", _M, "navigator.top", in_list="lists.top"),
    Action(
        "bottom",
        ("G", "end"),
        "Bottom",
        "Go to the end and follow; 12G goes to message 12.",
        _M,
        "navigator.bottom",
        in_list="lists.bottom",
    ),
    Action("jump_back", ("ctrl+o",), "Jump back", "Go back to the previous position.", _M, "navigator.jump_back"),
    Action("jump_forward", ("ctrl+n", "ctrl+i"), "Jump forward", "Go forward again.", _M, "navigator.jump_forward"),
    Action("command", ("colon",), "Command", "Run a command or go to a position.", _M, "commands.ask"),
    Action(
        "parent",
        ("backspace",),
        "Back",
        "Return from a sub-agent to its call.",
        _M,
        "view.leave_agent",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "search",
        ("slash",),
        "Search",
        "Find text; // finds a regular expression.",
        _S,
        "search.ask",
        in_list="lists.ask",
    ),
    Action(
        "next_match", ("n",), "Next match", "Go to the next match.", _S, "search.next_match", in_list="lists.next_match"
    ),
    Action(
        "previous_match",
        ("N",),
        "Previous match",
        "Go to the previous match.",
        _S,
        "search.previous_match",
        in_list="lists.previous_match",
    ),
    Action(
        "filter",
        ("ampersand",),
        "Filter",
        "Show only matching messages.",
        _S,
        "filter.ask",
        in_list="lists.filter_by_row",
    ),
    Action(
        "clear",
        ("escape",),
        "Clear",
        "Return to the transcript, then clear the search, then the filter.",
        _S,
        "view.clear",
    ),
    Action(
        "next_error",
        ("e",),
        "Next error",
        "Go to the next error, or to the next warning if there are no errors; in the calls, to the next failed call.",
        _P,
        "problems.next_error",
        in_list="lists.next_error",
    ),
    Action(
        "previous_error",
        ("E",),
        "Previous error",
        "Go to the previous error, or to the previous warning if there are no errors; "
        "in the calls, to the previous failed call.",
        _P,
        "problems.previous_error",
        in_list="lists.previous_error",
    ),
    Action("next_warning", ("w",), "Next warning", "Go to the next warning.", _P, "problems.next_warning"),
    Action(
        "previous_warning", ("W",), "Previous warning", "Go to the previous warning.", _P, "problems.previous_warning"
    ),
    Action("problems", ("p",), "Problems", "Open the problem list.", _P, "panes.toggle_problems"),
    Action(
        "next_in_call",
        ("o",),
        "Next in call",
        "Go to the next message of the call.",
        _C,
        "navigator.next_in_call",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "previous_in_call",
        ("O",),
        "Previous in call",
        "Go to the previous message of the call.",
        _C,
        "navigator.previous_in_call",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "partner",
        ("percent_sign",),
        "Partner",
        "Go to the other end of the call.",
        _C,
        "navigator.partner",
        True,
        served=Served.DEBUG,
    ),
    Action("calls", ("C",), "Calls", "Open the calls.", _C, "panes.toggle_calls", True, served=Served.DEBUG),
    Action("timeline", ("H",), "Timeline", "Open the timeline.", _C, "panes.toggle_timeline"),
    Action(
        "leaks",
        ("L",),
        "Leaks",
        "Find hidden text that reached the user.",
        _P,
        "program.open_leaks",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "next_prompt",
        ("S",),
        "Next prompt",
        "Show the next prompt.",
        _C,
        "program.open_next_prompt",
        True,
        served=Served.DEBUG,
    ),
    Action("lens", ("V",), "Compare formats", "Compare formats.", _C, "program.open_lens", True, served=Served.DEBUG),
    Action("replay", ("at",), "Replay", "Replay the transcript as it was written.", _C, "program.open_replay"),
    Action(
        "debug",
        ("d",),
        "Debug view",
        "Switch between the safe and debug views.",
        _V,
        "view.toggle_debug",
        served=Served.DEBUG,
    ),
    Action("brief", ("D",), "Brief view", "Show one line per call.", _V, "view.toggle_brief", served=Served.DEBUG),
    Action(
        "analysis", ("a",), "Analysis", "Show or hide thoughts.", _V, "view.toggle_analysis", True, served=Served.DEBUG
    ),
    Action(
        "commentary",
        ("c",),
        "Commentary",
        "Show or hide commentary and tool calls.",
        _V,
        "view.toggle_commentary",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "tools",
        ("t",),
        "Tools",
        "Show or hide tool replies.",
        _V,
        "view.toggle_tools",
        True,
        served=Served.DEBUG,
    ),
    Action(
        "system",
        ("s",),
        "System",
        "Show or hide instructions; in the calls, sort by the next column.",
        _V,
        "view.toggle_system",
        True,
        in_list="lists.sort",
        served=Served.DEBUG,
    ),
    Action(
        "side_panes",
        ("vertical_line",),
        "Side panes",
        "Show thoughts and calls next to the conversation.",
        _V,
        "panes.toggle_side",
        True,
        served=Served.DEBUG,
    ),
    Action("outline", ("T",), "Outline", "Open the outline.", _V, "panes.toggle_outline"),
    Action(
        "inspector", ("i",), "Inspector", "Open the inspector.", _V, "panes.toggle_inspector", True, served=Served.DEBUG
    ),
    Action(
        "previous_tab",
        ("less_than_sign",),
        "Previous tab",
        "Show the previous tab of the pane.",
        _V,
        "panes.previous_tab",
    ),
    Action("next_tab", ("greater_than_sign",), "Next tab", "Show the next tab of the pane.", _V, "panes.next_tab"),
    Action("next_pane", ("tab",), "Next pane", "Focus the next pane; 3 tab focuses pane 3.", _V, "panes.next_pane"),
    Action("previous_pane", ("shift+tab",), "Previous pane", "Focus the previous pane.", _V, "panes.previous_pane"),
    Action("markdown", ("M",), "Markdown", "Render Markdown or show its source.", _V, "view.toggle_markdown"),
    Action("raw", ("r",), "Raw", "Show the exact bytes.", _V, "view.toggle_raw", True, served=Served.DEBUG),
    Action("zoom_in", ("plus",), "Zoom in", "Zoom into the timeline.", _V, "lists.zoom_in", in_list="lists.zoom_in"),
    Action(
        "wrap",
        ("minus",),
        "Wrap",
        "Turn line wrapping on or off; in the timeline, zoom out.",
        _V,
        "view.toggle_wrap",
        in_list="lists.zoom_out",
    ),
    Action("times", ("semicolon",), "Times", "Cycle times: off, relative, or clock.", _V, "view.next_times"),
    Action(
        "usage", ("dollar_sign",), "Usage", "Show tokens and cost.", _V, "view.toggle_usage", True, served=Served.DEBUG
    ),
    Action(
        "open",
        ("enter",),
        "Open",
        "Open the item under the cursor; in a list, go to its message.",
        _B,
        "view.open",
        in_list="lists.choose",
    ),
    Action(
        "fold",
        ("h", "left"),
        "Fold",
        "Fold the item under the cursor; in the timeline, pan left.",
        _B,
        "view.fold",
        in_list="lists.fold",
    ),
    Action(
        "unfold",
        ("l", "right"),
        "Unfold",
        "Unfold the item under the cursor; in the timeline, pan right.",
        _B,
        "view.unfold",
        in_list="lists.unfold",
    ),
    Action("unfold_tree", ("asterisk",), "Open all", "Open all nodes of the message.", _B, "view.unfold_tree"),
    Action("fold_all", ("z",), "Fold all", "Fold or unfold all messages.", _B, "view.toggle_all_folds"),
    Action("mark", ("m",), "Mark", "Mark or unmark the message.", _B, "navigator.mark"),
    Action("next_mark", ("u",), "Next mark", "Go to the next mark.", _B, "navigator.next_mark"),
    Action("previous_mark", ("U",), "Previous mark", "Go to the previous mark.", _B, "navigator.previous_mark"),
    Action("marks", ("apostrophe",), "Marks", "List the marks.", _B, "program.list_marks"),
    Action(
        "yank",
        ("y",),
        "Copy",
        "Copy the message; in the debug view, a second key selects what to copy.",
        _Y,
        "copy.yank",
    ),
    Action("copy_text", (), "Copy text", "Copy the text of the message.", _Y, "copy.copy_text", False, ("y",)),
    Action(
        "copy_raw",
        (),
        "Copy raw",
        "Copy the exact source of the message.",
        _Y,
        "copy.copy_raw",
        True,
        ("r",),
        served=Served.DEBUG,
    ),
    Action(
        "copy_json",
        (),
        "Copy JSON",
        "Copy the message as JSON.",
        _Y,
        "copy.copy_json",
        True,
        ("j",),
        served=Served.DEBUG,
    ),
    Action(
        "copy_header",
        (),
        "Copy header",
        "Copy the header of the message.",
        _Y,
        "copy.copy_header",
        True,
        ("h",),
        served=Served.DEBUG,
    ),
    Action(
        "copy_call_id",
        (),
        "Copy call ID",
        "Copy the call ID of the message.",
        _Y,
        "copy.copy_call_id",
        True,
        ("c",),
        served=Served.DEBUG,
    ),
    Action(
        "copy_link",
        (),
        "Copy link",
        "Copy the file name and the message number.",
        _Y,
        "copy.copy_link",
        True,
        ("l",),
        served=Served.DEBUG,
    ),
    Action(
        "export",
        ("x",),
        "Export",
        "Export this view.",
        _F,
        "export.ask",
        served=Served.NEVER,
        title="Export as HTML, Markdown, text, JSON Lines, or SVG",
    ),
    Action(
        "edit", ("v",), "Editor", "Open this line in $VISUAL or $EDITOR.", _F, "program.edit", True, served=Served.NEVER
    ),
    Action(
        "previous_file",
        ("left_square_bracket",),
        "Previous file",
        "Go to the previous file.",
        _F,
        "program.previous_file",
    ),
    Action("next_file", ("right_square_bracket",), "Next file", "Go to the next file.", _F, "program.next_file"),
    Action("follow", ("F",), "Follow", "Follow the input, or stop following.", _O, "follow.toggle_follow"),
    Action("freeze", ("equals_sign",), "Freeze", "Freeze or unfreeze the display.", _O, "follow.toggle_freeze"),
    Action("theme", (), "Theme", "Choose a theme.", _O, "program.open_themes"),
    Action("palette", ("ctrl+p",), "Commands", "Show all commands.", _O, "commands.open_palette"),
    Action(
        "help",
        ("question_mark", "f1"),
        "Help",
        "Show all keys; in the problem list, explain the problem.",
        _O,
        "program.open_help",
        in_list="lists.explain",
    ),
    Action("leave", ("q", "ctrl+q"), "Quit", "Close the open pane, or quit.", _O, "program.leave"),
    Action("suspend", ("ctrl+z",), "Suspend", "Suspend; fg resumes.", _O, "program.suspend", served=Served.NEVER),
    Action(
        "copy_or_quit",
        ("ctrl+c",),
        "Copy or quit",
        "Copy the selection. If nothing is selected, press twice to quit.",
        _O,
        "program.copy_or_quit",
    ),
)

COUNTED = (
    "line_down", "line_up", "next_message", "previous_message", "next_turn", "previous_turn",
    "next_transcript", "previous_transcript",
    "half_page_down", "half_page_up", "page_down", "page_up", "top", "bottom", "next_match", "previous_match",
    "next_error", "previous_error", "next_warning", "previous_warning", "next_in_call", "previous_in_call",
    "next_mark", "previous_mark", "next_pane", "previous_pane",
)  # fmt: skip
"""Actions that use a typed number. Most are repeated that many times, but `bottom` goes to that message, `next_pane`
and `previous_pane` go to that pane, and `top` ignores the number."""

_BY_ID = {action.id: action for action in ACTIONS}


def by_id(id: str, actions: Sequence[Action] = ACTIONS) -> Action:
    """Return the action with this ID."""
    return _BY_ID[id] if actions is ACTIONS else next(action for action in actions if action.id == id)


def rows_for(scope: Scope, actions: Sequence[Action] = ACTIONS) -> tuple[Action, ...]:
    """Return the table for a view, with a refusal in each row that the view does not offer."""
    if scope is Scope.ALL:
        return tuple(actions)
    return tuple(
        action if scope.has(action.served, debug_only=action.debug_only) else replace(action, refusal=scope.refusal)
        for action in actions
    )


def offered(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Return the rows that the view offers."""
    return tuple(action for action in actions if not action.refusal)


def debug_only(actions: Sequence[Action] = ACTIONS) -> str:
    """Return the message for an action that needs the debug view."""
    refusal = by_id("debug", actions).refusal
    return refusal or f"debug view only: press {by_id('debug', actions).shown_key}"


DEBUG_ONLY = debug_only()
"""The message for an action that needs the debug view, with the default key."""


def after_yank(actions: Sequence[Action] = ACTIONS) -> dict[str, Action]:
    """Map each key after the prefix `y` to its action."""
    return {key: action for action in actions for key in action.after_yank}


def remapped(keymap: Mapping[str, str]) -> tuple[Action, ...]:
    """Return the table with the keys from the settings. An action loses a key that the settings assign to another
    action."""
    if not keymap:
        return ACTIONS
    chosen = {id: keys_of(written) for id, written in keymap.items() if id in _BY_ID}
    taken = {key for keys in chosen.values() for key in keys}
    return tuple(
        replace(action, keys=chosen[action.id])
        if action.id in chosen
        else replace(action, keys=tuple(key for key in action.keys if key not in taken))
        for action in ACTIONS
    )


def bindings(actions: Sequence[Action] = ACTIONS) -> list[Binding]:
    """Return the bindings for Textual, hidden from its own footer. A key of an action that the view does not offer only
    shows the refusal."""
    from textual.binding import Binding

    return [
        Binding(
            ",".join(action.keys),
            f"refuse({action.refusal!r})" if action.refusal else f"do('{action.id}')",
            action.label,
            show=False,
            id=action.id,
        )
        for action in actions
        if action.keys
    ]


def keys_of(written: str) -> tuple[str, ...]:
    """Parse the keys of an entry such as `ctrl+n, %`. The comma itself is written `comma`."""
    keys = (key_name(key) for key in written.split(",") if key.strip())
    return tuple(dict.fromkeys(key for key in keys if is_key(key) and not is_digit(key)))


class KeyProblem(Struct, frozen=True, gc=False):
    """A problem with one entry of the keymap."""

    id: str
    sentence: str


def is_digit(name: str) -> bool:
    """True if the key can be a digit of a count. Keys such as `²` cannot."""
    return name.isascii() and name.isdigit()


def check_keymap(keymap: Mapping[str, str]) -> list[KeyProblem]:
    """Return the problems of a keymap, one sentence each. If two entries clash, the later one has the problem."""
    problems: list[KeyProblem] = []
    for id, written in keymap.items():
        if id not in _BY_ID:
            import difflib  # slow to import, and mistakes are rare

            words = f"unknown action {_quoted(id)}{_perhaps(difflib.get_close_matches(id, _BY_ID, 1))}"
            problems.append(KeyProblem(id, words))
        problems.extend(KeyProblem(id, sentence) for sentence in _bad_keys(id, written))
    return problems + _clashes(keymap)


def _bad_keys(id: str, written: str) -> Iterable[str]:
    keys = [key_name(key) for key in written.split(",") if key.strip()]
    if not keys:
        yield f"action {_quoted(id)} has no key"
    for key in keys:
        if is_digit(key):
            yield f"key '{key}' of {_quoted(id)} cannot be used: digits are for counts such as 12G"
        elif not is_key(key):
            near = similar_key(key)
            yield f"unknown key {_quoted(key)} of {_quoted(id)}{_perhaps([near] if near else [])}"


def _clashes(keymap: Mapping[str, str]) -> list[KeyProblem]:
    owners: dict[str, list[str]] = {}
    for action in ACTIONS:
        for key in keys_of(keymap[action.id]) if action.id in keymap else action.keys:
            owners.setdefault(key, []).append(action.id)
    order = list(keymap)
    return [
        KeyProblem(
            max((id for id in ids if id in keymap), key=order.index),
            f"key '{shown_key(key)}' is assigned to {' and '.join(map(repr, ids))}: assign another key to one of them",
        )
        for key, ids in owners.items()
        if len(ids) > 1
    ]


def _quoted(written: str) -> str:
    return f"'{sanitize_line(written, 40)}'"


def _perhaps(near: Sequence[str]) -> str:
    return f". Did you mean {near[0]}?" if near else ""
