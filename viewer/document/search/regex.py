"""Regex search in linear time with RE2, in Python's syntax, and the literal that every match of a pattern contains."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from viewer.cache import lazy_regex
from viewer.model.messages import Span

MOST_MEMORY = 8 * 1024 * 1024
"""The memory limit, in bytes, for the compiled pattern and its states. A pattern that compiles to more is refused; too
many states only slow down the search."""

TOO_LARGE = "The pattern is too large. Simplify it."
NO_LOOK_AROUND = "Look-around and backreferences are not supported."
NOT_SUPPORTED = "The pattern uses an unsupported feature. Simplify it."

_LOOK_AROUND = (b"(?=", b"(?!", b"(?<", b"(?P", b"(?(")
"""The beginnings of the kinds of groups that Python supports but RE2 does not."""
_ESCAPE = r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|0[0-7]?|[1-9][0-9]?|.)"
_OUTSIDE = lazy_regex(rf"{_ESCAPE}|\[\^?\]?|\{{,[0-9]+\}}|.", re.DOTALL)
_INSIDE = lazy_regex(rf"{_ESCAPE}|.", re.DOTALL)
"""Regular expressions for the next element of a pattern, outside and inside a set."""
_WORD, _SPACE = r"\pL\pN_", r"\s\v\x1c-\x1f\x{85}\p{Z}"
_CLASSES = {r"\w": _WORD, r"\s": _SPACE, r"\d": r"\p{Nd}", r"\D": r"\P{Nd}"}
_NEGATED = {r"\W": _WORD, r"\S": _SPACE}

_CONTINUATIONS = bytes(range(0x80, 0xC0))
"""The UTF-8 bytes that do not begin a code point."""


class RegexError(Exception):
    """A pattern that cannot be searched for. The sentence gives the reason without quoting the pattern."""

    def __init__(self, sentence: str, place: int | None = None, reason: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.place = place
        """The index of the faulty character; None if it is unknown."""
        self.reason = reason
        """The error at that position: a value of `_REASONS`, or `invalid here`."""


class Regex:
    """A regular expression. `^` and `$` match at every line, and empty matches are skipped.

    Character classes cover Unicode letters, digits, and spaces, except in `\\b`, and in `\\W` and `\\S` inside a set,
    where RE2 supports only ASCII."""

    def __init__(self, pattern: str, ignores_case: bool) -> None:
        _check_syntax(pattern)
        translated = f"(?m){_translated(pattern)}"
        self._compiled = _compiled(translated, ignores_case)
        self.re2_pattern = f"(?i){translated}" if ignores_case else translated
        """The pattern in the syntax of RE2, for other programs that use it."""

    def spans(self, text: str, start: int = 0) -> Iterator[Span]:
        """Yield the matches that begin at or after this code point, in order."""
        return self._spans(text, start, lambda match: match.span())

    def captured(self, text: str) -> Iterator[Span]:
        """Yield, for each match, the span of the group that matched, or of the whole match if no group did."""
        return self._spans(text, 0, lambda match: match.span(match.lastindex or 0))

    def _spans(self, text: str, start: int, span_of: Callable[[Any], Span]) -> Iterator[Span]:
        if text.isascii():
            for match in self._compiled.finditer(text.encode(), start):
                first, last = span_of(match)
                if last > first:
                    yield first, last
            return
        data = text.encode("utf-8", "surrogatepass")
        at, characters = len(text[:start].encode("utf-8", "surrogatepass")), start
        for match in self._compiled.finditer(data, at):
            first, last = span_of(match)
            if last > first:
                characters += _length(data[at:first])
                length = _length(data[first:last])
                yield characters, characters + length
                at, characters = last, characters + length


def _length(data: bytes) -> int:
    """Return the number of code points in UTF-8 data."""
    return len(data.translate(None, _CONTINUATIONS))


def _check_syntax(pattern: str) -> None:
    """Reject every pattern that Python rejects, because Python's errors have a position."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except re.error as error:
        raise _no_pattern(error.pos or 0, error.msg) from None
    except (RecursionError, OverflowError):
        raise _no_pattern(0) from None
    finally:
        re.purge()  # a cache would keep a pattern that quotes hidden text


def _no_pattern(place: int, message: str = "") -> RegexError:
    reason = next((words for start, words in _REASONS.items() if message.startswith(start)), "invalid here")
    return RegexError(f"Invalid regular expression at character {place + 1}.", place, reason)


