"""Search for the tokens of a frame and for the marks of chat templates in its body."""

from __future__ import annotations

import re
from collections.abc import Mapping

from viewer.cache import lazy_regex
from viewer.reading.cursor import Token, TokenSet, Window
from viewer.reading.template_marks import LONGEST_FOLD, MARK, begun, token_or_mark

TEMPLATE = "template"
"""The token name for a mark of a chat template."""
UNKNOWN = "unknown"
"""The token name for a mark that begins the frame of a speaker that the template does not have."""
_LONGEST_UNKNOWN = 64
_FEW = 256
_SHORT = 4096
"""For up to `_FEW` searches of at most `_SHORT` bytes each, searching separately for tokens and marks takes less time
than compiling a pattern for both."""


class MarkTokens(TokenSet):
    """The tokens of a frame, and the marks of chat templates."""

    def __init__(self, spelled: Mapping[bytes, str], unknown: bytes = b"", bracketed: bytes = b"") -> None:
        """`unknown` is a pattern for the marks of unknown speakers, if the template needs one. They start with `<`.
        `bracketed` is the same for marks that start with `[`."""
        self._spelled = dict(spelled)
        super().__init__(self._spelled)
        self._left = _FEW
        """The number of further searches that look for tokens and marks separately. If there are few searches and no
        marks, no pattern for marks is compiled."""
        self._unknown = lazy_regex(b"|".join(filter(None, (unknown, bracketed)))) if unknown else None
        others = [b"(?<=<)(?P<unknown>%b)" % unknown.removeprefix(b"<")] if unknown else []
        if bracketed:
            others.append(rb"(?<=\[)(?P<other>%b)" % bracketed.removeprefix(rb"\["))
        self._all = lazy_regex(lambda: token_or_mark(self._spelled, *others))
        bracket = rb"|\[(?:\|[^\[\]\n]*)?\Z" if bracketed else b""
        self._unfinished = re.compile(rb"<(?:\xef\xbd?|(?:\||\xef\xbd\x9c)[^<>\n]*)?\Z" + bracket) if unknown else None

    def search(self, window: Window, start: int, end: int | None = None) -> Token | None:
        """Return the first token or mark at or after an offset, or None if there is none."""
        limit = len(window.data) if end is None else end - window.base
        if self._left:
            self._left -= 1
            token = super().search(window, start, end)
            stop = token.start if token else limit + window.base
            text = window.text(start, stop + 1)
            has_unknown = self._unknown is not None and self._unknown.search(text) is not None
            if stop - start <= _SHORT and not has_unknown and MARK.search(text) is None:
                return token
        found = self._all.search(window.data, start - window.base, limit)
        if found is None:
            return None
        other = UNKNOWN if found.lastgroup in ("unknown", "other") else TEMPLATE
        return Token(self._spelled.get(found[0], other), found.start() + window.base, found.end() + window.base)

    def held_back(self, window: Window) -> int:
        """Return the number of bytes at the end of the window that may begin a token or a mark."""
        held = max(super().held_back(window), begun(bytes(window.data[-LONGEST_FOLD:])))
        tail = bytes(window.data[-_LONGEST_UNKNOWN:])
        found = self._unfinished.search(tail) if self._unfinished else None
        return max(held, len(tail) - found.start()) if found else held
