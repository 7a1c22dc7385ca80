"""Chunks of chat completions: `choices[].delta` with text, reasoning and tool calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from viewer.core.json_text import JsonKind, JsonNode
from viewer.formats.event_headers import CallNames, identity_of, opening_of
from viewer.formats.event_kinds import Family
from viewer.formats.event_lanes import Delta, Lane
from viewer.formats.event_objects import EventObject, member_items, member_object, piece_of, text_of, tool_name
from viewer.formats.event_streams import Streams

_TEXTS = (
    ("reasoning_content", Family.REASONING),
    ("reasoning", Family.REASONING),
    ("thinking", Family.REASONING),
    ("content", Family.TEXT),
    ("refusal", Family.TEXT),
)
"""In the order their messages would stand."""


class _Choice(NamedTuple):
    """What a delta says of itself, and where it belongs."""

    said: EventObject
    lane: Lane
    speaker: JsonNode | None
    time_ms: int | None


class ChatChunks:
    """Reads chunks; the role of a choice is said by its first one alone."""

    def __init__(self, streams: Streams, reject: Callable[[int, int], bool]) -> None:
        self._streams = streams
        self._reject = reject
        self._speakers: dict[str, JsonNode] = {}

    def take(self, event: EventObject) -> bool:
        """Whether the chunk was taken whole."""
        taken = True
        choices = event.get("choices")
        for choice in choices.items if choices else []:
            known = choice.kind is JsonKind.OBJECT or self._reject(choice.start, choice.end)
            taken = known and self._choice(event, choice) and taken
        return taken

    def _choice(self, event: EventObject, choice: JsonNode) -> bool:
        lane = _lane(event, choice)
        delta = member_object(choice, "delta")
        taken = True
        if delta:
            role = delta.get("role")
            if role is not None and text_of(role):
                self._speakers[lane.name] = role
            said = EventObject((delta,), event.span)
            if said.contradiction:
                return self._reject(*said.contradiction)
            taken = self._delta(_Choice(said, lane, self._speakers.get(lane.name), event.time_ms), delta)
        if text_of(choice.get("finish_reason")):
            self._streams.done(lane, None, event.span)
            self._speakers.pop(lane.name, None)
        return taken

    def _delta(self, choice: _Choice, delta: JsonNode) -> bool:
        taken = True
        for key, family in _TEXTS:
            value = choice.said.get(key)
            if value is not None:
                taken = self._text(choice, family, value) and taken
        for call in _calls(delta):
            taken = self._call(choice, call) and taken
        return taken

    def _text(self, choice: _Choice, family: Family, value: JsonNode) -> bool:
        if value.kind is not JsonKind.STRING:
            return self._reject(value.start, value.end)
        return piece_of(value) is None or self._write(choice, family, value, CallNames())

    def _call(self, choice: _Choice, call: JsonNode) -> bool:
        function = member_object(call, "function") or call
        part = choice.lane._replace(identified=True, part=f"call {text_of(call.get('index')) or 0}")
        names = CallNames(text_of(function.get("name")), text_of(call.get("id")))
        value = function.get("arguments")
        if value is not None and value.kind not in (JsonKind.STRING, JsonKind.NULL):
            return self._reject(value.start, value.end)
        taken = self._write(choice._replace(lane=part), Family.CALL, value, names)
        if names.name or names.call_id:
            self._streams.describe_call(part, tool_name(names.name), names.call_id)
        return taken

    def _write(self, choice: _Choice, family: Family, value: JsonNode | None, names: CallNames) -> bool:
        piece = piece_of(value) if value is not None and value.kind is JsonKind.STRING else None
        said, lane, speaker, time_ms = choice
        identity = identity_of(said, family)._replace(role=text_of(speaker))
        delta = Delta(lane, family, identity, piece, said.span)
        return self._streams.delta(delta, partial(opening_of, said, family, speaker, names, time_ms))


def _lane(event: EventObject, choice: JsonNode) -> Lane:
    identifier = event.text("id")
    index = text_of(choice.get("index")) or "0"
    return Lane(f"chat:{index}:{identifier or ''}", identifier is not None)


def _calls(delta: JsonNode) -> list[JsonNode]:
    legacy = member_object(delta, "function_call")
    return [*member_items(delta, "tool_calls"), *([legacy] if legacy else [])]
