"""Read the header line of an OpenChatML 0.1 frame (`role name=Eric`), and the name in the JSON of a call or output."""

from __future__ import annotations

import json
import re

from msgspec import Struct, field

from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Channel, Header
from viewer.reading.header import full_tool_name
from viewer.rules.errors import E_PARSE_HEADER
from viewer.rules.structure import W_ATTRIBUTE_UNKNOWN

ROLES = frozenset({"system", "tool", "user", "assistant"})
LONGEST_PLAUSIBLE = 512
"""The maximum length of a header that can end an open message."""
LONGEST_NAME = 512

_WORD = re.compile(rb"[^ \t\r\n]+")
_ATTRIBUTE = re.compile(rb"([^=]+)=(.*)", re.DOTALL)
_PLAUSIBLE = re.compile(rb"[ \t]*(?:system|tool|user|assistant)(?:[ \t]+name=[^ \t\r\n<]*)?[ \t\r]*")
_RESTRICTING_INTENTS = frozenset({"debug", "status"})
_UNSAFE_IN_NAME = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_VALUES = json.JSONDecoder(strict=False, parse_int=len, parse_float=len, parse_constant=len)
"""A decoder that leaves numbers unconverted, because only strings are needed."""


class Head(Struct):
    """The content of a header line, which the messages of its frame share."""

    role: str = ""
    name: str | None = None
    recipient: str | None = None
    intent: str | None = None
    extra: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    rest: int = 0
    """Where the text that is not part of the header begins."""
    words_end: int = 0
    """Where the last word ends."""
    complete: bool = True
    """True if the newline at the end of the header was read."""
    name_at: int = 0
    """Where a `name=` would belong: after the role."""

    @property
    def malformed(self) -> bool:
        """True if the header has a problem with the code E-PARSE-HEADER."""
        return any(problem.rule is E_PARSE_HEADER for problem in self.problems)

    def header(self) -> Header:
        """Return the header of a text part."""
        return Header(
            self.role,
            name=full_tool_name(self.name) if self.role == "tool" and self.name else self.name,
            recipient=self.recipient,
            channel=Channel.FINAL,
            intent=self.intent,
            extra=tuple(self.extra.items()),
            malformed=self.malformed,
            complete=self.complete,
        )


class _Word(Struct, frozen=True, gc=False):
    text: bytes
    start: int
    end: int


def read_head(line: bytes, at: int) -> Head:
    """Read a whole header line, given without its newline. `at` is its offset in the input."""
    return _Reading(line, at).whole()


def read_broken_head(line: bytes, at: int) -> Head:
    """Read a header without a newline: the role and as many attributes as possible. The rest is body."""
    return _Reading(line, at).broken()


def header_follows(text: bytes, ended: bool) -> bool | None:
    """True if a plausible header line begins here; None if more bytes are needed."""
    text = text[:LONGEST_PLAUSIBLE]
    line, newline, _ = text.partition(b"\n")
    if newline:
        return _PLAUSIBLE.fullmatch(line) is not None
    if ended or len(text) == LONGEST_PLAUSIBLE or b"<" in line or not _may_become_role(line):
        return False
    return None


def _may_become_role(line: bytes) -> bool:
    words = line.lstrip(b" \t")
    return any(words.startswith(role) or role.startswith(words) for role in (b"system", b"tool", b"user", b"assistant"))


def name_in_json(text: bytes) -> str | None:
    """Return the `name` in the JSON of a call or output, or None if the JSON is unreadable or the name is invalid in a
    header."""
    try:
        value = _VALUES.decode(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or _UNSAFE_IN_NAME.search(name):
        return None
    return name


class _Reading:
    """Reads one header line, word by word."""

    def __init__(self, line: bytes, at: int) -> None:
        self._words = [_Word(match[0], at + match.start(), at + match.end()) for match in _WORD.finditer(line)]
        self._end = at + len(line)
        self._head = Head(rest=self._end, words_end=self._words[-1].end if self._words else at)
        self._given: dict[str, str] = {}

    def whole(self) -> Head:
        self._role()
        for word in self._words:
            if not self._attribute(word):
                self._problem(E_PARSE_HEADER, "word-unknown", word.start, word.end)
        return self._finish()

    def broken(self) -> Head:
        self._role()
        for word in self._words:
            if not self._attribute(word):
                self._head.rest = word.start
                break
        self._problem(E_PARSE_HEADER, "message-missing", self._head.rest, self._head.rest)
        self._head.complete = False
        return self._finish()

    def _role(self) -> None:
        if not self._words or b"=" in self._words[0].text:
            at = self._words[0].start if self._words else self._end
            self._problem(E_PARSE_HEADER, "role-missing", at, at)
            return
        word = self._words.pop(0)
        self._head.name_at = word.end
        self._head.role = _text(word.text)
        if self._head.role not in ROLES:
            self._problem(E_PARSE_HEADER, "role-unknown", word.start, word.end)

    def _attribute(self, word: _Word) -> bool:
        match = _ATTRIBUTE.fullmatch(word.text)
        if not match:
            return False
        key, value = _text(match[1]), _text(match[2])
        if key != "name":
            self._problem(W_ATTRIBUTE_UNKNOWN, None, word.start, word.end)
        elif not value:
            return True
        if self._given.setdefault(key, value) != value:
            self._problem(E_PARSE_HEADER, "attribute-repeated", word.start, word.end)
        return True

    def _finish(self) -> Head:
        """Finish the header. `to=` and a hiding `intent=` keep their usual effect, so nothing is shown by
        accident."""
        head, given = self._head, self._given
        head.name = given.pop("name", None)
        head.recipient = given.pop("to", None) or None
        if given.get("intent") in _RESTRICTING_INTENTS:
            head.intent = given.pop("intent")
        head.extra = given
        return head

    def _problem(self, rule: Rule, reason: str | None, start: int, end: int) -> None:
        self._head.problems.append(Problem(rule, reason, start, end))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
