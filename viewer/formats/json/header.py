"""Read the header of a JSON message object, and its problems."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from viewer.formats.json.fields import (
    CALL_ID_KEYS,
    RECIPIENT_KEYS,
    ROLE_KEYS,
    TIME_KEYS,
    Source,
    first_of,
    is_known_key,
)
from viewer.formats.json.times import NOT_STATED, StatedTime, stated_time
from viewer.model.diagnostic import Problem
from viewer.model.messages import Channel, Ending, Header
from viewer.reading.grammar import CHANNELS, CHECKED_TYPES, ROLES
from viewer.reading.header import is_tool, is_tool_name
from viewer.rules.errors import E_PARSE_HEADER
from viewer.rules.notes import I_TYPE_UNKNOWN
from viewer.syntax.json_text import JsonKind, JsonNode
from viewer.syntax.times import parse_time

_ENDINGS = {ending.value: ending for ending in Ending}
_CONSTRAIN = "<|constrain|>"
_SAME_KEY = {key: keys[0] for keys in (ROLE_KEYS, RECIPIENT_KEYS, CALL_ID_KEYS) for key in keys}


class ObjectHeader(Struct):
    """The header values that all messages from one object share."""

    header: Header
    ending: Ending | None
    time: StatedTime
    problems: list[Problem] = field(default_factory=list)


def read_object_header(node: JsonNode, source: Source) -> ObjectHeader:
    """Return the role, channel, and attributes of a message object, with their problems."""
    problems: list[Problem] = []
    role, name = _role(node, source, problems)
    channel, given = _channel(node, source, problems)
    content_type, constrained = _content_type(node, source, problems)
    _repeated_keys(node, source, problems)
    ending = _ENDINGS.get(source.field(node, "ending") or "")
    header = Header(
        role=role,
        name=name,
        recipient=source.field(node, *RECIPIENT_KEYS),
        channel=channel,
        channel_given=given,
        intent=source.field(node, "intent"),
        call_id=source.field(node, *CALL_ID_KEYS),
        content_type=content_type,
        constrained=constrained,
        extra=_extra(node, source),
        complete=node.closed or _is_settled(node),
    )
    time = _time(node, problems)
    malformed = any(problem.rule is E_PARSE_HEADER for problem in problems)
    return ObjectHeader(replace(header, malformed=malformed), ending, time, problems)


def default_ending(header: Header) -> Ending:
    """Return the ending of a message whose object does not name one: an assistant message to a tool is a call."""
    return Ending.CALL if header.role == "assistant" and is_tool(header.recipient) else Ending.END


def _time(node: JsonNode, problems: list[Problem]) -> StatedTime:
    """Return the first readable time, and add the problems of all times."""
    times = [stated_time(node.get(key)) for key in TIME_KEYS]
    for time in times:
        problems += time.problems
    return next((time for time in times if time.ms is not None), NOT_STATED)


def _is_settled(node: JsonNode) -> bool:
    """True if an unfinished object already contains everything that determines its visibility, in any order."""
    return all((value := node.get(key)) is not None and value.closed for key in ("role", "channel"))


def _role(node: JsonNode, source: Source, problems: list[Problem]) -> tuple[str, str | None]:
    value = first_of(node, ROLE_KEYS)
    name = source.field(node, "name")
    if value is not None and value.kind is JsonKind.OBJECT:  # an author with role and name
        name = name or source.field(value, "name")
        value = first_of(value, ("role",))
    if value is None or not value.closed:
        if node.closed:
            problems.append(Problem(E_PARSE_HEADER, "role-missing", node.start, node.start))
        return "", name
    role = source.text(value)
    if role in ROLES:
        return role, name
    if role == "function":
        return "tool", name
    if is_tool_name(role):
        return "tool", role
    reason = "role-unknown" if role else "role-missing"
    problems.append(Problem(E_PARSE_HEADER, reason, value.start, value.end))
    return role, name


def _channel(node: JsonNode, source: Source, problems: list[Problem]) -> tuple[Channel | None, str | None]:
    value = first_of(node, ("channel",))
    if value is None:
        return Channel.FINAL, None
    given = source.text(value)
    channel = CHANNELS.get(given) if value.closed and value.kind is JsonKind.STRING else None
    if channel is None and value.closed:
        reason = "channel-unknown" if given else "channel-empty"
        problems.append(Problem(E_PARSE_HEADER, reason, value.start, value.end))
    return channel, given


def _content_type(node: JsonNode, source: Source, problems: list[Problem]) -> tuple[str | None, bool]:
    value = first_of(node, ("content_type",))
    if value is None:
        return None, False
    given = source.text(value).strip(" \t\r\n")
    flag = node.get("constrained")
    constrained = given.startswith(_CONSTRAIN) or (flag is not None and flag.kind is JsonKind.TRUE)
    given = given.removeprefix(_CONSTRAIN).strip(" \t\r\n")
    if constrained and given.lower() not in CHECKED_TYPES:
        problems.append(Problem(I_TYPE_UNKNOWN, None, value.start, value.end))
    return given or None, constrained and bool(given)


def _repeated_keys(node: JsonNode, source: Source, problems: list[Problem]) -> None:
    """Report each key that occurs twice with different values, possibly under two names."""
    values: dict[str, str] = {}
    for member in node.members:
        value = member.value
        if member.key == "author":
            value = value.get("role") or value
            if value.kind is not JsonKind.STRING or member.value is value:
                continue
        elif value.kind is JsonKind.NULL and member.key in _SAME_KEY:
            continue
        text = source.text(value)
        if values.setdefault(_SAME_KEY.get(member.key, member.key), text) != text:
            problems.append(Problem(E_PARSE_HEADER, "attribute-repeated", member.key_start, member.key_end))


def _extra(node: JsonNode, source: Source) -> tuple[tuple[str, str], ...]:
    """Return the fields that have no meaning in a message object, as text. Null fields are dropped."""
    extra: dict[str, str] = {}
    for member in node.members:
        if member.value.kind is JsonKind.NULL or (
            is_known_key(member.key) and not _is_unused(member.key, member.value)
        ):
            continue
        extra[member.key] = source.value(member.value)
    return tuple(extra.items())


def _is_unused(key: str, value: JsonNode) -> bool:
    """True for a known field whose value has no meaning. The field is then kept as an extra attribute."""
    if key in TIME_KEYS:
        return parse_time(value) is None
    return key == "ending" and value.text not in _ENDINGS
