"""Session list: choose an agent session of this machine, or type part of its title to filter."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from viewer.document.session_head import SessionHead, read_head
from viewer.render.number_format import ago, byte_size
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.sources.sessions import HEAD, Session, Surroundings, find_sessions, group_of
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.dialogs.file_lines import bottom_line, padded
from viewer.tui.panes.columns import spread
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.line_list import LineList
from viewer.tui.terminal.paint import Painter

SECONDS_BETWEEN_STEPS = 0.02
SECONDS_OF_A_STEP = 0.01
LONGEST_TYPED = 200
_AGENT, _TURNS, _SIZE, _CHANGED = 14, 7, 11, 14
_WITH_ALL = 90


class SessionsScreen(DismissOnce[str | None]):
    """Session list; returns the path of a session, or None."""

    DEFAULT_CSS = """
    SessionsScreen { layout: vertical; }
    SessionsScreen > LineList { height: 1fr; scrollbar-size-vertical: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("home", "move(-1000000)", show=False),
        Binding("end", "move(1000000)", show=False),
        Binding("enter", "choose", show=False),
        Binding("backspace", "erase", show=False),
        Binding("ctrl+u", "erase_all", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(self, painter: Painter, around: Surroundings, printing: Style) -> None:
        super().__init__()
        self._painter = painter
        self._around = around
        self._printing = printing
        self._typed = ""
        self._sessions = find_sessions(around)
        self._heads: dict[str, SessionHead] = {}
        self._counted: set[str] = set()
        """The paths of the sessions whose turns were counted, or cannot be."""
        self._rows: list[Session | str] = []
        """The sessions, and the labels of the rules before each group."""
        self._now = time.time()

    def compose(self) -> ComposeResult:
        """A title, the column titles, the sessions, and the typed text."""
        yield HeadLine(self._painter, id="sessions-title")
        yield HeadLine(self._painter, id="sessions-heads")
        yield LineList(self._painter, id="sessions-list")
        yield HeadLine(self._painter, id="sessions-bottom")

    def on_mount(self) -> None:
        """Show the list. Titles appear as they are read."""
        self.query_one("#sessions-heads", HeadLine).show(lambda width: [self._columns(None, width)])
        self._show()
        self.set_interval(SECONDS_BETWEEN_STEPS, self._read_some)

    def on_key(self, event: events.Key) -> None:
        """Add a printable character to the filter."""
        if event.character is not None and event.is_printable and len(self._typed) < LONGEST_TYPED:
            event.stop()
            event.prevent_default()
            self._type(self._typed + event.character)

    def action_erase(self) -> None:
        """Remove the last character."""
        self._type(self._typed[:-1])

    def action_erase_all(self) -> None:
        """Show all sessions again."""
        self._type("")

    def action_back(self) -> None:
        """Clear the filter. If there is none, leave."""
        if self._typed:
            self._type("")
        else:
            self.dismiss(None)

    def action_move(self, rows: int) -> None:
        """Move to another session, skipping rules."""
        step = 1 if rows > 0 else -1
        target = max(0, min(self._list.cursor + rows, len(self._rows) - 1))
        while 0 <= target < len(self._rows) and isinstance(self._rows[target], str):
            target += step
        if 0 <= target < len(self._rows):
            self._list.move_to(target)

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self._list.size.height - 1))

    def action_choose(self) -> None:
        """Open the session under the cursor."""
        self._choose(self._list.cursor)

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        self._choose(event.row)

    def _choose(self, row: int) -> None:
        chosen = self._rows[row] if 0 <= row < len(self._rows) else ""
        if isinstance(chosen, Session):
            self.dismiss(chosen.path)

    def _type(self, typed: str) -> None:
        self._typed = typed
        self._show()

    def _show(self) -> None:
        """Draw the list, with the cursor on its first session."""
        self._rows = [*self._grouped(self._matching())]
        first = next((row for row, each in enumerate(self._rows) if isinstance(each, Session)), -1)
        self._list.show(max(1, len(self._rows)), self._line, first)
        self.query_one("#sessions-title", HeadLine).show(self._title)
        bottom = self.query_one("#sessions-bottom", HeadLine)
        bottom.show(lambda width: [bottom_line(self._typed, width, self._printing)])

    def _matching(self) -> list[Session]:
        """Return the sessions whose title, agent, or folder contains all typed words."""
        wanted = self._typed.casefold().split()
        if not wanted:
            return self._sessions
        return [each for each in self._sessions if all(word in self._searched(each) for word in wanted)]

    def _searched(self, session: Session) -> str:
        head = self._heads.get(session.path)
        return f"{head.title if head else ''} {session.agent} {session.directory or ''}".casefold()

    def _grouped(self, sessions: list[Session]) -> Iterator[Session | str]:
        here = [each for each in sessions if group_of(each, self._around) == 0]
        others = sessions[len(here) :]
        if here:
            yield "this directory"
        yield from here
        if here and others:
            yield "other"
        yield from others

    def _read_some(self) -> None:
        """Read the heads of the visible sessions for one time slice; with a filter, those of all sessions."""
        top = self._list.scroll_offset.y
        rows = self._rows[top : top + self._list.size.height + 1]
        waiting = [each for each in rows if isinstance(each, Session) and each.path not in self._heads]
        if not waiting and self._typed:
            waiting = [each for each in self._sessions if each.path not in self._heads]
        least = 0
        if not waiting:  # all titles are known, so count turns
            seen = [each for each in rows if isinstance(each, Session) and each.path not in self._counted]
            waiting, least = [each for each in seen if 0 < each.size <= HEAD], HEAD
        deadline = time.monotonic() + SECONDS_OF_A_STEP
        for session in waiting:
            self._heads[session.path] = read_head(session, least=least)
            self._counted.update([session.path] if least else ())
            if time.monotonic() >= deadline:
                break
        if waiting and self._typed:
            self._show()
        elif waiting:
            self._list.refresh()

    def _line(self, row: int, width: int) -> Line:
        if not self._rows:
            words = " No session has these words." if self._typed else " No sessions found in the known places."
            return (Part(trusted(words), StyleRole.QUIET),)
        each = self._rows[row]
        if isinstance(each, str):
            stroke = self._printing.signs.rule
            words = f" {stroke * 2} {each} "
            return (Part(trusted(words + stroke * max(0, width - len(words) - 1)), StyleRole.RULE),)
        return self._columns(each, width)

    def _columns(self, session: Session | None, width: int) -> Line:
        """Lay out one session, or the column titles."""
        style = self._printing
        if session is None:
            words = [Part(trusted(word), StyleRole.STRONG) for word in ("title", "agent", "turns", "size", "changed")]
            live = Part(trusted("   "))
        else:
            head = self._heads.get(session.path)
            name = style.name(head.title or session.path.rsplit("/", 1)[-1]) if head else trusted(style.signs.ellipsis)
            turns = f"{head.turns:,}" if head and head.turns is not None else ""
            words = [
                Part(name),
                Part(trusted(session.agent), StyleRole.QUIET),
                Part(trusted(turns)),
                Part(trusted(byte_size(session.size) if session.size else "")),
                Part(trusted(ago(self._now - session.modified)), StyleRole.QUIET),
            ]
            live = Part(trusted(f" {style.signs.live} " if session.is_live(self._now) else "   "), StyleRole.OK)
        widths = [_AGENT, _TURNS, _SIZE, _CHANGED] if width >= _WITH_ALL else [_AGENT, 0, 0, _CHANGED]
        room = max(1, width - 4 - sum(widths))
        parts = [live, padded(words[0], room, style), Part(trusted(" "))]
        for word, cells, right in zip(words[1:], widths, (False, True, True, False), strict=True):
            if cells:
                parts.append(padded(word, cells - 1, style, right=right))
                parts.append(Part(trusted(" ")))
        return tuple(parts)

    def _title(self, width: int) -> list[Line]:
        count = sum(isinstance(each, Session) for each in self._rows)
        words = Part(trusted(f"{count:,} session{'' if count == 1 else 's'} "), StyleRole.QUIET)
        name = Part(trusted("sessions on this machine"), StyleRole.TITLE)
        return [spread((Part(trusted(" ")), name), (words,), width)]

    @property
    def _list(self) -> LineList:
        return self.query_one(LineList)
