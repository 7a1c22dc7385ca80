"""Write messages of any format as OpenChatML 2.2, 2.0, or Harmony, with a sentence for each loss.

Canonical 2.x has a document header in the layout of `write_yaml`, one message per line, attributes in the order of the
specification's examples, and a final newline. Canonical Harmony is what the reference renderer writes: messages without
separators, and `<|constrain|>` after a space.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from viewer.errors import RefusedError
from viewer.formats import FORMATS
from viewer.formats.text.openchatml import grammar_of_version
from viewer.formats.text.quoted_marks import live_body, read_source_text
from viewer.formats.writing import Writable, WritableTranscript, Writer
from viewer.reading.bodies import THOUGHT_KINDS
from viewer.reading.format import Channels
from viewer.reading.grammar import ALL_ATTRIBUTES, CHECKED_TYPES
from viewer.reading.header import HIDING_INTENTS, full_tool_name, is_tool
from viewer.reading.template_marks import ESCAPABLE_MARKS, MARK
from viewer.syntax.yaml_writer import write_yaml

_STOPS = {"end": "<|end|>", "return": "<|return|>", "call": "<|call|>", "open": "", "implied": "<|end|>"}
_VALUE = re.compile(r"[^\s<\x00-\x1f\x7f]+")
_NINE = "start|channel|message|call|constrain|return|end|literal|endliteral"
_TOKEN = re.compile(rf"<\|(?:{_NINE})\|>")
_THOUGHTS = "|".join(f"{edge}_{kind}" for edge in ("start", "end") for kind in THOUGHT_KINDS)
_UNWRITABLE = "a field with whitespace, `<`, or control characters was omitted"
_FILE_NAME = re.compile(r"file ([1-9][0-9]*)")
_THOUGHT_MARK = re.compile(rf"<\|(?:{_THOUGHTS})\|>")
_TAG = rb"(?:<|\[)(?=/?[Tt][Hh][Ii][Nn][Kk])"
_OF_TEMPLATES = b"|".join(map(re.escape, ESCAPABLE_MARKS))
_MARK = re.compile(
    rb"(?P<token>%b)|(?P<thought>%b)|(?P<template>%b)|(?P<bare>%b|%b)"
    % (_TOKEN.pattern.encode(), _THOUGHT_MARK.pattern.encode(), _OF_TEMPLATES, MARK.pattern, _TAG)
)
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


class Target(Struct, frozen=True):
    """Capabilities of one text format."""

    name: str
    title: str
    attributes: tuple[str, ...]
    """The attributes besides `to` and `name`."""
    header: str
    """A document header with only the version; empty if the format has no header."""
    constrain: str
    """The text before the type; empty if the format has no types."""
    tokens: re.Pattern[str]
    separator: str
    escapes: bool = False
    named_roles: bool = False
    """True if the role of a tool reply is the name of the tool."""
    names: bool = True
    keeps_return: bool = True
    """True if any final message may end with `<|return|>`; False if only the last one may."""


_TOKEN_2_0 = re.compile(r"<\|(?:start|channel|message|call|return|end)\|>")
_TOKEN_HARMONY = re.compile(r"<\|(?:start|channel|message|call|return|end|constrain)\|>")
TO_2_2 = Target(
    "openchatml-2.2",
    "OpenChatML 2.2",
    ("call_id", "intent", "content_type"),
    "version: 2.2\n",
    "<|constrain|>",
    _TOKEN,
    "\n",
    True,
)
TO_2_0 = Target("openchatml-2.0", "OpenChatML 2.0", (), "version: 2.0\n", "", _TOKEN_2_0, "\n", named_roles=True)
TO_HARMONY = Target(
    "harmony",
    "Harmony",
    (),
    "",
    " <|constrain|>",
    _TOKEN_HARMONY,
    "",
    named_roles=True,
    names=False,
    keeps_return=False,
)


def writer_for(target: Target) -> Writer:
    """Return the writer for this format."""

    def write(transcripts: Sequence[WritableTranscript], messages: Iterable[Writable]) -> tuple[str, list[str]]:
        return _TextWriter(target, transcripts).write(list(messages))

    return write


class _TextWriter:
    """Writes one document, and counts the losses."""

    def __init__(self, target: Target, transcripts: Sequence[WritableTranscript]) -> None:
        self._target = target
        self._transcripts = transcripts
        is_required = FORMATS[target.name].channel_required
        self._to_complete = {one.number for one in transcripts if is_required and not _writes_channels(one.format)}
        """The transcripts whose messages get the channels that the target needs."""
        self._lost: Counter[str] = Counter()
        self._needs_version = False
        """True if some text would be read differently in other versions."""

    def write(self, messages: list[Writable]) -> tuple[str, list[str]]:
        parts: list[str] = []
        current = 0
        for position, message in enumerate(messages):
            if message.transcript != current:
                current = message.transcript
                parts += self._document_headers(current, bool(parts))
            parts.append(self._message(message, position == len(messages) - 1))
        if not messages:
            parts += self._document_headers(len(self._transcripts), False)
        if self._needs_version and parts[0].startswith("<|start|>"):
            parts.insert(0, self._target.header)
        return "".join(parts), self._sentences()

    def _document_headers(self, number: int, again: bool) -> list[str]:
        header = self._values(number)
        if not self._target.header:
            self._lost["the document header has no equivalent"] += bool(header)
            return []
        if not header:
            return ["---\n"] if again else []
        header = self._of_version(header)
        return [("---\n" if again and "version" not in list(header)[:1] else "") + write_yaml(header)]

    def _of_version(self, header: dict[str, object]) -> dict[str, object]:
        """Return the header with a version from which a reader detects the right format."""
        given = header.get("version")
        known = isinstance(given, str) and grammar_of_version(given).name == self._target.name
        version = self._target.header.split()[1]
        return header if known else {"version": version} | header | {"version": version}

    def _values(self, number: int) -> dict[str, object]:
        """Return the header as it was read, or the disclosed part of it."""
        for transcript in self._transcripts:
            if transcript.number != number:
                continue
            if transcript.header is not None:
                return transcript.header
            stated = {"version": transcript.version, "model": transcript.model}
            return {key: value for key, value in stated.items() if value is not None}
        return {}

    def _sentences(self) -> list[str]:
        count = self._lost.items()
        return [f"{self._target.title}: {what} ({number} {_plural(number)})" for what, number in count if number]

    def _message(self, message: Writable, last: bool) -> str:
        words = [*self._role(message), *self._extra(message)]
        header = " ".join(words) + self._channel(message) + self._type(message)
        stop = self._stop(message, last)
        return f"<|start|>{header}<|message|>{self._body(message)}{stop}{self._target.separator if stop else ''}"

    def _role(self, message: Writable) -> list[str]:
        """Return the role and attributes, in the order of the specification's examples."""
        role, name = message.role, message.name
        if role == "tool" and self._target.named_roles and name:
            role, name = (name if name == "tool" else full_tool_name(name)), None
        if name is not None and _FILE_NAME.fullmatch(name) and self._target.names:
            self._lost["a name was written with `_` in place of its space"] += 1
            name = name.replace(" ", "_")
        recipient = message.recipient
        if recipient is None and message.role == "tool" and self._completes(message):
            recipient = "assistant"
        said = {"to": recipient, "name": name, "call_id": message.call_id, "intent": message.intent}
        said["content_type"] = None if self._says_type(message) else message.content_type
        order = ("name", "call_id", "to") if message.role == "tool" else ("to", "call_id", "name")
        words = [self._checked(message, role)]
        for key in (*order, "intent", "content_type"):
            value = said[key]
            keeps_hidden = key == "intent" and value in HIDING_INTENTS and self._target.names
            if value is not None and (keeps_hidden or self._may_say(key)):
                words.append(f"{key}={self._checked(message, value)}")
        return words

    def _may_say(self, key: str) -> bool:
        known = key == "to" or (key == "name" and self._target.names) or key in self._target.attributes
        if not known:
            self._lost[f"{key.replace('_', ' ')} has no equivalent"] += 1
        return known

    def _extra(self, message: Writable) -> list[str]:
        if not message.extra:
            return []
        if not self._target.names:
            self._lost["unknown attributes have no equivalent"] += 1
            return []
        words = []
        for key, value in message.extra.items():
            if key in ("to", "name", *self._target.attributes):  # it had no effect in the source
                self._lost["an attribute would mean something else"] += 1
            else:
                if not _KEY.fullmatch(key) or (value and not _VALUE.fullmatch(value)):
                    self._lost[_UNWRITABLE] += 1
                    continue
                self._needs_version |= key in ALL_ATTRIBUTES
                words.append(f"{key}={value}")
        return words

    def _channel(self, message: Writable) -> str:
        given = message.channel_given
        if given is None and self._completes(message):
            given = "commentary" if message.role == "tool" else "final"
        return "" if given is None else f"<|channel|>{self._checked(message, given)}" if given else "<|channel|>"

    def _completes(self, message: Writable) -> bool:
        """True if the target needs a channel that the format of the source cannot write."""
        if message.transcript not in self._to_complete:
            return False
        return message.role == "tool" or (message.role == "assistant" and message.visible)

    def _says_type(self, message: Writable) -> bool:
        """True if the type comes after the channel instead of being an attribute."""
        if message.content_type is None:
            return False
        if message.constrained:
            return bool(self._target.constrain)
        bare = self._target.name == "harmony" and is_tool(message.recipient)
        return bare and message.content_type in CHECKED_TYPES

    def _type(self, message: Writable) -> str:
        if message.content_type is None or not self._says_type(message):
            return ""
        kind = self._checked(message, message.content_type)
        return f"{self._target.constrain}{kind}" if message.constrained else f" {kind}"

    def _checked(self, message: Writable, value: str) -> str:
        if not _VALUE.fullmatch(value):
            raise RefusedError(
                f"message {message.number} has a header value that {self._target.title} cannot represent "
                "(empty, or with whitespace, `<`, or a control character)"
            )
        return value

    def _body(self, message: Writable) -> str:
        if self._target.escapes:
            body = _as_written(message) or _escaped(message)
            self._needs_version |= body != message.body
            return body
        if self._target.tokens.search(message.body):
            raise RefusedError(
                f"message {message.number} has a control token in its body, which {self._target.title} cannot escape; "
                "--to openchatml-2.2 can"
            )
        return message.body

    def _stop(self, message: Writable, last: bool) -> str:
        ending = message.ending
        if (ending == "open" and not last) or ending == "implied":
            self._lost["the ending of the message has no equivalent"] += 1
            return "<|end|>"
        if ending == "return" and not self._target.keeps_return and not last:
            return "<|end|>"
        return _STOPS[ending]


