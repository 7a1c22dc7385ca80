"""Glyphs for lists: one per kind of message, and one per state of a call."""

from __future__ import annotations

from collections.abc import Container
from enum import Enum

from viewer.document.diagnostics import DiagnosticView
from viewer.document.values import Headline, ShownCall
from viewer.render.blocks.call_words import problem_words, state_words
from viewer.render.head import is_call
from viewer.render.style import Part, Style, StyleRole, trusted


class KindSign(Enum):
    """A kind of message with its glyph, and the glyph for terminals without Unicode."""

    THOUGHT = ("∴", ":")
    CALL = ("ƒ", "f")
    COMMENTARY = ("¶", "c")
    ANSWER = ("●", "@")
    USER = ("›", ">")
    SYSTEM = ("§", "s")
    UNKNOWN = ("?", "?")
    HIDDEN = ("·", "-")

    def glyph(self, style: Style) -> str:
        """Return the glyph that the terminal can show."""
        return self.value[style.ascii]


_STATES = {
    "ok": ("✓", "ok"),
    "pending": ("◌", "o"),
    "failed": ("✖", "X"),
    "timeout": ("✖", "X"),
    "cancelled": ("⊘", "/"),
}
"""The glyph of each state, and its ASCII form."""
_OTHER_STATE = ("?", "?")


def kind_sign(headline: Headline) -> KindSign:
    """Return the kind sign of a message."""
    if not headline.seen:
        return KindSign.HIDDEN
    if headline.role == "tool" or is_call(headline):
        return KindSign.CALL
    if headline.role == "user":
        return KindSign.USER
    if headline.role.partition(":")[0] in ("system", "developer"):
        return KindSign.SYSTEM
    channels = {"analysis": KindSign.THOUGHT, "commentary": KindSign.COMMENTARY, "final": KindSign.ANSWER}
    return channels.get(headline.channel or "", KindSign.UNKNOWN)


def is_failed(call: ShownCall, faulty: Container[int]) -> bool:
    """True if a call went wrong, or one of its messages has an error."""
    return call.state not in ("ok", "pending") or call.call in faulty or call.reply in faulty


def state_glyph(state: str, style: Style) -> Part:
    """Return the glyph of a state."""
    return Part(trusted(_STATES.get(state, _OTHER_STATE)[style.ascii]), state_words(state)[1])


def state_sign(call: ShownCall, style: Style, *, problems: DiagnosticView | None = None, words: bool = False) -> Part:
    """Return the glyph of a call's state; with `words`, include the word. If a message of the call has an error, the
    word on the call's card replaces `ok`. With `words`, `by order` replaces `ok` if the reply was inferred."""
    shown, (word, look) = _STATES.get(call.state, _OTHER_STATE)[style.ascii], state_words(call.state)
    problem = _problem_of(call, problems) if call.state == "ok" and problems is not None else ""
    if problem:
        shown, word, look = _STATES["failed"][style.ascii], problem, StyleRole.ERROR
    elif call.state == "ok" and call.inferred and words:
        word = "by order"
    return Part(trusted(f"{shown} {word}" if words and shown != word else shown), look)


def _problem_of(call: ShownCall, problems: DiagnosticView) -> str:
    """Return the word for errors in either message of a call; empty if there are none."""
    faulty = problems.faulty
    found = [number for number in {call.call, call.reply} if number is not None and number in faulty]
    return problem_words(one for number in found for one in problems.of(number))
