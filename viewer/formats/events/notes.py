"""The content of a response besides its items: instructions, errors, and why it is incomplete."""

from __future__ import annotations

from viewer.formats.events.items import response_of
from viewer.formats.events.objects import EventObject, member_object, text_of
from viewer.formats.json.fields import piece_if_any
from viewer.formats.tables.model import EventTable
from viewer.model.messages import Channel, Ending, Header, Kind
from viewer.reading.recorder import Recorder
from viewer.rules.run import W_RUN_ERROR, W_RUN_INCOMPLETE
from viewer.syntax.json_text import JsonKind, JsonNode


class ResponseNotes:
    """Writes the instructions and errors of a response as hidden messages, and reports why it failed or is
    incomplete."""

    def __init__(self, record: Recorder, table: EventTable) -> None:
        self._record = record
        self._table = table
        self._instructions: set[str] = set()
        """The instructions that have been written; each event repeats them."""

    def response(self, event: EventObject) -> None:
        """Write the instructions in an event's response once and report its errors."""
        response = response_of(event)
        if response is None:
            return
        self.instructions(event, response)
        error = member_object(response, "error")
        if error is not None:
            self.error(event, error)
        details = member_object(response, "incomplete_details")
        reason = details.get("reason") if details else None
        if reason is not None and reason.kind is JsonKind.STRING:
            rule, why = self._table.incomplete.get(reason.text, (W_RUN_INCOMPLETE, "stopped"))
            self._record.report(rule, why, reason.start, reason.end)

    def instructions(self, event: EventObject, holder: JsonNode) -> None:
        """Write the instructions in an object, but only once."""
        given = holder.get("instructions")
        if given is not None and piece_if_any(given) and given.text not in self._instructions:
            self._instructions.add(given.text)
            self._write(Header("system", channel=Channel.FINAL, kind=Kind.INSTRUCTION), event, given)

    def error(self, event: EventObject, error: JsonNode) -> None:
        """Report an error. Its text becomes a hidden message."""
        code = text_of(error.get("code")) or text_of(error.get("type")) or ""
        self._record.start_if_none(event.span[0])
        self._record.report(W_RUN_ERROR, self._table.errors.get(code, "unknown"), error.start, error.end)
        text = error.get("message") or error
        header = Header("system", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.NOTICE)
        self._write(header, event, text)

    def _write(self, header: Header, event: EventObject, text: JsonNode) -> None:
        piece = piece_if_any(text)
        if piece is not None:
            time = event.time
            self._record.add(header, Ending.END, event.span, [piece], time_ms=time.ms, time_at=time.at)
