"""Pane controller: owns the open panes, their focus, tabs, and sizes, and decides which are visible."""

from __future__ import annotations

import asyncio
from functools import partial

from msgspec.structs import replace

from viewer.document.values import ShownDiagnostic
from viewer.rules import RULES
from viewer.tui.host import Host
from viewer.tui.main.navigator import Navigator
from viewer.tui.main.stick_to_end import StickToEnd
from viewer.tui.panes.inspector_lines import Tab
from viewer.tui.panes.panel import BottomTab, Panel
from viewer.tui.session import Changed, Session
from viewer.tui.settings.settings import Settings

TINY_WIDTH, TINY_HEIGHT = 40, 10
"""The minimum width and height of a terminal in which a pane does not cover the whole screen."""
ROOMY, WIDE = 100, 140
"""The minimum widths for panes next to the transcript, and for three columns."""
LEAST_TRANSCRIPT = 60
"""The minimum width of the transcript."""
INSPECTOR_WIDTH = 40
LEAST_SHEET, SHEET_ROWS = 6, 9
"""The minimum and maximum heights of a pane below the transcript on a narrow screen. The minimum applies only if three
rows of the transcript remain visible."""
BOTTOM_ROWS = (6, 12)
"""The minimum and maximum heights of the bottom pane. In between, its height is `BOTTOM_SHARE` of the screen."""
BOTTOM_SHARE = 0.3
LAYOUT_LOOKS = 100
"""How many times to check whether the transcript has reached the size expected from the next layout."""
BARS = 3
"""The number of rows of the title, the status row, and the footer together."""


