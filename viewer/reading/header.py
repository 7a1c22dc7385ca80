"""Read one message header: interpret its words, recognize preambles, and select the fields for safe output."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import bounded_cache, lazy_regex
from viewer.model.diagnostic import Problem, Rule
from viewer.model.messages import Channel, Ending, Header
from viewer.reading.grammar import (
    ALL_ATTRIBUTES,
    CHANNELS,
    CHECKED_TYPES,
    ROLES,
    SPACE,
    HeaderGrammar,
    HeaderReading,
    TextGrammar,
)
from viewer.rules.calls import W_TOOL_NAME_MISSING
from viewer.rules.errors import E_PARSE_HEADER
from viewer.rules.notes import I_HARMONY_STRICT, I_TYPE_BARE, I_TYPE_UNKNOWN
from viewer.rules.structure import W_ATTRIBUTE_UNKNOWN
from viewer.syntax.characters import plain_name

NOT_TOOLS = frozenset({"user", "assistant", "all"})
_BUILT_INS = frozenset({"python", "browser"})
LONGEST_PLAUSIBLE = 512

_ROLE_WORD = rb"(?:system|developer|user|assistant|tool|python|(?:functions|browser)\.[^ \t\r\n<]+)"
_PLAUSIBLE = lazy_regex(rb"[ \t\r\n]*" + _ROLE_WORD + rb"(?![^ \t\r\n<])[ \t\r\n]*[^\r\n]*")
_PLAUSIBLE_CHANNEL = lazy_regex(rb"[ \t]*(?:analysis|commentary|final)(?:[ \t<][^\r\n]*)?")
HIDING_INTENTS = frozenset({"debug", "status"})
ITEM = re.compile(rb"<\|[A-Za-z0-9_]+\|>|<?[^ \t\r\n<]+|<")
"""A pattern for a marker or a word."""

_ATTRIBUTE = lazy_regex(rb"([A-Za-z_][A-Za-z0-9_.-]*)=(.*)", re.DOTALL)
LONGEST_NAME = 64
_RECIPIENTS = frozenset({"user", "assistant"})


def is_tool(recipient: str | None) -> bool:
    """True if a recipient names a tool."""
    return recipient is not None and recipient not in NOT_TOOLS


def full_tool_name(name: str) -> str:
    """Return the name of a tool as a recipient. A name without a dot is a function, unless the tool is built in."""
    return name if not name or "." in name or name in _BUILT_INS else f"functions.{name}"


def is_stop_expected(header: Header, ending: Ending, grammar: TextGrammar) -> bool:
    """True if a message with this header may end with this stop token. A malformed header allows any stop token."""
    if header.malformed:
        return True
    is_call = header.role == "assistant" and is_tool(header.recipient)
    if ending is Ending.CALL:
        return is_call
    if ending is Ending.RETURN:
        return header.role == "assistant" and header.channel is Channel.FINAL and not is_call
    return not (is_call and grammar.closed_by_call)


def looks_like_header(words: bytes) -> bool:
    """True if the bytes before a `<|message|>` look like a header, so the marker before them may end an open
    message."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE.fullmatch(words) is not None


def looks_like_channel(words: bytes) -> bool:
    """True if the bytes between `<|channel|>` and `<|message|>` look like the rest of a header."""
    return len(words) <= LONGEST_PLAUSIBLE and _PLAUSIBLE_CHANNEL.fullmatch(words) is not None


def split_words(words: bytes) -> list[bytes]:
    """Return the words and markers of a header."""
    return ITEM.findall(words)


def read_header(words: bytes, grammar: HeaderGrammar, *, implied: bool = False, partial: bool = False) -> HeaderReading:
    """Read the bytes between `<|start|>` and `<|message|>`.

    `implied` is True if there was no `<|start|>`, so the author is the assistant. `partial` is True if there is no
    `<|message|>`, so the body begins at the first unknown word."""
    if len(words) <= LONGEST_PLAUSIBLE:
        return _read_remembered(words, grammar, implied, partial)
    return _read(words, grammar, implied, partial)


