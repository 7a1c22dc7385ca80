"""What the words of a header mean: who speaks to whom, on which channel, in which type."""

from __future__ import annotations

from viewer.model.messages import Channel, Header
from viewer.reading.grammar import CHECKED_TYPES, ROLES, Problem
from viewer.reading.header_words import HeaderWords, Place

HIDING_INTENTS = frozenset({"debug", "status"})
_CHANNELS = {channel.value: channel for channel in Channel}


def is_tool_name(word: str) -> bool:
    """Whether a role word names a tool whose reply this is."""
    space, _, name = word.partition(".")
    return word == "python" or (space in ("functions", "browser") and name != "")


class HeaderMeaning:
    """Draws the conclusions, and reports what does not go together."""

    def __init__(self, words: HeaderWords) -> None:
        self._in = words

    def header(self) -> Header:
        """The header that the words make."""
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
            extra=tuple(self._in.extra.items()),
            complete=not self._in.partial,
        )

    def _role(self) -> tuple[str, str | None]:
        name = self._in.value("name")
        if self._in.role is None or not self._in.role.text:
            if self._in.implied:
                return "assistant", name
            self._in.report("role-missing", 0, 0)
            return "", name
        word, start, end = self._in.role
        if word in ROLES:
            return word, self._checked_name(word, name)
        if not is_tool_name(word) and not (self._in.grammar.harmony and self._in.value("to") == "assistant"):
            self._in.report("role-unknown", start, end)
            return word, name
        if self._in.value("to") != "assistant":
            self._in.strict("reply-unaddressed", start, end)
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
            self._in.problems.append(Problem("W-TOOL-NAME-MISSING", None, self._in.role.end, self._in.role.end))
        return None

    def _channel(self) -> tuple[Channel | None, str | None]:
        if not self._in.channels:
            return Channel.FINAL, None
        kept = self._in.channels[-1]
        for place in self._in.channels:
            if place.text in _CHANNELS:
                kept = place
            elif place.text:
                self._in.report("channel-unknown", place.start, place.end)
        for place in self._in.channels[1:]:
            self._in.report("channel-repeated", place.start, place.end)
        return _CHANNELS.get(kept.text), kept.text

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
            self._in.problems.append(Problem("I-TYPE-BARE", None, bare.start, bare.end))
        self._note_unknown_type(bare)
        return bare.text, False

    def _note_unknown_type(self, place: Place) -> None:
        if place.text.lower() not in CHECKED_TYPES:
            self._in.problems.append(Problem("I-TYPE-UNKNOWN", None, place.start, place.end))

    def _bare_type(self, recipient: str | None) -> Place | None:
        """The last bare word, where it may be a type; all others are unknown words."""
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
            intent = self._in.extra.pop("intent")  # hides in dialects without intents, too
        if intent == "preamble" and not self._in.grammar.preambles:
            self._in.extra["intent"] = intent
            intent = None
        may_assume = self._in.grammar.assume_preambles and intent is None and role == "assistant" and recipient is None
        if may_assume and channel is Channel.COMMENTARY and not self._is_typed(content_type):
            return "preamble"
        return intent

    def _is_typed(self, content_type: str | None) -> bool:
        """True if the header marks the body as data, as that of a call."""
        types = {content_type, self._in.value("content_type")}
        return self._in.constrained or not types <= {None, "text", "markdown"}
