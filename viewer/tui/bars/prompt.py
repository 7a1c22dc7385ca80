"""The one-line prompt at the bottom for `/`, `&`, `:`, `x`; between two questions it keeps the last search in view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from viewer.render.sanitize import sanitize, sanitize_line
from viewer.tui.host import PromptKind

MOST_REMEMBERED = 50
"""Texts of each kind that ↑ and ↓ bring back, until the program ends."""


class SafeInput(Input, can_focus=False):
    """Shows every character in its safe form, one for one: what was pasted is not to be trusted.

    It can have the focus only while the prompt asks; otherwise keys would be typed where nobody sees them.
    """

    def put(self, text: str) -> None:
        """Replace the text; the cursor moves to its end."""
        self.value = text
        self.cursor_position = len(text)

    def set_focusable(self, can_focus: bool) -> None:
        """Allow the focus, or refuse it."""
        self.can_focus = can_focus

    @property
    def _value(self) -> Text:
        shown = sanitize(self.value).replace("\n", "␊").replace("\t", "␉")
        return Text(shown, no_wrap=True, overflow="ignore", end="")


class Prompt(Horizontal):
    """Hidden (class `-closed`), asking (`-asking`), or showing what was asked last (`-resting`)."""

    DEFAULT_CSS = """
    Prompt { height: 1; width: 1fr; }
    Prompt.-closed { display: none; }
    Prompt > #prompt-sign { width: auto; padding: 0 0 0 1; text-style: bold; }
    Prompt > #prompt-rest { width: auto; max-width: 80%; height: 1; text-wrap: nowrap; }
    Prompt > #prompt-note { width: auto; padding: 0 1 0 2; }
    Prompt > SafeInput { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
    Prompt > SafeInput:focus { border: none; background-tint: transparent 0%; }
    Prompt.-resting > SafeInput { display: none; }
    Prompt.-asking > #prompt-rest { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", show=False),
        Binding("up", "recall(-1)", show=False),
        Binding("down", "recall(1)", show=False),
    ]

    class Submitted(Message):
        """The person pressed enter."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Changed(Message):
        """The person typed; sent while asking, not for what `ask` put there."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Cancelled(Message):
        """The person pressed escape."""

        def __init__(self, kind: PromptKind) -> None:
            super().__init__()
            self.kind = kind

    def __init__(self, *, id: str | None = "prompt") -> None:
        super().__init__(id=id, classes="-closed")
        self.kind = PromptKind.SEARCH
        self._remembered: dict[PromptKind, list[str]] = {kind: [] for kind in PromptKind}
        self._begun = ""
        """What is asked with at first: ↓ comes back to it."""
        self._place = 0

    def compose(self) -> ComposeResult:
        """The sign, what is typed or was typed, and a note."""
        yield Static(Content(""), id="prompt-sign", markup=False)
        yield SafeInput(compact=True, select_on_focus=False)
        yield Static(Content(""), id="prompt-rest", markup=False)
        yield Static(Content(""), id="prompt-note", markup=False)

    @property
    def is_asking(self) -> bool:
        """Whether keys are typed into it."""
        return self.has_class("-asking")

    def ask(self, kind: PromptKind, text: str = "", offers: Sequence[str] | None = None) -> None:
        """Ask, with this text to begin with; ↑ brings what is offered, or else what was typed before."""
        self._become("-asking", kind)
        if offers is not None:
            self._remembered[kind] = list(reversed(offers))
        self._begun = text
        self._place = len(self._remembered[kind])
        with self.prevent(Input.Changed):
            self._put(text)
        self._input.focus()

    def rest(self, kind: PromptKind, text: str, note: str = "") -> None:
        """Show what is being searched for, and a note such as `2/3`, without asking."""
        self._become("-resting", kind)
        self._show("#prompt-rest", text)
        self.note(note)

    def take(self, event: events.Key) -> bool:
        """A key that was typed before the input had the focus, or that it leaves to others; whether it is ours."""
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
        """Say something beside the text: `2/3`, `no hits`, `searching 41 %`."""
        self._show("#prompt-note", words)

    def close(self) -> None:
        """Hide, and forget what was typed."""
        self._become("-closed", self.kind)
        with self.prevent(Input.Changed):
            self._put("")
        self._show("#prompt-rest", "")

    def forget(self) -> None:
        """Forget the texts that were searched for: they may quote what is hidden."""
        for kind in (PromptKind.SEARCH, PromptKind.FILTER):
            self._remembered[kind].clear()
            self._place = 0

    def action_cancel(self) -> None:
        """Escape: hide, and say so."""
        self.close()
        self.post_message(self.Cancelled(self.kind))

    def action_recall(self, step: int) -> None:
        """Bring back an earlier text of this kind."""
        earlier = self._remembered[self.kind]
        self._place = max(0, min(self._place + step, len(earlier)))
        self._put(earlier[self._place] if self._place < len(earlier) else self._begun)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_asking:
            self.post_message(self.Changed(self.kind, event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        text, earlier = event.value, self._remembered[self.kind]
        if text:
            earlier[:] = [*(other for other in earlier if other != text), text][-MOST_REMEMBERED:]
        self.close()
        self.post_message(self.Submitted(self.kind, text))

    @property
    def _input(self) -> SafeInput:
        return self.query_one(SafeInput)

    def _put(self, text: str) -> None:
        self._input.put(text)

    def _become(self, state: str, kind: PromptKind) -> None:
        self.kind = kind
        for other in ("-closed", "-asking", "-resting"):
            self.set_class(other == state, other)
        self._input.set_focusable(state == "-asking")
        self._show("#prompt-sign", kind.value)
        self.note("")

    def _show(self, selector: str, words: str) -> None:
        self.query_one(selector, Static).update(Content(sanitize_line(words)))
