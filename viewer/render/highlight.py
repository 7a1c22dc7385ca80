"""Syntax highlighting of code with the Pygments lexer that the fence names."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cache
from typing import Any

from viewer.render.style import Styled, StyleRole

MOST_LINES = 500
LARGEST = 16_384
"""The maximum length of highlighted code in characters."""
MOST_SECONDS = 0.05
"""The CPU time in seconds after which the rest is not highlighted: lexers take quadratic time on some input."""
SHORT = 512
"""The length in characters up to which code is highlighted without a time limit, because it never takes
`MOST_SECONDS`."""
TOKENS_PER_LOOK = 32
"""How many tokens to read between checks of the clock, which are slow."""
LONGEST_WORD = 40
"""The maximum length of the name of a language."""


def code_spans(code: str, language: str, end: int | None = None) -> list[Styled]:
    """Return the colored tokens of code, in order; none if the language is unknown, the code is too long, or lexers are
    postponed. With `end`, only the tokens that begin before it are needed."""
    if end == 0 or len(code) > LARGEST or code.count("\n") >= MOST_LINES or not 0 < len(language) <= LONGEST_WORD:
        return []
    name = language.lower()
    if LEXERS.postpones(name):
        return []
    return [*_spans(_lexer(name), code, len(code) if end is None else end)] if name in _languages() else []


class Lexers:
    """Decides whether lexers may be loaded yet. Loading one takes up to 40 ms, so the first frame of the app is drawn
    without them: until then, code has a single color."""

    def __init__(self) -> None:
        self.are_postponed = False
        self._missed: set[str] = set()

    def postpone(self) -> None:
        """Load no lexers until `resume`."""
        self.are_postponed = True

    def postpones(self, language: str) -> bool:
        """Return True if code in this language cannot be highlighted yet, so that `load_missed` must load its lexer."""
        if self.are_postponed:
            self._missed.add(language)
        return self.are_postponed

    def load_missed(self) -> None:
        """Load the lexers that were needed but not loaded so far. Call this in a thread."""
        for language in sorted(self._missed):
            if language in _languages():
                _lexer(language)

    def resume(self) -> bool:
        """Load lexers on demand from now on. Return True if code was drawn without colors."""
        is_stale = bool(self._missed)
        self.are_postponed = False
        self._missed.clear()
        return is_stale


LEXERS = Lexers()
"""The lexers of this process."""


def _spans(lexer: Any, code: str, stop: int) -> Iterator[Styled]:
    at, is_short = 0, len(code) <= SHORT
    until = 0.0 if is_short else time.thread_time() + MOST_SECONDS
    for number, (start, kind, text) in enumerate(lexer.get_tokens_unprocessed(code)):
        if start >= stop or (not is_short and number % TOKENS_PER_LOOK == 0 and time.thread_time() > until):
            return
        role = _role(kind)
        end = start + len(text)
        if role is not None and at <= start < end <= len(code):
            yield Styled(start, end, role)
            at = end


@cache
def _role(kind: Any) -> StyleRole | None:
    """Return the style role of a Pygments token type; None if it is not colored."""
    from pygments.token import Comment, Keyword, Name, Number, Operator, String

    roles = (
        (Comment, StyleRole.CODE_NOTE),
        (Keyword, StyleRole.CODE_WORD),
        (Operator.Word, StyleRole.CODE_WORD),
        (String, StyleRole.CODE_TEXT),
        (Number, StyleRole.CODE_NUMBER),
        (Name.Function, StyleRole.CODE_KEY),
        (Name.Class, StyleRole.CODE_KEY),
        (Name.Tag, StyleRole.CODE_KEY),
        (Name.Attribute, StyleRole.CODE_KEY),
    )
    return next((role for kin, role in roles if kind in kin), None)


@cache
def _languages() -> frozenset[str]:
    """Return the names of the lexers that come with Pygments. Any other name would load plug-ins."""
    from pygments.lexers import get_all_lexers

    return frozenset(alias for _, aliases, _, _ in get_all_lexers(plugins=False) for alias in aliases)


@cache
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(language)
