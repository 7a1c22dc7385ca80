"""The words of a message header: role, recipient, channel, type and attributes, and what is wrong with them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from viewer.core.messages import Channel, Header

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
CHECKED_TYPES = frozenset({"json", "text", "markdown", "code"})
ALL_ATTRIBUTES = frozenset({"to", "call_id", "name", "intent", "content_type"})
NOT_TOOLS = frozenset({"user", "assistant", "all"})
LONGEST_PLAUSIBLE = 512

_CHANNELS = {channel.value: channel for channel in Channel}
_SPACE = b" \t\r\n"
_ITEM = re.compile(rb"<\|[A-Za-z0-9_]+\|>|<?[^ \t\r\n<]+|<")
_ATTRIBUTE = re.compile(rb"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
_ROLE_WORD = rb"(?:system|developer|user|assistant|tool|python|(?:functions|browser)\.[^ \t\r\n<]+)"
_PLAUSIBLE = re.compile(rb"[ \t\r\n]*" + _ROLE_WORD + rb"(?![^ \t\r\n<])[ \t\r\n]*[^\r\n]*")
_PLAUSIBLE_CHANNEL = re.compile(rb"[ \t]*(?:analysis|commentary|final)(?:[ \t<][^\r\n]*)?")


@dataclass(frozen=True, slots=True)
class HeaderGrammar:
    """What the message headers of one text dialect may hold."""

    attributes: frozenset[str]
    """Attributes that the dialect defines."""
    channels: bool = True
    constrain: bool = True
    preambles: bool = False
    """`intent=preamble` has force."""
    harmony: bool = False
    """Bare words, tool names as roles and the strictness of the reference library."""
    assume_preambles: bool = False
    """Commentary of the assistant without a recipient is a preamble."""
    name_required: bool = False
    """The role `tool` must come with a name."""
    escapes: bool = False


class Problem(NamedTuple):
    """A diagnostic whose place is relative to the header."""

    code: str
    reason: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class HeaderReading:
    """A header and all that is wrong with it."""

    header: Header
    problems: tuple[Problem, ...]
    rest: int
    """Where text that is no header begins, relative to the header; its length where all of it is header."""


def is_tool(recipient: str | None) -> bool:
    """Whether a recipient names a tool."""
    return recipient is not None and recipient not in NOT_TOOLS


def is_tool_name(word: str) -> bool:
    """Whether a role word names a tool whose reply this is."""
    return word == "python" or word.startswith(("functions.", "browser."))


def looks_like_header(words: bytes) -> bool:
    """Whether these bytes before a `<|message|>` are plausible as a header, so that they may end an open message."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE.fullmatch(words) is not None


