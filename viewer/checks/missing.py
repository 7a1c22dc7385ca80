"""Names of missing arguments, for display. They are never stored: the call is validated again to find them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from viewer.checks.calls import arguments_of
from viewer.checks.context import CheckContext, Read, TranscriptFacts
from viewer.index.messages import MessageIndex
from viewer.model.diagnostic import Diagnostic
from viewer.model.messages import Message, Span, Transcript
from viewer.reading.bodies import Decoder, read_body
from viewer.reading.document_header import profile
from viewer.reading.format import FormatTraits
from viewer.tools.declarations import Declarations


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
