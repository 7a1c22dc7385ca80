"""The header that a delta gives the message it opens, and what is wrong with it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from viewer.core.headers import ROLES
from viewer.core.json_text import JsonKind, JsonNode
from viewer.core.messages import Channel, Header
from viewer.formats.event_kinds import Family
from viewer.formats.event_lanes import Fault, Identity, Opening
from viewer.formats.event_objects import EventObject, text_of, tool_name

_CHANNELS = {channel.value: channel for channel in Channel}
_SPACE = " \t\r\n"


class CallNames(NamedTuple):
    """What an item of a response says of the call in it."""

    name: str | None = None
    call_id: str | None = None


def identity_of(event: EventObject, family: Family) -> Identity:
    """What sets this delta's message apart from others."""
    role = event.text("role")
    if family is not Family.TEXT:
        return Identity(role, None, None, None)
    channel = event.get("channel")
    given = None if channel is None else channel_given(channel)
    return Identity(role, given, event.text("intent"), event.text("recipient", "to"))


def channel_given(node: JsonNode) -> str:
    """A channel as written; of what is no string, what it is."""
    return node.text.strip(_SPACE) if node.kind is JsonKind.STRING else node.text or node.kind.value


def opening_of(
    event: EventObject, family: Family, speaker: JsonNode | None, names: CallNames, time_ms: int | None
) -> Opening:
    """What a message is opened with; `speaker` is its role where that is given."""
    role = text_of(speaker) or "assistant"
    faults = _role_faults(speaker, role)
    if family is Family.TEXT:
        header = _text_header(event, role)
        faults += _channel_faults(event)
    elif family is Family.CALL:
        header = _call_header(role, names)
    else:
        intent = "summary" if family is Family.SUMMARY else None
        header = Header(role, channel=Channel.ANALYSIS, channel_given="analysis", intent=intent)
    malformed = any(fault.code == "E-PARSE-HEADER" for fault in faults)
    return Opening(replace(header, malformed=malformed), time_ms, tuple(faults))


def _role_faults(speaker: JsonNode | None, role: str) -> list[Fault]:
    if speaker is None or role in ROLES:
        return []
    return [Fault("E-PARSE-HEADER", "role-unknown", speaker.start, speaker.end)]


def _text_header(event: EventObject, role: str) -> Header:
    node = event.get("channel")
    given = None if node is None else channel_given(node)
    intent = event.text("intent")
    return Header(
        role,
        name=event.text("name"),
        recipient=event.text("recipient", "to"),
        channel=Channel.FINAL if given is None else _CHANNELS.get(given),
        channel_given=given,
        intent=None if intent == "preamble" else intent,
        call_id=event.text("call_id"),
        content_type=event.text("content_type"),
        extra=(("intent", intent),) if intent == "preamble" else (),
    )


def _channel_faults(event: EventObject) -> list[Fault]:
    node = event.get("channel")
    given = channel_given(node) if node else Channel.FINAL.value
    if node is None or given == Channel.FINAL.value:
        return []
    faults = [Fault("E-PERM-VISIBILITY", "hidden-delta", node.start, node.end)]
    if given not in _CHANNELS:
        reason = "channel-unknown" if given else "channel-empty"
        faults.append(Fault("E-PARSE-HEADER", reason, node.start, node.end))
    return faults


def _call_header(role: str, names: CallNames) -> Header:
    return Header(
        role,
        recipient=tool_name(names.name),
        channel=Channel.COMMENTARY,
        channel_given="commentary",
        call_id=names.call_id,
        content_type="json",
    )
