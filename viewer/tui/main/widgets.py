"""The widgets of the main screen, created once and accessed by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.containers import Vertical
from textual.widget import Widget

from viewer.render.style import Style, trusted
from viewer.tui.bars.completion import CompletionBox
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.title import TitleBar
from viewer.tui.bottom.pane import BottomPane
from viewer.tui.keys import Action, by_id
from viewer.tui.offer import Offer
from viewer.tui.panes.frame import Frame
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.panel import Panel
from viewer.tui.panes.plain_lines import Columns
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript


class Widgets:
    """All widgets of one main screen."""

    def __init__(
        self, painter: Painter, printing: Style, actions: Sequence[Action], has_back: Callable[[], bool]
    ) -> None:
        """`has_back` returns True if leaving the transcript returns to the file list or the merged view."""
        keys = [f"{by_id(id, actions).shown_key} {word}" for id, word in (("open", "Go"), ("help", "Explain"))]
        self.title = TitleBar(painter, printing)
        self.outline = Outline(painter, printing, id="outline")
        self.transcript = Transcript(painter, printing.signs, id="transcript")
        self.behind = Transcript(painter, printing.signs, id="behind")
        """The side pane, with the thoughts and calls."""
        self.inspector = Inspector(painter, printing, id="inspector")
        self.bottom = BottomPane(painter, printing, problem_keys="  ".join(keys), id="bottom")
        self.conversation = Frame(Panel.TRANSCRIPT, printing, self.transcript, id="conversation")
        self.side = Frame(Panel.SIDE, printing, self.behind, id="side")
        filter_keys = f"{by_id('filter', actions).shown_key} edit · {by_id('clear', actions).shown_key} clear"
        self.status = StatusLine(painter, printing, filter_keys=filter_keys)
        self.prompt = Prompt(self.status.show_search, printing)
        self.completion = CompletionBox(painter, printing)
        self.footer = KeyFooter(painter, printing, actions=actions, has_back=has_back)
        self.frames: dict[Panel, Frame] = {
            Panel.OUTLINE: self.outline,
            Panel.TRANSCRIPT: self.conversation,
            Panel.INSPECTOR: self.inspector,
            Panel.BOTTOM: self.bottom,
            Panel.SIDE: self.side,
        }
        self.columns = Columns(self.conversation, id="panes")
        self.side.caption(trusted("Behind it"), trusted(f"thoughts {printing.signs.dot} calls"))
        for panel, frame in self.frames.items():
            frame.display = panel is Panel.TRANSCRIPT

    def lines(self) -> list[Widget]:
        """Return the screen's children, from top to bottom, without the panes that are closed at first."""
        row = Vertical(self.prompt, self.status, id="status-row")
        return [self.title, self.columns, row, self.footer, self.completion]

    def prepare(self, panel: Panel) -> None:
        """Mount a pane. This happens when it is first opened, or earlier, in an idle moment."""
        frame = self.frames[panel]
        if frame.is_attached or not self.conversation.is_attached:
            return
        if panel is Panel.BOTTOM:
            self.columns.screen.mount(frame, after=self.columns)
        elif panel is Panel.OUTLINE:
            self.columns.mount(frame, before=self.conversation)
        else:
            self.columns.mount(frame, after=self.conversation if panel is Panel.SIDE else None)

    def prepare_next(self) -> bool:
        """Mount the next closed pane, or else the prompt. Return False if all are mounted, or the screen is closing."""
        if not self.conversation.is_attached:
            return False
        panel = next((panel for panel, frame in self.frames.items() if not frame.is_attached), None)
        if panel is None:
            return self.prompt.prepare()
        self.prepare(panel)
        return True

    def show_offers(self, offers: Sequence[Offer]) -> None:
        """Show completions of the prompt. Keep the row under the cursor visible: completions may refer to it."""
        top, lines = self.transcript.region.y, self.transcript.lines_of_cursor
        self.completion.show(offers, range(top + lines.start, top + lines.stop))

    def list_of(self, panel: Panel) -> LineList | None:
        """Return the list of a pane, or None for a pane without a list."""
        lists = {Panel.OUTLINE: self.outline.list, Panel.INSPECTOR: self.inspector.list, Panel.BOTTOM: self.bottom.list}
        return lists.get(panel)

    def target_of(self, panel: Panel) -> Widget:
        """Return the widget that gets the focus when its pane does."""
        return self.list_of(panel) or (self.behind if panel is Panel.SIDE else self.transcript)