_REASONS = {
    "missing ), unterminated subpattern": "missing )",
    "unterminated character set": "missing ]",
    "unbalanced parenthesis": "missing ( before )",
    "nothing to repeat": "nothing to repeat",
    "multiple repeat": "repeated twice",
    "min repeat greater than max repeat": "the minimum exceeds the maximum",
    "bad escape (end of pattern)": "unfinished escape",
    "bad escape": "unknown escape",
    "incomplete escape": "unfinished escape",
    "bad character range": "the range ends before it begins",
    "unexpected end of pattern": "unfinished group",
    "missing -, : or )": "unfinished group",
    "unknown flag": "unknown flag",
    "unknown extension": "unknown kind of group",
    "missing group name": "missing name of the group",
}
"""Our wording of Python's errors, by the beginning of their messages. The rest of a message may quote the pattern."""


def _translated(pattern: str) -> str:
    """Return the pattern in the syntax of RE2."""
    parts: list[str] = []
    at, in_set = 0, False
    while found := (_INSIDE if in_set else _OUTSIDE).match(pattern, at):
        part, at = found[0], found.end()
        if part[0] == "\\":
            part = _escape_in_set(part) if in_set else _escape(part)
        elif in_set:
            in_set = part != "]"
            part = r"\[" if part == "[" else part
        elif part[0] == "[":
            in_set = True
        elif part.startswith("{,"):
            part = "{0" + part[1:]
        parts.append(part)
    return "".join(parts)


def _escape(part: str) -> str:
    if part[1] in "123456789" and len(part) < 4:
        raise RegexError(NO_LOOK_AROUND)
    if part in _CLASSES:
        return f"[{_CLASSES[part]}]"
    if part in _NEGATED:
        return f"[^{_NEGATED[part]}]"
    return r"\z" if part == r"\Z" else _character(part)


def _escape_in_set(part: str) -> str:
    if part in _CLASSES:
        return _CLASSES[part]
    if part[1] in "01234567":
        return f"\\x{{{int(part[1:], 8):x}}}"
    return r"\x08" if part == r"\b" else _character(part)


def _character(part: str) -> str:
    return f"\\x{{{part[2:]}}}" if part[1] in "uU" and len(part) > 2 else part


def _compiled(pattern: str, ignores_case: bool) -> Any:
    import re2  # loading it takes longer than most searches

    options = re2.Options()
    options.log_errors = False  # RE2's messages would appear on the screen
    options.case_sensitive = not ignores_case
    options.max_mem = MOST_MEMORY
    try:
        return re2.compile(pattern, options)
    except UnicodeEncodeError:
        raise RegexError(NOT_SUPPORTED) from None
    except re2.error as error:
        raise RegexError(_sentence(error.args[0])) from None
    finally:
        re2.purge()


def _sentence(reason: bytes) -> str:
    """Return a sentence to replace RE2's error, which quotes the pattern."""
    kind, _, quoted = reason.partition(b": ")
    if kind == b"invalid perl operator" and quoted.startswith(_LOOK_AROUND):
        return NO_LOOK_AROUND
    is_large = kind == b"invalid repetition size" or kind.startswith(b"pattern too large")
    return TOO_LARGE if is_large else NOT_SUPPORTED


SHORTEST = 2

_STEP = lazy_regex(
    r"""
    (?P<group>\()
    | (?P<word>\\[wWdDsSbBAZz] | [.^$] | \\[nrt])
    | (?P<escape>\\[^0-9A-Za-z] )
    | (?P<set>\[\^?\]?(?:[^\]\\\[]|\\[^0-9A-Za-z]|\\[wWdDsSnrt])*\])
    | (?P<repeat>[*?+]|\{[0-9]*,?[0-9]*\})
    | (?P<end>\))
    | (?P<letter>[^\\\[\]{}()|*+?.^$])
    """,
    re.VERBOSE | re.DOTALL,
)
_FLAGS = lazy_regex(r"\(\?(?![:=!<P])")


def required_literal(pattern: str) -> str | None:
    """Return the longest literal found that every match contains, or None if none of useful length is found."""
    if "|" in pattern or _FLAGS.search(pattern) or not pattern.isascii():
        return None
    runs, depth, at = [""], 0, 0
    while at < len(pattern):
        step = _STEP.match(pattern, at)
        if step is None:
            return None
        kind, text, at = step.lastgroup, step[0], step.end()
        if kind in ("group", "end"):
            depth += 1 if kind == "group" else -1
            runs.append("")
        elif kind == "repeat":
            runs[-1] = runs[-1] if text == "+" else runs[-1][:-1]
            runs.append("")
        elif depth == 0 and kind in ("letter", "escape"):
            runs[-1] += text[-1]
        else:
            runs.append("")
    longest = max(runs, key=len)
    return longest if len(longest) >= SHORTEST and depth == 0 else None
