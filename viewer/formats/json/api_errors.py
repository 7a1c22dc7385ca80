"""Read API errors that were received instead of a response: in the lines of a batch, and as the bodies of failed
requests."""

from __future__ import annotations

from viewer.formats.json.fields import piece_of
from viewer.formats.tables.events import ERRORS
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Ending, Header, Kind, Piece
from viewer.reading.recorder import Recorder
from viewer.rules.run import W_RUN_ERROR
from viewer.syntax.json_text import JsonKind, JsonNode

_PLACES = (("error",), ("response", "error"), ("response", "body", "error"), ("body", "error"))
_NOTICE = Header(
    "system",
    channel=Channel.COMMENTARY,
    channel_given=Channel.COMMENTARY.value,
    kind=Kind.NOTICE,
)


def find_error(node: JsonNode) -> JsonNode | None:
    """Return the error in an object without messages, or None if there is none."""
    if node.kind is not JsonKind.OBJECT:
        return None
    for place in _PLACES:
        value: JsonNode | None = node
        for key in place:
            value = value.get(key) if value is not None and value.kind is JsonKind.OBJECT else None
        if value is not None and value.kind is JsonKind.OBJECT and _text(value) is not None:
            return value
        if value is not None and place == ("error",) and value.kind is JsonKind.STRING and value.text:
            return value if len(node.members) == 1 or is_batch_line(node) else None
    return None


def is_batch_line(node: JsonNode) -> bool:
    """True for a line of batch results, even without a response."""
    return (
        node.kind is JsonKind.OBJECT
        and node.get("custom_id") is not None
        and (node.get("response") is not None or node.get("error") is not None)
    )


def add_error(record: Recorder, node: JsonNode, error: JsonNode) -> None:
    """Add the text of an error as a hidden notice and report the error."""
    text = _text(error) or error
    pieces: list[Piece] = [piece_of(text)]
    number = record.add(_NOTICE, Ending.END, (node.start, node.end), pieces)
    problem = _problem(error, text)
    record.report(problem.rule, problem.reason, problem.start, problem.end, number)


def _problem(error: JsonNode, text: JsonNode) -> Problem:
    for key in ("code", "type"):
        value = error.get(key)
        if value is not None and value.kind is JsonKind.STRING and value.text in ERRORS:
            return Problem(W_RUN_ERROR, ERRORS[value.text], value.start, value.end)
    return Problem(W_RUN_ERROR, "api", text.start, text.end)


def _text(error: JsonNode) -> JsonNode | None:
    """Return the message of an error or else its code, or None if it has neither."""
    for key in ("message", "code"):
        value = error.get(key)
        if value is not None and value.kind is JsonKind.STRING and value.text:
            return value
    return None
