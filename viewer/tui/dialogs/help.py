"""Help screen: the keys by group, the legend, and a search over the keys and their descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import ClassVar

from msgspec import Struct
from textual import events
from textual.binding import Binding, BindingType

from viewer.render.sanitize import SafeText
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.width import cells, wrap
from viewer.tui.dialogs.overlay import Overlay
from viewer.tui.keys import ACTIONS, Action, Group, by_id, offered
from viewer.tui.panes.columns import length
from viewer.tui.panes.signs import KindSign
from viewer.tui.terminal.key_names import shown_key
from viewer.tui.terminal.paint import Painter, joined

DEBUG_MARK = "*"
"""The mark after the keys of actions that only the debug view offers."""
_KEY_ROOM = 15
"""The width of the key column."""
_INDENT = 2
_BETWEEN = 2
TWO_COLUMNS = 88
"""The minimum width inside the box for two columns; a terminal with 100 columns is wide enough."""


class HelpRow(Struct, frozen=True):
    """Actions that share a row, and the row's text."""

    ids: tuple[str, ...]
    words: str


SECTIONS: dict[str, tuple[Group, ...]] = {
    "Move": (Group.MOVE,),
    "Find": (Group.SEARCH, Group.PROBLEMS, Group.CALLS),
    "Look": (Group.VIEW,),
    "Act": (Group.MESSAGE, Group.COPY, Group.FILES, Group.PROGRAM),
}
"""The headings, and the groups of actions below each."""
ROWS = (
    HelpRow(("line_down", "line_up"), "line (5j: five lines)"),
    HelpRow(("next_message", "previous_message"), "next, previous message"),
    HelpRow(("previous_turn", "next_turn"), "previous, next turn"),
    HelpRow(("previous_transcript", "next_transcript"), "previous, next transcript"),
    HelpRow(("half_page_down", "half_page_up"), "half a page"),
    HelpRow(("page_down", "page_up"), "page"),
    HelpRow(("top", "bottom"), "top; end, and follow"),
    HelpRow(("jump_back", "jump_forward"), "back to where you were"),
    HelpRow(("search", "next_match", "previous_match"), "search, next, previous"),
    HelpRow(("next_error", "previous_error", "next_warning", "previous_warning"), "error, warning"),
    HelpRow(("partner", "next_in_call", "previous_in_call"), "other end of a call"),
    HelpRow(("problems", "calls", "timeline"), "problems, calls, timeline"),
    HelpRow(("analysis", "commentary", "tools", "system"), "thoughts, commentary, tools…"),
    HelpRow(("outline", "inspector"), "outline, inspector"),
    HelpRow(("previous_tab", "next_tab"), "tab of the pane"),
    HelpRow(("next_pane", "previous_pane"), "pane (3 tab: pane 3)"),
    HelpRow(("zoom_in",), "zoom the timeline (- out)"),
    HelpRow(("open", "unfold", "fold"), "open, unfold, fold"),
    HelpRow(("fold_all", "unfold_tree"), "fold all; open all nodes"),
    HelpRow(("mark", "next_mark", "previous_mark", "marks"), "mark, next, previous, list"),
    HelpRow(("copy_text", "copy_raw", "copy_json", "copy_header", "copy_call_id", "copy_link"), "copy: y, then a key"),
    HelpRow(("previous_file", "next_file"), "previous, next file"),
    HelpRow(("export", "edit"), "export, open in editor"),
    HelpRow(("follow", "freeze"), "follow, freeze"),
    HelpRow(("palette", "help"), "all commands, all keys"),
    HelpRow(("command",), "commands with completion"),
    HelpRow(("parent",), "return from a sub-agent"),
    HelpRow(("filter",), "show matching messages only"),
    HelpRow(("clear",), "to the transcript; end search"),
    HelpRow(("leaks", "next_prompt", "lens"), "leaks, next prompt, formats"),
    HelpRow(("replay",), "replay as it was written"),
    HelpRow(("debug", "brief"), "debug view; a line per call"),
    HelpRow(("side_panes",), "thoughts side by side"),
    HelpRow(("raw", "markdown", "wrap"), "bytes, Markdown, long lines"),
    HelpRow(("times", "usage"), "times, tokens, and cost"),
    HelpRow(("leave", "suspend", "copy_or_quit"), "quit, suspend, copy"),
)
"""Rows with their own wording. Every other action has a row with its label."""
_SIGNS = (
    (KindSign.ANSWER, "answer"), (KindSign.COMMENTARY, "commentary"), (KindSign.THOUGHT, "thought"),
    (KindSign.CALL, "call"),
)  # fmt: skip


