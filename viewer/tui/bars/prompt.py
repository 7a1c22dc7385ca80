"""Prompt line for `/`, `&`, `:` and `x`; between two questions it shows the last search."""

from __future__ import annotations

from collections.abc import Sequence
from os.path import commonprefix
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
"""The number of earlier texts of each kind that the up and down keys recall."""


MOST_OFFERED = 6
"""Candidates that a note names."""


class SafeInput(Input, can_focus=False):
    """Shows every character in its sanitized form, one for one: pasted text is untrusted.

    It accepts the focus only while the prompt asks. Otherwise keys would be typed into a hidden input.
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
    """Hidden (class `-closed`), asking (`-asking`), or showing the last search (`-resting`)."""

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
        Binding("tab", "complete", show=False),
    ]

    class Submitted(Message):
        """The text was submitted with enter."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Changed(Message):
        """The text was edited. `ask` does not send this for its initial text."""

        def __init__(self, kind: PromptKind, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Cancelled(Message):
        """The question was cancelled with escape."""

        def __init__(self, kind: PromptKind) -> None:
            super().__init__()
            self.kind = kind

    def __init__(self, *, id: str | None = "prompt") -> None:
        super().__init__(id=id, classes="-closed")
        self.kind = PromptKind.SEARCH
        self._remembered: dict[PromptKind, list[str]] = {kind: [] for kind in PromptKind}
        self._begun = ""
        """The initial text; the down key returns to it."""
        self._place = 0

    def compose(self) -> ComposeResult:
        """The sign, the input or the last search, and a note."""
        yield Static(Content(""), id="prompt-sign", markup=False)
        yield SafeInput(compact=True, select_on_focus=False)
        yield Static(Content(""), id="prompt-rest", markup=False)
        yield Static(Content(""), id="prompt-note", markup=False)

    @property
    def is_asking(self) -> bool:
        """True if keys are typed into it."""
        return self.has_class("-asking")

    def ask(self, kind: PromptKind, text: str = "", offers: Sequence[str] | None = None) -> None:
        """Ask, with this initial text. The up key recalls the offered texts, or else earlier ones."""
        self._become("-asking", kind)
        if offers is not None:
            self._remembered[kind] = list(reversed(offers))
        self._begun = text
        self._place = len(self._remembered[kind])
        with self.prevent(Input.Changed):
            self._put(text)
        self._input.focus()

    def rest(self, kind: PromptKind, text: str, note: str = "") -> None:
        """Show a search with a note such as `2/3`, without asking."""
        self._become("-resting", kind)
        self._show("#prompt-rest", text)
        self.note(note)

    def take_key(self, event: events.Key) -> bool:
        """Handle a key that arrived before the input had the focus, or that it leaves to others; True if handled."""
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
        """Show a note after the text: `2/3`, `no matches`, `searching 41 %`."""
        self._show("#prompt-note", words)

    def close(self) -> None:
        """Hide the prompt, and forget its text."""
        self._become("-closed", self.kind)
        with self.prevent(Input.Changed):
            self._put("")
        self._show("#prompt-rest", "")

    def forget(self) -> None:
        """Forget the texts of earlier searches: they may quote hidden text."""
        for kind in (PromptKind.SEARCH, PromptKind.FILTER):
            self._remembered[kind].clear()
            self._place = 0

    def action_cancel(self) -> None:
        """Hide the prompt, and report it."""
        self.close()
        self.post_message(self.Cancelled(self.kind))

    def action_recall(self, step: int) -> None:
        """Recall an earlier text of this kind."""
        earlier = self._remembered[self.kind]
        self._place = max(0, min(self._place + step, len(earlier)))
        self._put(earlier[self._place] if self._place < len(earlier) else self._begun)

    def action_complete(self) -> None:
        """Complete the last term of a filter, as far as its candidates agree; a note names them."""
        if self.kind is not PromptKind.FILTER:
            return
        from viewer.document.filter.grammar import completions  # the first page needs no filter

        found = completions(self._input.value)
        if found:
            self._put(commonprefix(found))  # noqa: RUF071 (these are no paths)
        last = (text.rpartition(" ")[2] for text in found[:MOST_OFFERED])
        self.note("  ".join(last) if len(found) > 1 else "")

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
