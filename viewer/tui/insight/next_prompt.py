"""Next-prompt screen: what each policy keeps, drops, and changes. Debug view only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content

from viewer.document.projection import Projection
from viewer.insight.chat_view import Refusal
from viewer.insight.history import History, is_assistant
from viewer.insight.next_prompt import POLICIES, REFUSALS, Policy
from viewer.insight.simulator import Simulator, simulator_before
from viewer.render.style import Line, Part, Style, StyleRole, trusted
from viewer.render.title import screen_title
from viewer.render.width import cells, cut
from viewer.tui.dialogs.dismiss_once import DismissOnce
from viewer.tui.insight.next_lines import Comparison
from viewer.tui.insight.pace import Pace
from viewer.tui.keys import ACTIONS, Action
from viewer.tui.panes.columns import spread
from viewer.tui.panes.head_line import HeadLine
from viewer.tui.panes.key_line import key_line
from viewer.tui.panes.line_list import LineList
from viewer.tui.panes.list_keys import add_list_keys
from viewer.tui.terminal.paint import Painter

WIDE = 100
"""The minimum width for the list of policies, and for two of them side by side."""
_ALL = tuple(POLICIES.values())
_PANES = ("first", "second")
_HEADS = ("title", "heads", "cache", *(f"{name}-head" for name in _PANES), "status", "keys")
_CLASSES = {"title": "-bar", "keys": "-bar"}
_FIRST, _OTHER = "harmony-0.0.8", "last-final"


class NextPromptScreen(DismissOnce[int | None]):
    """Next-prompt screen; returns the number of a message to go to, or None."""

    DEFAULT_CSS = """
    NextPromptScreen { layout: vertical; }
    NextPromptScreen LineList { height: 1fr; width: 1fr; scrollbar-size-vertical: 1; }
    NextPromptScreen #next-middle { height: 1fr; }
    NextPromptScreen Vertical { border-title-color: $foreground; }
    NextPromptScreen #next-left { width: 36; border: round $border; }
    NextPromptScreen #next-cache { height: 3; }
    NextPromptScreen .next-pane { width: 1fr; border: round $border; border-subtitle-align: right; }
    NextPromptScreen #next-first { border: heavy $primary; }
    NextPromptScreen.-narrow #next-first { border: none; }
    NextPromptScreen.-ascii Vertical { border: ascii $border; }
    NextPromptScreen.-ascii #next-first { border: ascii $primary; }
    NextPromptScreen.-ascii.-narrow #next-first { border: none; }
    NextPromptScreen .-gone { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left_square_bracket", "policy(-1)", show=False),
        Binding("right_square_bracket", "policy(1)", show=False),
        Binding("less_than_sign", "message(-1)", show=False),
        Binding("greater_than_sign", "message(1)", show=False),
        Binding("equals_sign", "columns", show=False),
        Binding("y", "copy", show=False),
        Binding("enter,l", "choose", show=False),
        Binding("escape", "back", show=False),
    ]

    def __init__(
        self,
        painter: Painter,
        printing: Style,
        projection: Projection,
        here: int,
        copy: Callable[[str], None],
        *,
        actions: Sequence[Action] = ACTIONS,
    ) -> None:
        """`projection` must show everything. `here` is the number of the message under the cursor."""
        super().__init__()
        add_list_keys(self._bindings, actions, "next_prompt")
        self._printing = printing
        self._projection = projection
        self._copy = copy
        self._here = here
        self._transcript = projection.transcript_number(here) if here else 1
        self._policy = list(POLICIES).index(_FIRST)
        self._other = list(POLICIES).index(_OTHER)
        self._is_double = False
        self._before: int | None = None
        """The message whose prompt is shown; None for the next prompt."""
        self._notice = ""
        self._comparison = self._compare(Simulator(History(projection, self._transcript)))
        self._heads = {name: HeadLine(painter, id=f"next-{name}", classes=_CLASSES.get(name)) for name in _HEADS}
        self._policies = LineList(painter, id="next-policies")
        self._left = Vertical(self._heads["heads"], self._policies, self._heads["cache"], id="next-left")
        self._rows = {name: LineList(painter, id=f"next-{name}-rows") for name in _PANES}
        self._panes = {
            name: Vertical(self._heads[f"{name}-head"], rows, id=f"next-{name}", classes="next-pane")
            for name, rows in self._rows.items()
        }

    def compose(self) -> ComposeResult:
        """Yield a title, the policies, one or two panes of messages, the cache, and the keys."""
        yield self._heads["title"]
        yield Horizontal(self._left, *self._panes.values(), id="next-middle")
        yield self._heads["status"]
        yield self._heads["keys"]

    def on_mount(self) -> None:
        self._draw(self._comparison.row_of(self._here))
        self._read()

    def on_resize(self, event: events.Resize) -> None:
        """Show as many panes as fit."""
        self._draw()

    def action_move(self, rows: int) -> None:
        """Move by this many messages."""
        last = self._comparison.count - 1
        row = max(0, min(self._rows["first"].cursor + rows, last))
        for name in ("first", "second"):
            self._rows[name].move_to(row)

    def action_page(self, pages: int) -> None:
        """Move by a page."""
        self.action_move(pages * max(1, self._rows["first"].size.height - 1))

    def action_policy(self, step: int) -> None:
        """Choose the next or previous policy. The second pane then shows the policy that was chosen before."""
        self._other, self._policy = self._policy, (self._policy + step) % len(_ALL)
        self._draw()

    def action_message(self, step: int) -> None:
        """Show the prompt that produced the previous or next message of the model."""
        history = History(self._projection, self._transcript)
        numbers = history.all_of(is_assistant)
        if step < 0:
            found = next((each for each in reversed(numbers) if self._before is None or each < self._before), None)
            if found is None:
                self._say("There is no earlier message from the model.")
                return
        elif self._before is None:
            self._say("This is the next prompt.")
            return
        else:
            found = next((each for each in numbers if self._before is not None and each > self._before), None)
        self._before = found
        simulator = Simulator(history) if found is None else simulator_before(self._projection, found)
        assert simulator is not None
        self._comparison = self._compare(simulator)
        self._draw(self._comparison.count - 1)
        self._read()

    def action_columns(self) -> None:
        """Show one policy, or two side by side."""
        if self.size.width < WIDE:
            self._say(f"Side by side needs a terminal at least {WIDE} columns wide.")
            return
        self._is_double = not self._is_double
        self._draw()

    def action_copy(self) -> None:
        """Copy the prompt of the chosen policy."""
        try:
            text = "".join(part.text for part in self._comparison.simulator.parts(self._chosen))
        except Refusal as refusal:
            self._say(f"{self._chosen.name} refuses #{refusal.number}: {REFUSALS[refusal.reason]}.")
            return
        self._copy(text)
        self._say(f"Copied the prompt of {self._chosen.name} (DEBUG, {len(text):,} characters).")

    def action_choose(self) -> None:
        """Go to the message under the cursor."""
        self.dismiss(self._comparison.number(self._rows["first"].cursor) or None)

    def action_back(self) -> None:
        """Return to the transcript."""
        self.dismiss(None)

    @on(LineList.Chosen)
    def _clicked(self, event: LineList.Chosen) -> None:
        event.stop()
        if event.list.id == "next-policies":
            self.action_policy(event.row - self._policy)
        else:
            self.action_move(event.row - self._rows["first"].cursor)

    @property
    def _chosen(self) -> Policy:
        return _ALL[self._policy]

    def _compare(self, simulator: Simulator) -> Comparison:
        return Comparison(self._projection, simulator, self._printing)

    def _read(self) -> None:
        """Read the bodies in the background. Starting another read or closing the screen cancels this one."""
        self.run_worker(self._read_on(self._comparison), name="next prompt", exclusive=True, exit_on_error=True)

    async def _read_on(self, comparison: Comparison) -> None:
        comparison.take(await Pace().finish(comparison.simulator.steps(_ALL)))
        if comparison is self._comparison:
            self._draw()

    def _say(self, sentence: str) -> None:
        self._notice = sentence
        self._heads["status"].refresh()

    def on_key(self) -> None:
        """Clear the notice when a key is pressed."""
        if self._notice:
            self._say("")

    def _draw(self, cursor: int | None = None) -> None:
        """Draw everything. Without `cursor`, the cursor does not move."""
        is_wide = self.size.width >= WIDE
        is_double = is_wide and self._is_double
        comparison = self._comparison
        row = self._rows["first"].cursor if cursor is None else cursor
        self.set_class(not is_wide, "-narrow")
        self.set_class(self._printing.ascii, "-ascii")
        self._left.set_class(not is_wide, "-gone")
        self._panes["second"].set_class(not is_double, "-gone")
        self._heads["first-head"].set_class(not is_wide, "-gone")
        self._heads["title"].show(self._title)
        self._left.border_title = Content("Policies")
        self._heads["heads"].show(_heads)
        lines = self._cache_lines()
        self._heads["cache"].show(lambda width: [_text(f" {line}") for line in lines])
        self._heads["status"].show(lambda width: [self._status(lines, width)])
        self._heads["keys"].show(lambda width: [_keys(is_wide=is_wide, is_double=is_double)])
        self._policies.show(
            len(_ALL),
            lambda row, width: comparison.policy_line(_ALL[row], width, is_chosen=row == self._policy),
            self._policy,
        )
        for name, place in (("first", self._policy), ("second", self._other)):
            policy = _ALL[place]
            pane = self._panes[name]
            mark = (">" if self._printing.ascii else "▸") if name == "first" else ""
            pane.border_title = Content(f"{mark}{policy.name} {place + 1}/{len(_ALL)}") if is_wide else None
            pane.border_subtitle = Content(self._size_words(policy)) if is_wide else None
            self._heads[f"{name}-head"].show(partial(self._pane_head, policy))
            self._rows[name].show(comparison.count, partial(comparison.line, policy), row)

    def _title(self, width: int) -> list[Line]:
        after = self._comparison.simulator.after
        if self._before is None:
            lead = f"Next prompt after #{after}" if after else "Next prompt"
        else:
            lead = f"Prompt before #{self._before}"
        if width >= WIDE:
            words, right = f" · {self._comparison.summary()}", ""
        else:
            words = f" · {self._size_words(self._chosen).replace(' bytes', ' B')}"
            right = f"policy {self._policy + 1}/{len(_ALL)} {self._chosen.name}"
        left = Part(trusted(lead), StyleRole.TITLE), Part(self._printing.words(words), StyleRole.QUIET)
        return [screen_title(left, right, "debug", width, self._printing)]

    def _size_words(self, policy: Policy) -> str:
        """Return how many messages a policy keeps, and the size of its prompt."""
        size = self._comparison.size(policy)
        return self._comparison.kept(policy).replace("/", " of ") + (f", {size} bytes" if size else "")

    def _pane_head(self, policy: Policy, width: int) -> list[Line]:
        words = cut(self._printing.words(policy.wording), max(width - 2, 0), trusted(self._printing.signs.ellipsis))
        return [_text(f" {words}", StyleRole.QUIET)]

    def _cache_lines(self) -> list[str]:
        lines = self._comparison.cache_lines(self._chosen)
        difference = self._comparison.difference(self._chosen, _ALL[self._other])
        return [*lines, *([difference] if difference else [])]

    def _status(self, lines: list[str], width: int) -> Line:
        if self._notice:
            return _text(f" {self._notice}", StyleRole.INFO)
        if width >= WIDE:
            return _text(f" {self._chosen.source}, read {self._chosen.date}", StyleRole.QUIET)
        words = ""
        for line in lines:  # as many as fit
            more = f"{words} · {line}" if words else line
            if words and cells(self._printing.words(more)) > width - 2:
                break
            words = more
        shown = cut(self._printing.words(words), max(width - 2, 0), trusted(self._printing.signs.ellipsis))
        return _text(f" {shown}", StyleRole.QUIET)


def _heads(width: int) -> list[Line]:
    return [spread(_text("  policy", StyleRole.QUIET), _text("kept   bytes ", StyleRole.QUIET), width)]


def _text(words: str, look: StyleRole = StyleRole.PLAIN) -> Line:
    return (Part(trusted(words), look),)


def _keys(*, is_wide: bool, is_double: bool) -> Line:
    keys = [("[ ]", "Policy"), ("< >", "Message"), ("enter", "Go"), ("y", "Copy prompt")]
    keys += [("=", "One column" if is_double else "Two columns")] if is_wide else []
    return key_line([*keys, ("esc", "Back")])