def help_lines(actions: Sequence[Action], width: int, printing: Style) -> list[Line]:
    """Return the keys in one or two columns, and the legend."""
    half = width if width < TWO_COLUMNS else (width - _BETWEEN) // 2
    order = [_section(heading, groups, actions, half, printing) for heading, groups in SECTIONS.items()]
    if width < TWO_COLUMNS:
        lines = [line for block in order for line in block]
    else:
        left, right = ([*first, *second] for first, second in ((order[0], order[1]), (order[2], order[3])))
        lines = [joined(_filled(one, half), other) for one, other in zip_longest(left, right, fillvalue=())]
    return [*lines, *legend(width, printing)]


def legend(width: int, printing: Style) -> list[Line]:
    """Return the legend: the symbols for messages, calls, problems, and marks."""
    signs = printing.signs
    own = [(kind.glyph(printing), word) for kind, word in _SIGNS]
    own += [(signs.running, "running"), (signs.error, "error"), (signs.warning, "warning")]
    own += [("*" if printing.ascii else "◆", "mark"), (signs.hidden, "hidden"), (signs.folded, "folded")]
    own.append(("seen:", "the user saw this message"))
    rows, room = [""], max(width - 11, 20)
    for sign, word in own:
        more = f"{sign} {word}"
        if rows[-1] and cells(trusted(rows[-1])) + 2 + cells(trusted(more)) > room:
            rows.append("")
        rows[-1] += f"  {more}" if rows[-1] else more
    heads = [Part(trusted("  Signs  "), StyleRole.HEADING), Part(trusted(" " * 9))]
    return [(heads[min(at, 1)], Part(trusted(row))) for at, row in enumerate(rows)]


def found_lines(actions: Sequence[Action], wanted: str, width: int, printing: Style) -> list[Line]:
    """Return the keys and description of each action whose keys, name, or description contain all words, or a sentence
    if there is no such action."""
    words = wanted.lower().split()
    lines: list[Line] = []
    for action in actions:
        keys = all_keys(action, printing)
        text = f"{keys} {action.label} {action.help} {action.id}".lower()
        if all(word in text for word in words):
            lines += _entry(f"{keys}{DEBUG_MARK if action.debug_only else ''}", action.help, width, printing)
    return lines or [(Part(trusted("  No key matches these words."), StyleRole.QUIET),)]


def all_keys(action: Action, printing: Style) -> str:
    """Return all keys of an action, or its command if it has none."""
    keys = [shown_key(key, ascii=printing.ascii) for key in action.keys]
    keys += [f"y {shown_key(key, ascii=printing.ascii)}" for key in action.after_yank]
    return " ".join(keys) or f":{action.id.replace('_', '-')}"


def _section(
    heading: str, groups: Sequence[Group], actions: Sequence[Action], width: int, printing: Style
) -> list[Line]:
    """Return the heading, a row for each action or group of actions, and an empty line."""
    lines: list[Line] = [(Part(trusted(f"  {heading}"), StyleRole.HEADING),)]
    has = {action.id for action in actions}
    shared = {id: row for row in ROWS if has.issuperset(row.ids) for id in row.ids}
    drawn: set[str] = set()
    for action in actions:
        if action.group not in groups or action.id in drawn:
            continue
        row = shared.get(action.id) or HelpRow((action.id,), action.label[:1].lower() + action.label[1:])
        members = [by_id(id, actions) for id in row.ids if any(each.id == id for each in actions)]
        drawn |= {each.id for each in members}
        mark = DEBUG_MARK if all(each.debug_only for each in members) else ""
        lines += _row(_short_keys(members, printing) + mark, row.words, width, printing)
    return [*lines, ()]


def _short_keys(members: Sequence[Action], printing: Style) -> str:
    """Return the first key of each action, and as many other keys as fit."""
    after = [action.after_yank[0] for action in members if not action.keys and action.after_yank]
    keys = [all_keys(action, printing) for action in members if not action.keys and not action.after_yank]
    if after:
        keys.append("y " + " ".join(shown_key(key, ascii=printing.ascii) for key in after))
    for place in range(max(len(action.keys) for action in members)):
        more = [shown_key(action.keys[place], ascii=printing.ascii) for action in members if place < len(action.keys)]
        if place and len(" ".join([*keys, *more])) >= _KEY_ROOM - 1:
            break
        keys += more
    return " ".join(keys)