@bounded_cache(4096)
def _read_remembered(words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> HeaderReading:
    return _read(words, grammar, implied, partial)


def _read(words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> HeaderReading:
    gathered = HeaderWords(words, grammar, implied, partial)
    gathered.collect()
    header = HeaderMeaning(gathered).header()
    malformed = any(problem.rule is E_PARSE_HEADER for problem in gathered.problems)
    rest = len(words) if gathered.rest is None else gathered.rest
    return HeaderReading(replace(header, malformed=malformed), tuple(gathered.problems), rest)


def safe_header(header: Header) -> Header:
    """Return the header with only the fields that the end user may see."""
    name = header.name
    if name is not None:
        name = plain_name(name, LONGEST_NAME) or None
    if name == header.name and not withheld_count(header):
        return header
    return replace(
        header,
        name=name,
        recipient=header.recipient if header.recipient in _RECIPIENTS else None,
        intent=_safe_intent(header),
        call_id=None,
        content_type=_safe_type(header),
        extra=(),
    )


def without_unlisted(header: Header) -> Header:
    """Return the header of a revealed message for an audience that does not see unknown content."""
    return replace(header, extra=()) if header.extra else header


def withheld_count(header: Header) -> int:
    """Return the number of fields and attributes that the end user does not see."""
    withheld = (
        header.recipient is not None and header.recipient not in _RECIPIENTS,
        header.intent != _safe_intent(header),
        header.call_id is not None,
        header.content_type is not None and _safe_type(header) is None,
    )
    return len(header.extra) + sum(withheld)


def _safe_intent(header: Header) -> str | None:
    return header.intent if header.intent == "preamble" else None


def _safe_type(header: Header) -> str | None:
    given = (header.content_type or "").lower()
    return given if given in CHECKED_TYPES else None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


class Place(Struct, frozen=True, gc=False):
    """A word and its position in the header."""

    text: str
    start: int
    end: int


class HeaderWords:
    """The words of one header, collected one by one."""

    def __init__(self, words: bytes, grammar: HeaderGrammar, implied: bool, partial: bool) -> None:
        self.words = words
        self.grammar = grammar
        self.implied = implied
        self.partial = partial
        self.role: Place | None = None
        self.channels: list[Place] = []
        self.type: Place | None = None
        self.constrained = False
        """True if there is a `<|constrain|>`."""
        self.bare: list[Place] = []
        self.attributes: dict[str, Place] = {}
        self.extra: dict[str, str] = {}
        self.problems: list[Problem] = []
        self.channel_at = 0
        """The end of the last `<|channel|>`."""
        self.awaits = "role"
        """The meaning of the next bare word: `role`, `channel`, or `type`; empty if it means nothing in particular."""
        self.rest: int | None = None

    def collect(self) -> None:
        """Read all words up to the body."""
        for match in ITEM.finditer(self.words):
            self._item(match)
            if self.rest is not None:
                break
        self._finish_awaited(len(self.words) if self.rest is None else self.rest)

    def value(self, key: str) -> str | None:
        """Return the value of an attribute, or None if the header does not have it."""
        place = self.attributes.get(key)
        return place.text if place else None

    def _item(self, match: re.Match[bytes]) -> None:
        start, end = match.span()
        item = match[0]
        if item.startswith(b"<|") and item.endswith(b"|>") and not self._escaped(start):
            self._marker(item, start, end)
        elif b"=" in item and (attribute := _ATTRIBUTE.fullmatch(item)):
            self._finish_awaited(start)
            self._attribute(_text(attribute[1]), Place(_text(attribute[2]), start, end))
        else:
            self._word(Place(_text(item), start, end))

    def _escaped(self, start: int) -> bool:
        return self.grammar.escapes and self.words[start - 1 : start] == b"<"

    def report(self, reason: str, start: int, end: int, rule: Rule = E_PARSE_HEADER) -> None:
        """Add a problem at these bytes of the header."""
        self.problems.append(Problem(rule, reason, start, end))

    def strict(self, reason: str, start: int, end: int) -> None:
        """For Harmony, add a note that the reference library reads the header differently here."""
        if self.grammar.harmony:
            self.report(reason, start, end, I_HARMONY_STRICT)

    def _marker(self, item: bytes, start: int, end: int) -> None:
        if item == b"<|channel|>" and self.grammar.channels:
            self._finish_awaited(start)
            self.awaits, self.channel_at = "channel", end
        elif item == b"<|constrain|>" and self.grammar.constrain:
            self._finish_awaited(start)
            self.constrained = True
            if self.grammar.harmony and self.words[end : end + 1].strip(SPACE) == b"" and end < len(self.words):
                self.strict("constrain-space", end, len(self.words) - len(self.words[end:].lstrip(SPACE)))
            self.awaits = "type"
        else:
            self.report("marker-unknown", start, end)

    def _finish_awaited(self, at: int) -> None:
        """Report a missing channel or type."""
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
        return replace(word, text=word.text.strip()) if self.grammar.harmony else word

    def _may_be_type(self, word: Place) -> bool:
        return word.text in CHECKED_TYPES and "to" in self.attributes and self.type is None and not self.bare

    def _set_type(self, word: Place) -> None:
        if self.type is not None and self.type.text != word.text:
            self.report("attribute-repeated", word.start, word.end)
        self.type = word

    def _attribute(self, key: str, place: Place) -> None:
        known = self.grammar.attributes
        if key not in known and not (self.grammar.harmony and key in ALL_ATTRIBUTES):
            if key not in self.grammar.ignored:
                self.problems.append(Problem(W_ATTRIBUTE_UNKNOWN, None, place.start, place.end))
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


def is_tool_name(word: str) -> bool:
    """True if a role word names a tool. The message is then the reply of that tool."""
    space, _, name = word.partition(".")
    return word == "python" or (space in ("functions", "browser") and name != "")


class HeaderMeaning:
    """Interprets the words of a header and reports contradictions."""

    def __init__(self, words: HeaderWords) -> None:
        self._in = words

    def header(self) -> Header:
        """Return the header that the words describe."""
        role, name = self._role()
        recipient = self._in.value("to")
        content_type, constrained = self._content_type(recipient)
        channel, given = self._channel()
        intent = self._intent(role, channel, recipient, content_type)
        return Header(
            role=role,
            name=name,
            recipient=recipient,
            channel=channel,
            channel_given=given,
            intent=intent,
            call_id=self._in.value("call_id"),
            content_type=content_type,
            constrained=constrained,
            extra=tuple(field for field in self._in.extra.items() if field[0] not in self._in.grammar.ignored),
            complete=not self._in.partial,
        )

    def _role(self) -> tuple[str, str | None]:
        name = self._in.value("name")
        if self._in.role is None or not self._in.role.text:
            if self._in.implied:
                return "assistant", name
            self._in.report("role-missing", 0, 0)
            return "", name
        role = self._in.role
        word = role.text
        if word in ROLES:
            return word, self._checked_name(word, name)
        if not is_tool_name(word) and not (self._in.grammar.harmony and self._in.value("to") == "assistant"):
            self._in.report("role-unknown", role.start, role.end)
            return word, name
        if self._in.value("to") != "assistant":
            self._in.strict("reply-unaddressed", role.start, role.end)
        if name is not None and name != word:
            place = self._in.attributes["name"]
            self._in.report("attribute-repeated", place.start, place.end)
        return "tool", word

    def _checked_name(self, role: str, name: str | None) -> str | None:
        if role != "tool" or name is not None:
            return name
        if self._in.grammar.harmony:
            return "tool"
        if self._in.grammar.name_required and self._in.role is not None:
            self._in.problems.append(Problem(W_TOOL_NAME_MISSING, None, self._in.role.end, self._in.role.end))
        return None

    def _channel(self) -> tuple[Channel | None, str | None]:
        if not self._in.channels:
            return Channel.FINAL, None
        kept = self._in.channels[-1]
        for place in self._in.channels:
            if place.text in CHANNELS:
                kept = place
            elif place.text:
                self._in.report("channel-unknown", place.start, place.end)
        for place in self._in.channels[1:]:
            self._in.report("channel-repeated", place.start, place.end)
        return CHANNELS.get(kept.text), kept.text

    def _content_type(self, recipient: str | None) -> tuple[str | None, bool]:
        bare = self._bare_type(recipient)
        if self._in.type is not None:
            if recipient is None:
                self._in.strict("constrain-unaddressed", self._in.type.start, self._in.type.end)
            self._note_unknown_type(self._in.type)
            return self._in.type.text, True
        if bare is None:
            return self._in.value("content_type"), False
        if recipient is None:
            self._in.strict("constrain-unaddressed", bare.start, bare.end)
        if bare.text == "json":
            self._in.problems.append(Problem(I_TYPE_BARE, None, bare.start, bare.end))
        self._note_unknown_type(bare)
        return bare.text, False

    def _note_unknown_type(self, place: Place) -> None:
        if place.text.lower() not in CHECKED_TYPES:
            self._in.problems.append(Problem(I_TYPE_UNKNOWN, None, place.start, place.end))

    def _bare_type(self, recipient: str | None) -> Place | None:
        """Return the last bare word if it may be a type, otherwise None. Report all other bare words as unknown."""
        kept: Place | None = None
        if self._in.bare and self._in.type is None:
            last = self._in.bare[-1]
            addressed = (
                self._in.grammar.harmony and recipient is not None and last.start > self._in.attributes["to"].start
            )
            if addressed or last.text in CHECKED_TYPES:
                kept = last
        for place in self._in.bare:
            if place is not kept:
                self._in.report("word-unknown", place.start, place.end)
        return kept

    def _intent(
        self, role: str, channel: Channel | None, recipient: str | None, content_type: str | None
    ) -> str | None:
        intent = self._in.value("intent")
        if intent is None and self._in.extra.get("intent") in HIDING_INTENTS:
            intent = self._in.extra.pop("intent")  # also hides the message in formats without intents
        if intent == "preamble" and not self._in.grammar.preambles:
            self._in.extra["intent"] = intent
            intent = None
        may_assume = self._in.grammar.assume_preambles and intent is None and role == "assistant" and recipient is None
        if may_assume and channel is Channel.COMMENTARY and not self._is_typed(content_type):
            return "preamble"
        return intent

    def _is_typed(self, content_type: str | None) -> bool:
        """True if the header marks the body as data, such as the arguments of a call."""
        types = {content_type, self._in.value("content_type")}
        return self._in.constrained or not types <= {None, "text", "markdown"}
