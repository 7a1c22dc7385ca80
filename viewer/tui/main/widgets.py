"""Widgets of the main screen, by name."""

from __future__ import annotations

from collections.abc import Sequence

from textual.containers import Horizontal
from textual.widget import Widget

from viewer.render.style import Style
from viewer.tui.bars.footer import KeyFooter
from viewer.tui.bars.problem_line import ProblemLine
from viewer.tui.bars.prompt import Prompt
from viewer.tui.bars.status import StatusLine
from viewer.tui.bars.title import TitleBar
from viewer.tui.bars.toggles import Toggles
from viewer.tui.keys import Action, by_id
from viewer.tui.main.view import Panel
from viewer.tui.panes.calls import Calls
from viewer.tui.panes.inspector import Inspector
from viewer.tui.panes.outline import Outline
from viewer.tui.panes.problems import Problems
from viewer.tui.panes.strip_widget import MessageStrip
from viewer.tui.terminal.paint import Painter
from viewer.tui.transcript.transcript import Transcript


class Widgets:
    """Created once for a screen."""

    def __init__(self, painter: Painter, printing: Style, actions: Sequence[Action]) -> None:
        hint = f"{by_id('next_tab', actions).shown_key}: next  {by_id('clear', actions).shown_key}: close"
        self.title = TitleBar(painter, printing)
        self.toggles = Toggles(painter, printing)
        self.outline = Outline(painter, printing, id="outline")
        self.transcript = Transcript(painter, printing.signs, id="transcript")
        self.analysis = Transcript(painter, printing.signs, id="pane-analysis")
        self.commentary = Transcript(painter, printing.signs, id="pane-commentary")
        self.inspector = Inspector(painter, printing, hint=hint, id="inspector")
        self.problems = Problems(painter, printing, id="problems")
        self.calls = Calls(painter, printing, id="calls")
        self.strip = MessageStrip(painter, printing, titled=True, id="strip")
        self.prompt = Prompt()
        self.problem_line = ProblemLine(painter, printing, id="problem-line")
        self.status = StatusLine(painter, printing)
        self.footer = KeyFooter(painter, printing, actions=actions)
        self.sides = [self.analysis, self.commentary]
        """The panes for reasoning and commentary."""
        self.panels: dict[Panel, Widget] = {
            Panel.OUTLINE: self.outline,
            Panel.INSPECTOR: self.inspector,
            Panel.PROBLEMS: self.problems,
            Panel.CALLS: self.calls,
        }

    def lines(self) -> list[Widget]:
        """The children of the screen, from top to bottom."""
        columns = Horizontal(self.outline, self.transcript, *self.sides, self.inspector, id="panes")
        lists: list[Widget] = [self.problems, self.calls, self.strip]
        bottom: list[Widget] = [self.prompt, self.problem_line, self.status, self.footer]
        return [self.title, self.toggles, columns, *lists, *bottom]