def looks_like_channel(words: bytes) -> bool:
    """Whether these bytes between `<|channel|>` and `<|message|>` are plausible as the rest of a header."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE_CHANNEL.fullmatch(words) is not None


def split_words(words: bytes) -> list[bytes]:
    """The words and markers of a header."""
    return _ITEM.findall(words)


def read_header(words: bytes, grammar: HeaderGrammar, *, implied: bool = False, partial: bool = False) -> HeaderReading:
    """Read the bytes between `<|start|>` and `<|message|>`.

    `implied`: there was no `<|start|>`, the author is the assistant.
    `partial`: there is no `<|message|>`; what is not understood begins the rest.
    """
    if len(words) <= LONGEST_PLAUSIBLE:
        return _read_remembered(words, grammar, implied, partial)
    return _Words(words, grammar, implied, partial).read()


@lru_cache(maxsize=4096)
def _read_remembered(words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> HeaderReading:
    return _Words(words, grammar, implied, partial).read()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class _Place(NamedTuple):
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Words:
    """One header while it is read, word by word."""

    words: bytes
    grammar: HeaderGrammar
    implied: bool
    partial: bool
    role: _Place | None = None
    channels: list[_Place] = field(default_factory=list)
    type: _Place | None = None
    bare: list[_Place] = field(default_factory=list)
    attributes: dict[str, _Place] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    awaits: str = "role"
    """What the next bare word is: `role`, `channel`, `type`, or empty for nothing in particular."""
    rest: int | None = None

    def read(self) -> HeaderReading:
        for match in _ITEM.finditer(self.words):
            self._item(match)
            if self.rest is not None:
                break
        self._finish_awaited(len(self.words) if self.rest is None else self.rest)
        header = self._header()
        malformed = any(problem.code == "E-PARSE-HEADER" for problem in self.problems)
        rest = len(self.words) if self.rest is None else self.rest
        return HeaderReading(replace(header, malformed=malformed), tuple(self.problems), rest)

    def _item(self, match: re.Match[bytes]) -> None:
        start, end = match.span()
        item = match[0]
        if item.startswith(b"<|") and item.endswith(b"|>") and not self._escaped(start):
            self._marker(item, start, end)
        elif attribute := _ATTRIBUTE.fullmatch(item):
            self._finish_awaited(start)
            self._attribute(_text(attribute[1]), _Place(_text(attribute[2]), start, end))
        else:
            self._word(_Place(_text(item), start, end))

    def _escaped(self, start: int) -> bool:
        return self.grammar.escapes and self.words[start - 1 : start] == b"<"

    def _report(self, reason: str, start: int, end: int, code: str = "E-PARSE-HEADER") -> None:
        self.problems.append(Problem(code, reason, start, end))

    def _strict(self, reason: str, start: int, end: int) -> None:
        if self.grammar.harmony:
            self._report(reason, start, end, "I-HARMONY-STRICT")

    def _marker(self, item: bytes, start: int, end: int) -> None:
        if item == b"<|channel|>" and self.grammar.channels:
            self._finish_awaited(start)
            self.awaits = "channel"
        elif item == b"<|constrain|>" and self.grammar.constrain:
            self._finish_awaited(start)
            if self.grammar.harmony and self.words[end : end + 1].strip(_SPACE) == b"" and end < len(self.words):
                self._strict("constrain-space", end, len(self.words) - len(self.words[end:].lstrip(_SPACE)))
            self.awaits = "type"
        else:
            self._report("marker-unknown", start, end)

    def _finish_awaited(self, at: int) -> None:
        """Something else comes where a channel or a type was due."""
        if self.awaits == "channel":
            self._report("channel-empty", at, at)
            self.channels.append(_Place("", at, at))
        elif self.awaits == "type":
            self._report("attribute-empty", at, at)
        self.awaits = ""

    def _word(self, word: _Place) -> None:
        if self.awaits == "channel":
            self.channels.append(word)
        elif self.awaits == "type":
            self._set_type(word)
        elif self.awaits == "role" and not (self.implied and word.text != "assistant"):
            self.role = self._stripped(word)
        elif self.grammar.harmony and self.role is None and not self.implied and word.text in ROLES:
            self.role = word
        elif self.partial and not self._may_be_type(word):
            self.rest = word.start
        else:
            self.bare.append(word)
        self.awaits = ""

    def _stripped(self, word: _Place) -> _Place:
        return word._replace(text=word.text.strip()) if self.grammar.harmony else word

    def _may_be_type(self, word: _Place) -> bool:
        return word.text in CHECKED_TYPES and "to" in self.attributes and self.type is None and not self.bare

    def _set_type(self, word: _Place) -> None:
        if self.type is not None and self.type.text != word.text:
            self._report("attribute-repeated", word.start, word.end)
        self.type = word

    def _attribute(self, key: str, place: _Place) -> None:
        known = self.grammar.attributes
        if key not in known and not (self.grammar.harmony and key in ALL_ATTRIBUTES):
            self.problems.append(Problem("W-ATTRIBUTE-UNKNOWN", None, place.start, place.end))
            self._keep_extra(key, place)
            return
        if key not in known:
            self._strict("attribute", place.start, place.end)
        if not place.text:
            self._report("attribute-empty", place.start, place.end)
            return
        before = self.attributes.get(key)
        if before is None:
            self.attributes[key] = place
            if self.type is not None and key == "to":
                self._strict("attribute", place.start, place.end)
        elif before.text != place.text:
            self._report("attribute-repeated", place.start, place.end)
        else:
            self._strict("attribute", place.start, place.end)

    def _keep_extra(self, key: str, place: _Place) -> None:
        if self.extra.setdefault(key, place.text) != place.text:
            self._report("attribute-repeated", place.start, place.end)

    def _header(self) -> Header:
        role, name = self._role()
        recipient = self._value("to")
        content_type, constrained = self._content_type(recipient)
        channel, given = self._channel()
        intent = self._intent(role, channel, recipient)
        return Header(
            role=role,
            name=name,
            recipient=recipient,
            channel=channel,
            channel_given=given,
            intent=intent,
            call_id=self._value("call_id"),
            content_type=content_type,
            constrained=constrained,
            extra=tuple(self.extra.items()),
            complete=not self.partial,
        )

    def _value(self, key: str) -> str | None:
        place = self.attributes.get(key)
        return place.text if place else None

    def _role(self) -> tuple[str, str | None]:
        name = self._value("name")
        if self.role is None or not self.role.text:
            if self.implied:
                return "assistant", name
            self._report("role-missing", 0, 0)
            return "", name
        word, start, end = self.role
        if word in ROLES:
            return word, self._checked_name(word, name)
        if not is_tool_name(word) and not (self.grammar.harmony and self._value("to") == "assistant"):
            self._report("role-unknown", start, end)
            return word, name
        if self._value("to") != "assistant":
            self._strict("reply-unaddressed", start, end)
        if name is not None and name != word:
            place = self.attributes["name"]
            self._report("attribute-repeated", place.start, place.end)
        return "tool", word

    def _checked_name(self, role: str, name: str | None) -> str | None:
        if role != "tool" or name is not None:
            return name
        if self.grammar.harmony:
            return "tool"
        if self.grammar.name_required and self.role is not None:
            self.problems.append(Problem("W-TOOL-NAME-MISSING", None, self.role.end, self.role.end))
        return None

    def _channel(self) -> tuple[Channel | None, str | None]:
        if not self.channels:
            return Channel.FINAL, None
        kept = self.channels[-1]
        for place in self.channels:
            if place.text in _CHANNELS:
                kept = place
            elif place.text:
                self._report("channel-unknown", place.start, place.end)
        for place in self.channels[1:]:
            self._report("channel-repeated", place.start, place.end)
        return _CHANNELS.get(kept.text), kept.text

    def _content_type(self, recipient: str | None) -> tuple[str | None, bool]:
        bare = self._bare_type(recipient)
        if self.type is not None:
            if recipient is None:
                self._strict("constrain-unaddressed", self.type.start, self.type.end)
            self._note_unknown_type(self.type)
            return self.type.text, True
        if bare is None:
            return self._value("content_type"), False
        if recipient is None:
            self._strict("constrain-unaddressed", bare.start, bare.end)
        if bare.text == "json":
            self.problems.append(Problem("I-TYPE-BARE", None, bare.start, bare.end))
        self._note_unknown_type(bare)
        return bare.text, False

    def _note_unknown_type(self, place: _Place) -> None:
        if place.text.lower() not in CHECKED_TYPES:
            self.problems.append(Problem("I-TYPE-UNKNOWN", None, place.start, place.end))

    def _bare_type(self, recipient: str | None) -> _Place | None:
        """The last bare word, where it may be a type; all others are unknown words."""
        kept: _Place | None = None
        if self.bare and self.type is None:
            last = self.bare[-1]
            addressed = self.grammar.harmony and recipient is not None and last.start > self.attributes["to"].start
            if addressed or last.text in CHECKED_TYPES:
                kept = last
        for place in self.bare:
            if place is not kept:
                self._report("word-unknown", place.start, place.end)
        return kept

    def _intent(self, role: str, channel: Channel | None, recipient: str | None) -> str | None:
        intent = self._value("intent")
        if intent == "preamble" and not self.grammar.preambles:
            self.extra["intent"] = intent
            intent = None
        if self.grammar.assume_preambles and intent is None and role == "assistant" and recipient is None:
            return "preamble" if channel is Channel.COMMENTARY else None
        return intent