def _writes_channels(format: str) -> bool:
    return FORMATS[format].channels is Channels.WRITTEN


def _as_written(message: Writable) -> str | None:
    """Return the body as in the source, or None if it would be read differently, contains a control token that takes
    effect, or changes the meaning of the text after it."""
    text = message.source_text
    if text is None or text.endswith("<"):
        return None
    body = read_source_text(text)
    tokens = (found.span() for found in _MARK.finditer(body.data) if found["token"])
    if body.text != message.body or any(body.is_live(*span) for span in tokens):
        return None
    is_closed = read_source_text(text + " ").runs[-1].live
    return text if is_closed else None


def _escaped(message: Writable) -> str:
    """Return the body with its control tokens escaped. Other marks are also escaped unless they hide text."""
    body = read_source_text(message.source_text) if message.source_text is not None else None
    if body is None or body.text != message.body:
        body = live_body(message.body)
    hides_thoughts = message.role == "assistant" and message.visible
    parts: list[bytes] = []
    at = 0
    for found in _MARK.finditer(body.data):
        text = body.data[at : found.start()]
        at = found.end()
        is_live = body.is_live(*found.span())
        counts = bool(found["template"]) or (bool(found["thought"]) and hides_thoughts)
        if not found["bare"]:
            parts += [_closed_edge(text), found[0]] if counts and is_live else [text, b"<", found[0]]
        elif message.visible and not is_live:
            bare = text.rstrip(b"<")
            parts += [bare, _literal(text[len(bare) :] + found[0])]
        else:
            parts += [text, found[0]]
    parts.append(_closed_edge(body.data[at:]))
    return b"".join(parts).decode("utf-8", "replace")


def _closed_edge(text: bytes) -> bytes:
    """Return the text with a trailing `<` moved into a literal block so that it does not escape the next token."""
    bare = text.rstrip(b"<")
    return text if bare == text else bare + _literal(text[len(bare) :])


def _literal(text: bytes) -> bytes:
    return b"<|literal|>" + text + b"<|endliteral|>"


def _plural(number: int) -> str:
    return "time" if number == 1 else "times"


WRITE_2_2 = writer_for(TO_2_2)
WRITE_2_0 = writer_for(TO_2_0)
WRITE_HARMONY = writer_for(TO_HARMONY)