class PaneController:
    """Owns the open panes, the focus, and the tabs."""

    def __init__(
        self, session: Session, host: Host, settings: Settings, navigator: Navigator, stick: StickToEnd
    ) -> None:
        self.focused = Panel.TRANSCRIPT
        self.tab = BottomTab.PROBLEMS
        self.inspector_tab = Tab.HEADER
        self.sizes: dict[Panel, int] = {}
        """The widths of the outline and inspector, and the height of the bottom pane, as chosen by the operator."""
        self._opened: list[Panel] = []
        """The panes that the operator opened, most recent last."""
        self._by_layout: tuple[Panel, ...] = ()
        """The panes that the layout opens if there is room."""
        self._session = session
        self._host = host
        self._settings = settings
        self._navigator = navigator
        self._stick = stick
        self._size = (0, 0)
        """The screen size for which the panes were arranged."""
        self._held_line: int | None = None
        """The screen line of the focused message before a resize."""

    # The visible panes.

    @property
    def open_panes(self) -> list[Panel]:
        """The panes that `tab` cycles through, ordered by their numbers."""
        width = self._host.size[0]
        least = {Panel.OUTLINE: ROOMY, Panel.INSPECTOR: WIDE, Panel.BOTTOM: ROOMY}
        found = {Panel.TRANSCRIPT, *self._opened}
        found |= {pane for pane in self._by_layout if width >= least[pane]}
        if self._session.display.side_panes and width >= ROOMY:
            found = (found | {Panel.SIDE}) - {Panel.OUTLINE, Panel.INSPECTOR}
        return sorted(found, key=lambda pane: pane.value)

    @property
    def visible(self) -> frozenset[Panel]:
        """Return the visible panes: only one on a tiny screen, at most two on a narrow one, and otherwise as many as
        leave room for the transcript."""
        width, height = self._host.size
        panes = {*self.open_panes}
        if width < TINY_WIDTH or height < TINY_HEIGHT or (width < ROOMY and self.focused is Panel.OUTLINE):
            return frozenset({self.focused if self.focused in panes else Panel.TRANSCRIPT})
        if width < ROOMY:
            sheets = [pane for pane in self._opened if pane in (Panel.INSPECTOR, Panel.BOTTOM)]
            if self.focused in sheets:
                sheets.append(self.focused)
            return frozenset({Panel.TRANSCRIPT, *sheets[-1:]})
        needed = LEAST_TRANSCRIPT + self.width_of(Panel.OUTLINE) + self.width_of(Panel.INSPECTOR)
        if {Panel.OUTLINE, Panel.INSPECTOR} <= panes and width < needed:
            keeps_outline = self.focused is Panel.OUTLINE or self._opened[-1:] == [Panel.OUTLINE]
            panes -= {Panel.INSPECTOR if keeps_outline else Panel.OUTLINE}
        return frozenset(panes)

    @property
    def is_roomy(self) -> bool:
        """True if panes fit next to the transcript."""
        return self._host.size[0] >= ROOMY

    def width_of(self, pane: Panel) -> int:
        """Return the width of the outline or inspector."""
        of_settings = self._settings.outline if pane is Panel.OUTLINE else self._settings.inspector
        outline = 32 if self._host.size[0] >= WIDE else 30
        return self.sizes.get(pane) or of_settings.size or (outline if pane is Panel.OUTLINE else INSPECTOR_WIDTH)

    @property
    def bottom_rows(self) -> int:
        """Return the height of the bottom pane or, on a narrow screen, of the pane below the transcript."""
        height = self._host.size[1]
        if not self.is_roomy:
            return max(3, min(SHEET_ROWS, max((height - 3) // 2, min(LEAST_SHEET, height - 6))))
        least, most = BOTTOM_ROWS
        own = self.sizes.get(Panel.BOTTOM) or self._settings.problems.size
        return own or max(min(max(least, round(BOTTOM_SHARE * height)), most, height // 2), 3)

    @property
    def has_border(self) -> bool:
        """True if the transcript has a border: in the debug view and next to other panes, if the screen is wide
        enough."""
        return self.is_roomy and (self._session.display.debug or self.visible != {Panel.TRANSCRIPT})

    @property
    def transcript_size(self) -> tuple[int, int] | None:
        """The width and height of the transcript in the next layout; None if only the layout determines it."""
        visible, (width, height) = self.visible, self._host.size
        if Panel.TRANSCRIPT not in visible or Panel.SIDE in visible:
            return None
        height -= BARS
        if self.is_roomy:
            width -= sum(self.width_of(pane) for pane in (Panel.OUTLINE, Panel.INSPECTOR) if pane in visible)
            height -= self.bottom_rows if Panel.BOTTOM in visible else 0
        elif visible != {Panel.TRANSCRIPT}:
            height -= self.bottom_rows
        edges = 2 if self.has_border else 0
        return width - edges, height - edges

    def resize(self, pane: Panel, size: int) -> None:
        """Set the size of a pane."""
        self.sizes[pane] = size

    # Layout.

    def arrange(self, *, debug: bool) -> None:
        """Choose the panes of the debug view, or of a safe view, without drawing them."""
        self._size, settings = self._host.size, self._settings
        chosen = {Panel.OUTLINE: settings.outline, Panel.INSPECTOR: settings.inspector, Panel.BOTTOM: settings.problems}
        self._by_layout = tuple(pane for pane, own in chosen.items() if own.is_open) if debug else ()
        self._opened = []
        self.focused = Panel.TRANSCRIPT
        if self.tab is BottomTab.CALLS and not debug:
            self.tab = BottomTab.PROBLEMS

    def fit(self, *, whole: bool = False) -> None:
        """Rebuild the blocks for the current width and keep the cursor's row visible. With `whole`, show the entire
        row, unless it begins above the screen."""
        with self._stick.kept():
            viewport = self._host.viewport
            begins_above = viewport.line_of_cursor is None
            self._host.redraw(Changed.WIDTH)
            if (whole and not begins_above) or viewport.cursor_row not in (None, *viewport.rows_on_screen):
                viewport.go_to_cursor(viewport.cursor)
            self._host.redraw(Changed.FOCUS)

    def fit_if_changed(self) -> None:
        """Rebuild the blocks if the layout gave a pane a size other than the one they were built for."""
        if not self._host.is_fitted:
            self.fit()

    def note_size(self) -> bool:
        """Before a resize, remember the screen line of the focused message. Return False if the panes are already
        arranged for this size: at the start, Textual reports the size twice."""
        before, self._size = self._size, self._host.size
        if before == self._size:
            return False
        if self._held_line is None:
            self._held_line = self._host.viewport.line_of_cursor
        return True

    def fit_to_size(self) -> None:
        """Rebuild the blocks for the new size after a resize and keep the cursor's row on the screen."""
        above, self._held_line = self._held_line, None
        self.fit()
        if above is not None:
            viewport = self._host.viewport
            viewport.go_to_cursor(self._navigator.cursor, above=min(above, viewport.view_height // 2))
            self._host.redraw(Changed.FOCUS)

    def _draw(self, *, whole: bool = False) -> None:
        if self.focused not in self.open_panes:
            self.focused = Panel.TRANSCRIPT
        self._host.redraw(Changed.LAYOUT | Changed.LISTS | Changed.KEYS)
        self.fit(whole=whole)
        self.fit_after_layout()

    def fit_after_layout(self) -> None:
        """Check the size of the transcript after the next layout. It is usually the expected size."""
        self._host.call_after_refresh(partial(self._wait_for_layout, LAYOUT_LOOKS))

    def _wait_for_layout(self, looks: int) -> None:
        """Check again while the size is about to change. The panes request the layout, and Textual may run any number
        of callbacks before it, so let the panes handle their messages first. A pane that never reaches the expected
        size keeps its current one."""
        if looks and self._host.viewport.area.is_changing:
            again = partial(self._wait_for_layout, looks - 1)
            asyncio.get_running_loop().call_soon(self._host.call_after_refresh, again)
        else:
            self._check_size()

    def _check_size(self) -> None:
        self._host.viewport.area.expect(None)
        self.fit_if_changed()

    # Opening and closing.

    def toggle_outline(self) -> None:
        self._toggle(Panel.OUTLINE)

    def toggle_inspector(self) -> None:
        self._toggle(Panel.INSPECTOR)

    def toggle_problems(self) -> None:
        self._toggle_tab(BottomTab.PROBLEMS)

    def toggle_calls(self) -> None:
        self._toggle_tab(BottomTab.CALLS)

    def toggle_timeline(self) -> None:
        self._toggle_tab(BottomTab.TIMELINE)

    def _toggle_tab(self, tab: BottomTab) -> None:
        if self.tab is tab or Panel.BOTTOM not in self.visible:
            self.tab = tab
            self._toggle(Panel.BOTTOM)
        else:
            self.select_bottom_tab(tab)
            self.focus(Panel.BOTTOM)

    def _toggle(self, pane: Panel) -> None:
        """Open and focus a closed pane, focus an open one, or close the focused one."""
        if self.focused is pane:
            self.close(pane)
        else:
            self.open(pane)

    def open(self, pane: Panel) -> None:
        """Open a pane and focus it. Side panes close to make room for columns."""
        if pane in (Panel.OUTLINE, Panel.INSPECTOR) and self._session.display.side_panes:
            self._session_side(False)
        if pane not in self._by_layout or pane not in self.visible:
            self._opened = [*(each for each in self._opened if each is not pane), pane]
        self.focused = pane
        self._draw(whole=True)

    def close(self, pane: Panel) -> None:
        """Close a pane. If it had the focus, the transcript gets the focus."""
        self._opened = [each for each in self._opened if each is not pane]
        self._by_layout = tuple(each for each in self._by_layout if each is not pane)
        if self.focused is pane:
            self.focused = Panel.TRANSCRIPT
        self._draw()

    def close_opened(self) -> bool:
        """Close the focused pane, or the last one that the operator opened. Return True if there was one."""
        if self.focused is Panel.SIDE:
            self.toggle_side()
            return True
        pane = self.focused if self.focused is not Panel.TRANSCRIPT else next(reversed(self._opened), None)
        if pane is None:
            return False
        self.close(pane)
        return True

    def toggle_side(self) -> None:
        """Show reasoning in a pane next to the conversation, or inline again if that pane has the focus. Focus the pane
        if it is already open."""
        shown = self._session.display.side_panes
        if not self.is_roomy and not shown:
            self._host.notify(f"Side panes need {ROOMY} columns.")
        elif shown and self.focused is not Panel.SIDE:
            self.focus(Panel.SIDE)
        else:
            self._session_side(not shown)
            self.focused = Panel.TRANSCRIPT if shown else Panel.SIDE
            self._draw()

    def _session_side(self, shown: bool) -> None:
        with self._stick.kept():
            viewport = self._host.viewport
            above, cursor = viewport.line_of_cursor, self._navigator.cursor
            changed = self._session.apply(replace(self._session.display, side_panes=shown))
            self._host.redraw(changed)
            if cursor.is_set:
                viewport.go_to_cursor(self._navigator.cursor_in_view(cursor), above=above)

    # The focus.

    def focus(self, pane: Panel) -> None:
        """Focus an open pane."""
        before = self.visible
        self.focused = pane
        self._host.redraw(Changed.LAYOUT | Changed.KEYS)
        if self.visible != before:
            self._draw()

    def note_focus(self, pane: Panel) -> None:
        """Record that a click focused a pane."""
        if pane is not self.focused:
            self.focus(pane)

    def note_mounted(self, pane: Panel) -> None:
        """Give the focus to a pane that was opened before it was mounted."""
        if pane is self.focused and pane is not Panel.TRANSCRIPT:  # the transcript is mounted with the screen
            self._host.redraw(Changed.LAYOUT)

    def leave(self) -> bool:
        """Return to the transcript without closing the pane. Return False if the transcript already has the focus."""
        if self.focused is Panel.TRANSCRIPT:
            return False
        self.focus(Panel.TRANSCRIPT)
        return True

    def next_pane(self) -> None:
        self._cycle(1)

    def previous_pane(self) -> None:
        self._cycle(-1)

    def _cycle(self, step: int) -> None:
        """Cycle through the open panes. A count selects a pane by its number."""
        panes, count = self.open_panes, self._navigator.typed_count()
        if count is not None:
            wanted = next((pane for pane in panes if pane.value == count), None)
            if wanted is None:
                self._host.notify(f"Pane {count} is not open.")
            else:
                self.focus(wanted)
            return
        if len(panes) < 2:
            opens = " ".join(self._host.key_of(id) for id in ("outline", "problems", "timeline"))
            self._host.notify(f"No other pane is open. {opens} open one.")
            return
        self.focus(panes[(panes.index(self.focused) + step) % len(panes)])

    # Tabs.

    def next_tab(self) -> None:
        self._next_tab(1)

    def previous_tab(self) -> None:
        self._next_tab(-1)

    def _next_tab(self, step: int) -> None:
        visible = self.visible
        is_inspector = self.focused is Panel.INSPECTOR or (
            self.focused is not Panel.BOTTOM and Panel.BOTTOM not in visible and Panel.INSPECTOR in visible
        )
        if is_inspector:
            tabs = self._host.inspector_tabs
            here = tabs.index(self.inspector_tab) if self.inspector_tab in tabs else 0
            self.open_inspector_tab(tabs[(here + step) % len(tabs)] if tabs else Tab.HEADER)
        elif Panel.BOTTOM in visible:
            has_calls = self._session.display.debug
            shown = [tab for tab in BottomTab if has_calls or tab is not BottomTab.CALLS]
            self.select_bottom_tab(shown[(shown.index(self.tab) + step) % len(shown)])
        else:
            self._host.notify("No open pane has tabs.")

    def select_tab(self, tab: Tab) -> None:
        """Record the tab that a click opened."""
        self.inspector_tab = tab

    def select_bottom_tab(self, tab: BottomTab) -> None:
        """Show a tab of the bottom pane."""
        self.tab = tab
        self._host.redraw(Changed.LAYOUT | Changed.KEYS | Changed.LISTS)

    def open_inspector_tab(self, tab: Tab) -> None:
        """Show a tab of the inspector."""
        self.inspector_tab = tab
        self._host.redraw(Changed.TAB)

    def explain(self, problem: ShownDiagnostic) -> None:
        """Explain a problem in the inspector or, in the safe view, in a notice. Sections of the OpenChatML
        specification are cited only for OpenChatML files."""
        rule = RULES[problem.code]
        display, document = self._session.display, self._session.document
        if not display.debug:
            is_own = document.detection.format.startswith("openchatml")
            section = f" ({rule.section})" if is_own else ""
            more = "" if display.sealed or display.strict else f" {self._host.key_of('debug')} shows the details."
            self._host.notify(f"{problem.code}: {rule.safe}{section}{more}")
            return
        self.inspector_tab = Tab.PROBLEMS
        self.open(Panel.INSPECTOR)
        self._host.redraw(Changed.TAB)
