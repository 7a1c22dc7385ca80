"""The words of a message header, gathered one by one: the role, channels, a type, attributes, and bare words."""

from __future__ import annotations

import re
from dataclasses import field
from typing import NamedTuple

from viewer.reading.grammar import ALL_ATTRIBUTES, CHECKED_TYPES, ROLES, HeaderGrammar, Problem
from viewer.values import mutable

ITEM = re.compile(rb"<\|[A-Za-z0-9_]+\|>|<?[^ \t\r\n<]+|<")
"""A marker or a word."""

_ATTRIBUTE = re.compile(rb"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
_SPACE = b" \t\r\n"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class Place(NamedTuple):
    """A word and where it stands in the header."""

    text: str
    start: int
    end: int


@mutable
class HeaderWords:
    """One header while it is read, word by word."""

    words: bytes
    grammar: HeaderGrammar
    implied: bool
    partial: bool
    role: Place | None = None
    channels: list[Place] = field(default_factory=list)
    type: Place | None = None
    constrained: bool = False
    """There is a `<|constrain|>`."""
    bare: list[Place] = field(default_factory=list)
    attributes: dict[str, Place] = field(default_factory=dict)
    extra: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    channel_at: int = 0
    """The end of the last `<|channel|>`."""
    awaits: str = "role"
    """What the next bare word is: `role`, `channel`, `type`, or empty for nothing in particular."""
    rest: int | None = None

    def collect(self) -> None:
        """Read all words, or those before the rest."""
        for match in ITEM.finditer(self.words):
            self._item(match)
            if self.rest is not None:
                break
        self._finish_awaited(len(self.words) if self.rest is None else self.rest)

    def value(self, key: str) -> str | None:
        """What an attribute was given."""
        place = self.attributes.get(key)
        return place.text if place else None

    def _item(self, match: re.Match[bytes]) -> None:
        start, end = match.span()
        item = match[0]
        if item.startswith(b"<|") and item.endswith(b"|>") and not self._escaped(start):
            self._marker(item, start, end)
        elif attribute := _ATTRIBUTE.fullmatch(item):
            self._finish_awaited(start)
            self._attribute(_text(attribute[1]), Place(_text(attribute[2]), start, end))
        else:
            self._word(Place(_text(item), start, end))

    def _escaped(self, start: int) -> bool:
        return self.grammar.escapes and self.words[start - 1 : start] == b"<"

    def report(self, reason: str, start: int, end: int, code: str = "E-PARSE-HEADER") -> None:
        """Something is wrong at these bytes of the header."""
        self.problems.append(Problem(code, reason, start, end))

    def strict(self, reason: str, start: int, end: int) -> None:
        """Something that the reference library of Harmony reads otherwise."""
        if self.grammar.harmony:
            self.report(reason, start, end, "I-HARMONY-STRICT")

    def _marker(self, item: bytes, start: int, end: int) -> None:
        if item == b"<|channel|>" and self.grammar.channels:
            self._finish_awaited(start)
            self.awaits, self.channel_at = "channel", end
        elif item == b"<|constrain|>" and self.grammar.constrain:
            self._finish_awaited(start)
            self.constrained = True
            if self.grammar.harmony and self.words[end : end + 1].strip(_SPACE) == b"" and end < len(self.words):
                self.strict("constrain-space", end, len(self.words) - len(self.words[end:].lstrip(_SPACE)))
            self.awaits = "type"
        else:
            self.report("marker-unknown", start, end)

    def _finish_awaited(self, at: int) -> None:
        """Something else comes where a channel or a type was due."""
        if self.awaits == "channel":
            self.report("channel-empty", at, at)
            self.channels.append(Place("", at, at))
        elif self.awaits == "type":
            self.report("attribute-empty", at, at)
        self.awaits = ""

    def _word(self, word: Place) -> None:
        if self.awaits == "channel":
            self.channels.append(word)
            if word.start > self.channel_at:
                self.strict("channel-space", self.channel_at, word.start)
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

    def _stripped(self, word: Place) -> Place:
        return word._replace(text=word.text.strip()) if self.grammar.harmony else word

    def _may_be_type(self, word: Place) -> bool:
        return word.text in CHECKED_TYPES and "to" in self.attributes and self.type is None and not self.bare

    def _set_type(self, word: Place) -> None:
        if self.type is not None and self.type.text != word.text:
            self.report("attribute-repeated", word.start, word.end)
        self.type = word

    def _attribute(self, key: str, place: Place) -> None:
        known = self.grammar.attributes
        if key not in known and not (self.grammar.harmony and key in ALL_ATTRIBUTES):
            self.problems.append(Problem("W-ATTRIBUTE-UNKNOWN", None, place.start, place.end))
            self._keep_extra(key, place)
            return
        if key not in known:
            self.strict("attribute", place.start, place.end)
        if not place.text:
            self.report("attribute-empty", place.start, place.end)
            return
        before = self.attributes.get(key)
        if before is None:
            self.attributes[key] = place
            if self.type is not None and key == "to":
                self.strict("attribute", place.start, place.end)
        elif before.text != place.text:
            self.report("attribute-repeated", place.start, place.end)
        else:
            self.strict("attribute", place.start, place.end)

    def _keep_extra(self, key: str, place: Place) -> None:
        if self.extra.setdefault(key, place.text) != place.text:
            self.report("attribute-repeated", place.start, place.end)
