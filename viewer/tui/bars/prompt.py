"""Prompt line for `/`, `&`, `:`, and `x`. While it is open, it replaces the status row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from viewer.render.sanitize import sanitize, sanitize_line
from viewer.render.style import Style
from viewer.tui.host import PromptKind

HINTS = {
    PromptKind.SEARCH: "text, or //regex · enter find · ↑ history · esc cancel",
    PromptKind.FILTER: "tab complete · enter apply · ↑ history · esc cancel",
    PromptKind.COMMAND: "tab complete · enter run · esc cancel",
    PromptKind.EXPORT: "↑ ↓ format · enter export · esc cancel",
    PromptKind.LIST: "enter find in this list · esc cancel",
    PromptKind.ROWS: "words in a title or name · enter apply · esc cancel",
}
"""The key hints for each kind of prompt."""
_RECALLS = " · ↑ history"
"""The part of a hint that a count replaces."""
MOST_REMEMBERED = 50
"""How many earlier inputs of each kind the arrow keys can recall."""


class SafeInput(Input, can_focus=False):
    """Input that sanitizes the text on the screen character by character, because pasted text is untrusted.
    It accepts the focus only while the prompt is open. Otherwise, keys would be typed into a hidden input."""

    def put(self, text: str) -> None:
        """Replace the text and move the cursor to its end."""
        self.value = text
        self.cursor_position = len(text)

    def set_focusable(self, can_focus: bool) -> None:
        """Set whether the input can receive the focus."""
        self.can_focus = can_focus

    @property
    def _value(self) -> Text:
        shown = sanitize(self.value).replace("\n", "␊").replace("\t", "␉")
        return Text(shown, no_wrap=True, overflow="ignore", end="")


class Prompt(Horizontal):
    """The prompt line: closed (class `-closed`) or asking for input (`-asking`). While it is closed, it may pass a
    search to the status row: see `rest`."""

    DEFAULT_CSS = """
    Prompt { height: 1; width: 1fr; }
    Prompt.-closed { display: none; }
    Prompt > #prompt-sign { width: auto; padding: 0 0 0 1; text-style: bold; }
    Prompt > #prompt-note { width: auto; padding: 0 1 0 2; }
    Prompt > SafeInput { width: 1fr; min-width: 12; height: 1; border: none; padding: 0; background: transparent; }
    Prompt > SafeInput:focus { border: none; background-tint: transparent 0%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
        Binding("tab", "complete", show=False, priority=True),
    ]

    class Submitted(Message):
        """The operator pressed enter to submit the text."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Changed(Message):
        """The operator edited the text. `ask` posts this only for an empty filter, not for any other initial text."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class CompletionWanted(Message):
        """The operator asked for a completion."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Cancelled(Message):
        """The operator pressed escape to cancel."""

        def __init__(self, kind: PromptKind) -> None:
            super().__init__()
            self.kind = kind

    def __init__(
        self,
        rest: Callable[[str, str], None] | None = None,
        printing: Style | None = None,
        *,
        id: str | None = "prompt",
    ) -> None:
        super().__init__(id=id, classes="-closed")
        self._printing = printing or Style()
        self.kind = PromptKind.SEARCH
        self._show_rest = rest or (lambda text, note: None)
        self._resting = ""
        """The search or filter to show while the prompt is closed, with its sign."""
        self._remembered: dict[PromptKind, list[str]] = {kind: [] for kind in PromptKind}
        self._begun = ""
        """The initial text, to which the down key returns."""
        self._place = 0
        self._sign = Static(Content(""), id="prompt-sign", markup=False)
        self._input = SafeInput(compact=True, select_on_focus=False)
        self._note = Static(Content(""), id="prompt-note", markup=False)
        self._hint = self._count = self._label = ""
        self._is_ring = False
        """True if the up and down keys wrap around."""

    def prepare(self) -> bool:
        """Mount the sign, the input, and the hint. Return False if they are already mounted, or if the prompt is not.
        This is deferred to the first question or an idle moment, because mounting an input is slow."""
        if self._sign.is_attached or not self.is_attached:
            return False
        self.mount(self._sign, self._input, self._note)
        return True

    @property
    def is_asking(self) -> bool:
        """True if typed keys go to the prompt."""
        return self.has_class("-asking")

    def ask(self, kind: PromptKind, text: str = "", offers: Sequence[str] | None = None, *, label: str = "") -> None:
        """Show the prompt with this initial text, after a label that cannot be edited. The up key recalls earlier
        entries. If there are `offers`, the up and down keys cycle through them."""
        self._label = label
        self.prepare()
        self._become("-asking", kind)
        self._is_ring = bool(offers)
        if offers is not None:
            self._remembered[kind] = list(reversed(offers))
        self._begun = text
        self._place = len(self._remembered[kind])
        self.remove_class("-fault")
        with self.prevent(Input.Changed):
            self._put(text)
        self.hint(HINTS[kind])
        self._make_room()
        self._input.focus()
        if kind is PromptKind.FILTER and not text:
            self.post_message(self.Changed(kind, text))  # offer values of the message under the cursor immediately

    def rest(self, kind: PromptKind, text: str, note: str = "") -> None:
        """Close the prompt and show a search or filter with a note such as `2 of 3`."""
        self._become("-closed", kind)
        self._resting = f"{kind.value}{text}"
        self.note(note)

    def take_key(self, event: events.Key) -> bool:
        """Handle a key that arrived before the input had the focus, or that the input ignores. Return True if it was
        handled."""
        if event.is_printable and event.character is not None:
            self._input.insert_text_at_cursor(event.character)
        elif event.key == "enter":
            self.call_later(self._input.action_submit)
        elif event.key == "escape":
            self.action_cancel()
        else:
            return False
        return True

    def note(self, words: str) -> None:
        """Show a note next to the search or filter that `rest` shows: `2 of 3`, `no matches`, `searching 41%`."""
        if self._resting:
            self._show_rest(self._resting, words)

    def hint(self, words: str) -> None:
        """Show a hint at the right edge of the open prompt."""
        self._hint, self._count = words, ""
        _show(self._note, self._printing.words(words))

    def count(self, typed: str, words: str) -> None:
        """Show a count for this text next to the hint, if the prompt still contains the text."""
        if self.is_asking and typed == self._input.value and not self.has_class("-fault"):
            self._count = words
            self._make_room()

    def _make_room(self) -> None:
        """Shorten or hide the hint if the text needs its space, but never hide a fault. The hints for the accept and
        cancel keys are dropped last."""
        room = self.app.size.width - len(self._label + self.kind.value) - len(self._input.value) - 5
        parts = (self._hint.replace(_RECALLS, "") if self._count else self._hint).split(" · ")
        hints = [" · ".join(parts[at:]) for at in range(len(parts))]
        if self._count:
            hints = [*(f"{self._count} · {each}" for each in hints), self._count]
        fitting = hints[:1] if self.has_class("-fault") else [each for each in hints if len(each) <= room]
        self._note.display = bool(fitting)
        if fitting:
            _show(self._note, self._printing.words(fitting[0]))

    def _show_fault(self, text: str, *, is_complete: bool) -> bool:
        """Show what is wrong with the typed search or filter in place of the hint. Return True if anything is wrong."""
        fault = ""
        if self.kind in (PromptKind.SEARCH, PromptKind.FILTER):
            from viewer.tui.search import faults  # the first page needs no searches

            is_search = self.kind is PromptKind.SEARCH
            fault = faults.fault_of_search(text) if is_search else faults.fault_of_filter(text, is_complete=is_complete)
        if fault or self._count or self._hint != HINTS[self.kind]:
            self.hint(fault or HINTS[self.kind])
        self.set_class(bool(fault), "-fault")
        return bool(fault)

    def close(self) -> None:
        """Hide the prompt, and drop its text and the search that the status row shows."""
        self._hide()
        if self._resting:
            self._resting = ""
            self._show_rest("", "")

    def _hide(self) -> None:
        self._become("-closed", self.kind)
        with self.prevent(Input.Changed):
            self._put("")

    def forget(self) -> None:
        """Forget earlier inputs: searches, filters, and commands may quote hidden text."""
        for earlier in self._remembered.values():
            earlier.clear()
        self._place = 0

    def action_cancel(self) -> None:
        """Hide the prompt and post `Cancelled`."""
        self._hide()
        self.post_message(self.Cancelled(self.kind))

    def action_complete(self) -> None:
        """Ask for a completion."""
        self.post_message(self.CompletionWanted(self.kind, self._input.value))

    def complete(self, text: str) -> None:
        """Replace the typed text with its completion."""
        if self.is_asking:
            self._put(text)

    def action_recall(self, step: int) -> None:
        """Recall the previous or next input of this kind."""
        earlier = self._remembered[self.kind]
        self._place += step
        last = len(earlier)
        self._place = self._place % (last + 1) if self._is_ring else max(0, min(self._place, last))
        self._put(earlier[self._place] if self._place < len(earlier) else self._begun)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_asking:
            self._show_fault(event.value, is_complete=False)
            self._make_room()
            self.post_message(self.Changed(self.kind, event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self._show_fault(event.value, is_complete=True):
            self._make_room()
            return
        text, earlier = event.value, self._remembered[self.kind]
        if text:
            earlier[:] = [*(other for other in earlier if other != text), text][-MOST_REMEMBERED:]
        self._hide()
        self.post_message(self.Submitted(self.kind, text))

    def _put(self, text: str) -> None:
        self._input.put(text)

    def _become(self, state: str, kind: PromptKind) -> None:
        self.kind = kind
        for other in ("-closed", "-asking"):
            self.set_class(other == state, other)
        self._input.set_focusable(state == "-asking")
        _show(self._sign, self._label + kind.value if state == "-asking" else kind.value)


def _show(label: Static, words: str) -> None:
    label.update(Content(sanitize_line(words)))