def _row(keys: str, words: str, width: int, printing: Style) -> list[Line]:
    return _entry(keys, words, width + 1, printing, _KEY_ROOM)


def _entry(keys: str, sentence: str, width: int, printing: Style, room: int = 24) -> list[Line]:
    rows = list(wrap(printing.words(sentence), max(width - room - _INDENT - 1, 12)))
    gap = " " * max(room - cells(trusted(keys)), 1)
    first: Line = (
        Part(trusted(" " * _INDENT)),
        Part(trusted(keys), StyleRole.FOOTER_KEY),
        Part(SafeText(gap + rows[0])),
    )
    return [first, *((Part(trusted(" " * (room + _INDENT))), Part(row)) for row in rows[1:])]


def _filled(line: Line, width: int) -> Line:
    return (*line, Part(trusted(" " * max(width - length(line), 0))))


class HelpScreen(Overlay[None]):
    """The help screen. `/` searches it; escape and the keys for help and quit close it."""

    has_head = True
    DEFAULT_CSS = """
    HelpScreen HeadLine { display: none; }
    HelpScreen.-finding HeadLine { display: block; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", show=False),
        Binding("slash", "find", show=False),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("ctrl+d", "page(0.5)", show=False),
        Binding("ctrl+u", "page(-0.5)", show=False),
        Binding("space,pagedown", "page(1.0)", show=False),
        Binding("b,pageup", "page(-1.0)", show=False),
        Binding("g,home", "page(-1000.0)", show=False),
        Binding("G,end", "page(1000.0)", show=False),
    ]

    def __init__(
        self,
        painter: Painter,
        printing: Style | None = None,
        actions: Sequence[Action] = ACTIONS,
        *,
        is_short: bool = True,
    ) -> None:
        """Without `is_short`, show every key with its description from the start."""
        super().__init__(painter, printing)
        self._is_short = is_short
        self._actions = offered(actions)
        self._wanted: str | None = None
        """The words to search for, or None if there is no search."""
        self._help_key = by_id("help", actions).shown_key
        for action in actions:
            for key in action.keys if action.id in ("help", "leave") else ():
                self._bindings.key_to_bindings[key] = [Binding(key, "close", show=False)]

    def fill(self, width: int) -> None:
        wanted, printing = self._wanted, self.printing
        self.set_class(wanted is not None, "-finding")
        if wanted is None:
            short = help_lines if self._is_short else partial(found_lines, wanted="")
            lines = short(self._actions, width=width - 1, printing=printing)
            mark = f"{DEBUG_MARK} debug view · " if any(each.debug_only for each in self._actions) else ""
            self.caption("Help", f"{mark}{self._help_key} closes · / finds a key")
        else:
            lines = found_lines(self._actions, wanted, width - 1, printing)
            self.caption("Help", "esc ends the search")
            self.head.show(lambda _: [(Part(trusted(f" /{wanted}▏"), StyleRole.STRONG),)])
        self.list.styles.height = len(lines)
        self.list.show(len(lines), lambda row, _: lines[row])

    def on_key(self, event: events.Key) -> None:
        """Handle keys typed into the search."""
        if self._wanted is None:
            return
        if event.key == "backspace":
            self._find(self._wanted[:-1])
        elif event.is_printable and event.character is not None:
            self._find(self._wanted + event.character)
        else:
            return
        event.stop().prevent_default()

    def _find(self, wanted: str | None) -> None:
        self._wanted = wanted
        self.list.scroll_home(animate=False, force=True)
        self.on_resize()

    def action_find(self) -> None:
        """Start a search."""
        self._find("")

    def action_close(self) -> None:
        """End the search, or close the screen."""
        if self._wanted is None:
            self.dismiss(None)
        else:
            self._find(None)

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.list.scroll_relative(y=lines, animate=False, force=True)

    def action_page(self, pages: float) -> None:
        """Scroll by pages."""
        self.list.scroll_relative(y=round(pages * self.list.size.height), animate=False, force=True)
