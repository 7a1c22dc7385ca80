"""Messages of one JSON object, and those that its text is split into at template marks."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from viewer.formats.json.content_parts import ContentPart, part_header
from viewer.formats.json.header import default_ending
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Ending, Header, Piece
from viewer.model.visibility import is_header_safe
from viewer.reading.hidden_spans import BlockKind


class Part(Struct, frozen=True):
    """One message of an object."""

    header: Header
    ending: Ending
    pieces: list[Piece]


def split_parts(split: list[ContentPart], spoken: Header, tools: dict[str, str]) -> list[tuple[Part, list[Problem]]]:
    """Return the messages in a text that has these parts, with their problems. `spoken` is the header of the whole
    text. `tools` maps the IDs of earlier calls to their tools; calls in the text are added."""
    found: list[tuple[Part, list[Problem]]] = []
    for part in split:
        header, ending = part_header(part, spoken)
        if part.kind is BlockKind.CALL and header.call_id and header.recipient:
            tools[header.call_id] = header.recipient
        if header.role == "tool" and header.name is None:
            header = replace(header, name=tools.get(header.call_id or ""))
        found.append((Part(header, ending or default_ending(header), part.pieces), part.reports))
    return found


def first_safe(parts: list[Part], first: int = 0) -> int:
    """Return the index of the first message, from `first` on, that the end user may see, or else `first`."""
    return next((at for at in range(first, len(parts)) if is_header_safe(parts[at].header)), first)


def with_fields_of_one(parts: list[Part], header: Header, ending: Ending | None, chosen: int) -> list[Part]:
    """Return the messages of an object, only one of which keeps the intent and the extra attributes in the object's
    header, and its ending if there is one. Thoughts among the other messages lose their recipient."""
    settled: list[Part] = []
    for index, part in enumerate(parts):
        own = part.header
        if index == chosen:
            own = replace(own, intent=header.intent, extra=header.extra)
            settled.append(Part(own, ending or part.ending, part.pieces))
            continue
        own = replace(own, intent=None, extra=())
        if own.channel is Channel.ANALYSIS and part.ending is not Ending.CALL:
            own = replace(own, recipient=None, call_id=None, content_type=None, constrained=False)
        settled.append(Part(own, part.ending, part.pieces))
    return settled
