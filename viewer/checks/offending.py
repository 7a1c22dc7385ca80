"""The offending value of a diagnostic, read from the input for display and never stored.

The names of missing arguments have no span: the call is validated again to find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.checks.calls import arguments_of
from viewer.checks.context import CheckContext, Read, TranscriptFacts
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic, has_value
from viewer.model.messages import Message, Span, Transcript
from viewer.reading.bodies import Decoder, read_body
from viewer.reading.document_header import profile
from viewer.reading.format import FormatTraits
from viewer.rules.calls import W_CALL_ID_DUPLICATE, W_CALL_ID_UNKNOWN
from viewer.rules.errors import E_CALL_SCHEMA
from viewer.rules.notes import I_RECORD_UNKNOWN
from viewer.rules.structure import W_PART_UNKNOWN, W_RECORD_UNKNOWN
from viewer.tools.declarations import Declarations

LONGEST_VALUE = 40
"""The maximum length in characters. A longer offending value is truncated."""
_LONGEST_BYTES = 4 * (LONGEST_VALUE + 16)
_LONGEST_KEY = 256

_KEY_BEFORE = lazy_regex(rb'"((?:[^"\\]|\\.)*)"[ \t\r\n]*:[ \t\r\n]*\Z')
_IDS = (W_CALL_ID_DUPLICATE, W_CALL_ID_UNKNOWN)
_TYPED = (W_RECORD_UNKNOWN, I_RECORD_UNKNOWN, W_PART_UNKNOWN)
"""Rules whose diagnostics span a JSON value and name the `type` of its object."""
_LONGEST_OBJECT = 4096
_JSON_TOKEN = lazy_regex(rb'"(?:[^"\\]|\\.)*"|[{}\[\]:]')
_NAME_BEFORE = ("wrong-type", "not-in-enum")
"""Reasons whose diagnostics span the value of an argument and name the argument."""


def offending_value(diagnostic: Diagnostic, read: Read, missing: MissingArguments | None = None) -> str | None:
    """Return the unsanitized value for the `…` in the text of a diagnostic, or None if there is none.

    `missing` finds the names of missing arguments."""
    if not has_value(diagnostic.template):
        return None
    start, end = diagnostic.start, diagnostic.end
    if diagnostic.rule == E_CALL_SCHEMA and diagnostic.reason in _NAME_BEFORE:
        key = _KEY_BEFORE.search(read(max(0, start - _LONGEST_KEY), start))
        return key[1].decode("utf-8", "replace") if key else None
    if diagnostic.rule == E_CALL_SCHEMA and diagnostic.reason == "missing-argument":
        return missing.names(diagnostic) if missing else None
    if end <= start:
        return None
    if diagnostic.rule in _TYPED:
        return _type_of(start, end, read)
    value = read(start, min(end, start + _LONGEST_BYTES)).decode("utf-8", "replace")
    if diagnostic.rule in _IDS:
        value = value.removeprefix("call_id=")
    if len(value) > 1 and value[0] == value[-1] == '"':
        value = value[1:-1]
    return value or None


def _type_of(start: int, end: int, read: Read) -> str | None:
    """Return the `type` of the object that starts at this offset or earlier on the same line, or None if it has
    none."""
    data = read(start, min(end, start + _LONGEST_OBJECT))
    if not data.startswith(b"{"):
        before = read(max(0, start - _LONGEST_OBJECT), start)
        data = before[before.rfind(b"\n") + 1 :]
    value = _member(data, b'"type"')
    return value.decode("utf-8", "replace") if value else None


def _member(data: bytes, wanted: bytes) -> bytes | None:
    """Return the string value of a member of the first object, which may be cut off after that member; None if there is
    none."""
    depth, last, key, at = 0, b"", b"", 0
    for found in _JSON_TOKEN.finditer(data):
        token = found[0]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
        elif token == b":":
            key, at = last, found.end()
        elif depth == 1 and key == wanted and not data[at : found.start()].strip():
            return token[1:-1]
        last = token
        if token != b":":
            key = b""
    return None


class Declaring(Struct, frozen=True):
    """Where tools are declared: the body of a message or, in OpenChatML 0.1, a function list inside it."""

    message: int
    function_list: Span | None = None


class MissingArguments:
    """Validates calls again, against the tools declared before them, to name their missing arguments."""

    def __init__(
        self,
        index: MessageIndex,
        declaring: Sequence[Declaring],
        transcripts: Sequence[Transcript],
        formats: Mapping[str, FormatTraits],
        read: Read,
        ids: Decoder | None,
    ) -> None:
        self._index = index
        self._declaring = declaring
        self._transcripts = transcripts
        self._formats = formats
        self._read = read
        self._ids = ids
        self._known: tuple[Sequence[Declaring], Declarations] = (), Declarations()
        """The declarations that were read last, with their sources. Neighboring calls share them."""

    def names(self, diagnostic: Diagnostic) -> str | None:
        """Return the names of the missing arguments that a diagnostic reports, or None if there are none. For a call
        without a tool name, return `name`."""
        if diagnostic.message is None:
            return None
        message = self._index[diagnostic.message]
        tool = message.header.recipient
        if tool is None:
            return "name"
        case = self._case(message)
        arguments = arguments_of(case)
        if arguments is None:
            return None
        faults = self._declared_before(message).check_node(tool, arguments)
        missing = [fault for fault in faults if fault.reason == diagnostic.reason]
        here = [one.name for one in missing if case.body.source_span(one.start, one.end)[0] == diagnostic.start]
        return ", ".join(here) or None

    def _case(self, message: Message) -> CheckContext:
        transcript = self._transcripts[message.transcript - 1]
        facts = TranscriptFacts(self._formats[transcript.format], profile(transcript.header))
        return CheckContext(message, 0, read_body(message.pieces, self._read, self._ids), self._read, facts)

    def _declared_before(self, message: Message) -> Declarations:
        places = [
            place
            for place in self._declaring
            if place.message < message.number and self._index.transcript(place.message) == message.transcript
        ]
        if places != self._known[0]:
            declarations = Declarations()
            for place in places:
                self._read_place(place, declarations)
            self._known = places, declarations
        return self._known[1]

    def _read_place(self, place: Declaring, declarations: Declarations) -> None:
        if place.function_list is None:
            declarations.read(read_body(self._index[place.message].pieces, self._read, self._ids).text)
        else:
            declarations.read_function_list(self._read(*place.function_list).decode("utf-8", "replace"))


FindMissing = Callable[[Read], MissingArguments]
