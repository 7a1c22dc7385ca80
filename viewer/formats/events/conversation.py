"""Read conversation items outside responses: what the user typed or said, as in the Realtime API."""

from __future__ import annotations

from collections import deque

from viewer.formats.events.objects import EventObject, has_text, member_object, repeated_key, text_of
from viewer.formats.hiding import is_flagged
from viewer.formats.json.fields import piece_if_any
from viewer.model.messages import Channel, Coding, Ending, Header, Kind, Piece
from viewer.reading.recorder import Recorder
from viewer.rules.structure import W_PART_UNKNOWN, W_RECORD_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode

MOST_ITEMS = 4096
"""The maximum number of items that a later event may repeat."""
_USER = Header("user", channel=Channel.FINAL)
_INSTRUCTION = Header("system", channel=Channel.FINAL, kind=Kind.INSTRUCTION)
_UNKNOWN = Header("", channel=Channel.COMMENTARY, channel_given="commentary", kind=Kind.UNKNOWN)
_TEXTS = {"input_text": "text", "text": "text", "input_audio": "transcript", "audio": "transcript"}
"""The member that contains the text of a part, by the type of the part."""
MOST_SENT = 64
"""The maximum number of client messages that the server may still repeat."""
_INJECTED = Header("user", channel=Channel.FINAL, kind=Kind.INJECTED)
_DIRECTED = ("channel", "phase", "recipient", "to", "intent", "thought")
"""Members that hide a message in other formats."""


class ConversationItems:
    """Reads items, each of which may occur in several events."""

    def __init__(self, record: Recorder) -> None:
        self._record = record
        self._seen: dict[tuple[str, str], None] = {}
        """The parts that have become messages, by item ID."""
        self._answers: dict[str, None] = {}
        """The IDs of items that belong to responses."""
        self._sent: deque[tuple[str, str]] = deque(maxlen=MOST_SENT)
        """The roles and text of messages that a client sent without IDs. The server repeats them in this order."""
        self._is_sent = False
        """True while an item from a client is being read."""

    def note_answer(self, item: JsonNode) -> None:
        """Remember an item of a response, whose text comes in separate events."""
        id = text_of(item.get("id"))
        if id is not None:
            self._answers[id] = None
            if len(self._answers) > MOST_ITEMS:
                del self._answers[next(iter(self._answers))]

    def inject(self, event: EventObject, items: JsonNode) -> None:
        """Add the content of a request that is only for the model."""
        self._add(event, ("", ""), _INJECTED, items)

    def take(self, event: EventObject, item: JsonNode, *, is_sent: bool = False) -> None:
        """Add the new content of an item. `is_sent` is True if a client sent it."""
        self._is_sent = is_sent
        id = text_of(item.get("id")) or ""
        if id in self._answers:
            return
        role, kind = text_of(item.get("role")), text_of(item.get("type"))
        content = item.get("content")
        parts = content.items if content is not None and content.kind is JsonKind.ARRAY else []
        if repeated_key((item,)) or is_flagged(item) or any(item.get(name) is not None for name in _DIRECTED):
            self._hide(event, id, item)
        elif kind == "message" and role == "user":
            for index, part in enumerate(parts):
                self._part(event, (id, str(index)), part)
        elif kind == "message" and role == "system":
            for index, part in enumerate(parts):
                self._add(event, (id, str(index)), _INSTRUCTION, part.get("text") or part)
        elif kind == "function_call_output":
            call_id = text_of(item.get("call_id"))
            header = Header(
                "tool", channel=Channel.COMMENTARY, channel_given="commentary", call_id=call_id, kind=Kind.REPLY
            )
            self._add(event, (id, "output"), header, item.get("output") or item)
        elif has_text(item):
            self._hide(event, id, item)

    def transcript(self, event: EventObject) -> None:
        """Add the transcript of what the user said."""
        self._is_sent = False
        value = event.get("transcript")
        place = event.text("item_id") or "", event.text("content_index") or "0"
        if value is None or value.kind is not JsonKind.STRING or any(map(is_flagged, event.layers)):
            self._hide(event, place[0], event.layers[0])
            return
        self._add(event, place, _USER, value)

    def _part(self, event: EventObject, place: tuple[str, str], part: JsonNode) -> None:
        kind = text_of(part.get("type")) or ""
        value = part.get(_TEXTS[kind]) if kind in _TEXTS else None
        if value is not None and value.kind is JsonKind.NULL:
            value = None
        if repeated_key((part,)) or is_flagged(part):
            value, kind = None, ""
        if kind == "input_image":
            self._add(event, place, _USER, part, label=True)
        elif value is not None and value.kind is JsonKind.STRING:
            self._add(event, place, _USER, value)
        elif kind not in _TEXTS or value is not None:
            number = self._add(event, place, _UNKNOWN, part)
            if number:
                self._record.report(W_PART_UNKNOWN, None, part.start, part.end, number)

    def _hide(self, event: EventObject, id: str, item: JsonNode) -> None:
        number = self._add(event, (id, "item"), _UNKNOWN, item)
        if number:
            self._record.report(W_RECORD_UNKNOWN, None, item.start, item.end, number)

    def _add(
        self, event: EventObject, place: tuple[str, str], header: Header, value: JsonNode, *, label: bool = False
    ) -> int:
        """Add a message, unless this part of the item already is one. Return its number, or 0 if no message was
        added."""
        piece = Piece(value.start, value.end, Coding.LABEL) if label else piece_if_any(value)
        if piece is None or (place[0] and place in self._seen):
            return 0
        self._seen[place] = None
        if len(self._seen) > MOST_ITEMS:
            del self._seen[next(iter(self._seen))]
        sent = header.role, text_of(value) or ""
        if not self._is_sent and place[0] and sent in self._sent:
            self._sent.remove(sent)
            return 0
        if self._is_sent and not place[0] and sent[1]:
            self._sent.append(sent)
        time = event.time
        number = self._record.add(header, Ending.END, event.span, [piece], time_ms=time.ms, time_at=time.at)
        for problem in time.problems:
            self._record.report(problem.rule, problem.reason, problem.start, problem.end, number)
        return number


def item_of(event: EventObject) -> JsonNode | None:
    """Return the item of an event, or None if there is none."""
    return next((found for layer in event.layers if (found := member_object(layer, "item"))), None)
