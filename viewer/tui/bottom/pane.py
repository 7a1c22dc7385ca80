"""Bottom pane: tabs for problems, calls, and the timeline."""

from __future__ import annotations

from textual import events
from textual.app import ComposeResult
from textual.message import Message

from viewer.render.style import Part, Style, StyleRole, trusted
from viewer.tui.bottom.calls import Calls
from viewer.tui.bottom.problems import Problems
from viewer.tui.bottom.timeline import Timeline
from viewer.tui.panes.frame import Frame
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.terminal.paint import Painter

ROOMY = 100
"""The minimum width at which counts appear at the right end of the border."""


class BottomPane(Frame):
    """The bottom pane, which shows one tab at a time. The safe view has no calls tab."""

    class TabOpened(Message):
        """A click opened this tab."""

        def __init__(self, tab: BottomTab) -> None:
            super().__init__()
            self.tab = tab

    def __init__(self, painter: Painter, style: Style, *, problem_keys: str, id: str | None = None) -> None:
        super().__init__(Panel.BOTTOM, style, id=id)
        self.problems = Problems(painter, style, keys=problem_keys, id="problems")
        self.calls = Calls(painter, style, id="calls")
        self.timeline = Timeline(painter, style, id="timeline")
        self.tab = BottomTab.PROBLEMS
        self._has_calls = False

    def compose(self) -> ComposeResult:
        """Yield the contents of the tabs."""
        yield self.problems
        yield self.calls
        yield self.timeline

    def open_tab(self, tab: BottomTab, *, has_calls: bool) -> None:
        """Show a tab. Pass `has_calls` if the view has a calls tab."""
        self.tab, self._has_calls = tab, has_calls
        for each, content in self._contents.items():
            content.display = each is tab
        self.draw_tabs()

    @property
    def tabs(self) -> list[BottomTab]:
        """The tabs of the view."""
        return [tab for tab in BottomTab if self._has_calls or tab is not BottomTab.CALLS]

    @property
    def list(self) -> LineList:
        """The list in the current tab."""
        return self._contents[self.tab].list

    def draw_tabs(self) -> None:
        """Draw the tabs, and the counts of the current tab, in the border."""
        title: list[Part] = []
        for tab in self.tabs:
            look = StyleRole.STRONG if tab is self.tab else StyleRole.QUIET
            bar = " | " if self.printing.ascii else " │ "
            title += [Part(trusted(bar if title else "")), Part(trusted(self._label(tab)), look)]
        content = self._contents[self.tab]
        below = self.timeline.summary if self.tab is BottomTab.TIMELINE else trusted("")
        counts = content.counts
        if self.whole_width < ROOMY and self.tab is not BottomTab.TIMELINE:
            rows, row = self.list.count, self.list.cursor
            counts, below = trusted(""), trusted(f"{row + 1:,} of {rows:,}" if rows and row >= 0 else f"{rows:,}")
        self.caption(tuple(title), counts, below)

    def mark_focus(self, has_focus: bool) -> None:
        """While the pane has the focus, open the problem under the cursor, and let only the operator move the
        cursor."""
        super().mark_focus(has_focus)
        self.problems.open_details(has_focus)
        self.calls.follow_focus(not has_focus)
        self.timeline.follow_focus(not has_focus)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self.draw_tabs()

    def on_timeline_rescaled(self, event: Timeline.Rescaled) -> None:
        event.stop()
        self.draw_tabs()

    def on_click(self, event: events.Click) -> None:
        """Open the clicked tab."""
        if event.screen_y != self.region.y:
            return
        at = 5 + self.has_focus_mark
        for tab in self.tabs:
            if at <= event.screen_x - self.region.x < at + len(self._label(tab)):
                self.post_message(self.TabOpened(tab))
            at += len(self._label(tab)) + 3

    def _label(self, tab: BottomTab) -> str:
        total = {BottomTab.PROBLEMS: self.problems.total, BottomTab.CALLS: self.calls.total}.get(tab)
        return tab.value if total is None else f"{tab.value} {total:,}"

    @property
    def _contents(self) -> dict[BottomTab, Problems | Calls | Timeline]:
        return {
            BottomTab.PROBLEMS: self.problems,
            BottomTab.CALLS: self.calls,
            BottomTab.TIMELINE: self.timeline,
        }
