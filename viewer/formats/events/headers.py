"""Create the header of a message that a delta opens, and find its problems."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict, replace

from viewer.formats.events.delta_keys import Identity, Opening
from viewer.formats.events.objects import EventObject, Said, word_of
from viewer.formats.json.times import StatedTime
from viewer.formats.tables.model import Family
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Ending, Header, Kind
from viewer.model.visibility import is_header_safe
from viewer.reading.grammar import CHANNELS, ROLES
from viewer.reading.header import full_tool_name
from viewer.rules.errors import E_PARSE_HEADER, E_PERM_VISIBILITY
from viewer.syntax.json_text import JsonKind, JsonNode

ANSWER = Header("assistant", channel=Channel.FINAL)
"""The header of text with no specified properties."""


class CallNames(Struct, frozen=True, gc=False):
    """The tool name and call ID that an item of a response contains."""

    name: str | None = None
    call_id: str | None = None

    @property
    def recipient(self) -> str | None:
        """The name of the tool as a recipient, or None if it is unknown."""
        return full_tool_name(self.name) if self.name else None


def identity_of(said: Said, family: Family) -> Identity:
    """Return the properties that distinguish the message of a delta from other messages with the same key."""
    role = None if said.role is None else word_of(said.role)
    if family is not Family.TEXT:
        return Identity(role, None, None, None)
    intent = None if said.intent is None else word_of(said.intent)
    recipient = None if said.recipient is None else word_of(said.recipient)
    return Identity(role, said.channel_name, intent, recipient)


def is_shown(header: Header) -> bool:
    """True if the user sees a message with this header as it grows."""
    return is_header_safe(header, Ending.OPEN)


def opening_of(event: EventObject, family: Family, said: Said, names: CallNames, time: StatedTime) -> Opening:
    """Return the initial properties of the message that a delta opens. `said` includes the properties of its item."""
    role = "assistant" if said.role is None else word_of(said.role)
    faults = _role_faults(said.role, role)
    if family is Family.TEXT:
        header = _text_header(event, role, said)
        faults += _channel_faults(event, said) + _intent_faults(said)
    elif family is Family.CALL:
        header = _call_header(role, names)
    elif family is Family.OTHER:
        header = Header(role, channel=Channel.FINAL, call_id=names.call_id, kind=Kind.UNKNOWN)
    else:
        intent = "summary" if family is Family.SUMMARY else None
        header = Header(role, channel=Channel.ANALYSIS, channel_given="analysis", intent=intent)
    malformed = any(fault.rule is E_PARSE_HEADER for fault in faults)
    return Opening(replace(header, malformed=malformed), time, (*faults, *time.problems))


def with_said(header: Header, said: Said) -> Header:
    """Return the header of text, changed by the properties in a later event."""
    role = header.role if said.role is None else word_of(said.role)
    given = said.channel_name
    return replace(
        header,
        role=role,
        recipient=header.recipient if said.recipient is None else word_of(said.recipient),
        channel=header.channel if given is None else CHANNELS.get(given),
        channel_given=header.channel_given if given is None else given,
        intent=header.intent if said.intent is None else _intent_of(said),
        malformed=header.malformed or bool(_role_faults(said.role, role) or _intent_faults(said)),
    )


def hiding_value(header: Header, said: Said) -> JsonNode | None:
    """Return the first value in a later event that hides a shown message, or None if the message stays shown."""
    if is_shown(with_said(header, said)):
        return None
    nodes = [(name, node) for name, node in asdict(said).items() if node is not None]
    hiding = [node for name, node in nodes if not is_shown(with_said(header, Said(**{name: node})))]
    return min(hiding, key=lambda node: node.start, default=said.first)


def _role_faults(speaker: JsonNode | None, role: str) -> list[Problem]:
    if speaker is None or (role in ROLES and speaker.kind is JsonKind.STRING and speaker.text == role):
        return []
    return [Problem(E_PARSE_HEADER, "role-unknown", speaker.start, speaker.end)]


def _intent_of(said: Said) -> str | None:
    return None if said.intent is None else word_of(said.intent)


def _text_header(event: EventObject, role: str, said: Said) -> Header:
    given = said.channel_name
    intent = _intent_of(said)
    return Header(
        role,
        name=event.text("name"),
        recipient=None if said.recipient is None else word_of(said.recipient),
        channel=Channel.FINAL if given is None else CHANNELS.get(given),
        channel_given=given,
        intent=None if intent == "preamble" else intent,
        call_id=event.text("call_id"),
        content_type=event.text("content_type"),
        extra=(("intent", intent),) if intent == "preamble" else (),
    )


def _channel_faults(event: EventObject, said: Said) -> list[Problem]:
    given = said.channel_name
    node = said.phase if said.channel is None else said.channel
    if node is None or given == Channel.FINAL.value:
        return []
    faults = []
    own = event.get("channel")
    if said.channel is not None and own is not None and own.start == said.channel.start:
        faults.append(Problem(E_PERM_VISIBILITY, "hidden-delta", node.start, node.end))
    if given not in CHANNELS:
        reason = "channel-unknown" if given else "channel-empty"
        faults.append(Problem(E_PARSE_HEADER, reason, node.start, node.end))
    return faults


def _intent_faults(said: Said) -> list[Problem]:
    node = said.intent
    if node is None or node.kind is JsonKind.STRING:
        return []
    return [Problem(E_PARSE_HEADER, "attribute-empty", node.start, node.end)]


def _call_header(role: str, names: CallNames) -> Header:
    return Header(
        role,
        recipient=names.recipient,
        channel=Channel.COMMENTARY,
        channel_given="commentary",
        call_id=names.call_id,
        content_type="json",
    )
