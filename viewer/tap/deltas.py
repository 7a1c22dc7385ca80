"""The parts of an answer for the log: pieces of blocks, and how the answer ended."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Protocol

from msgspec import Struct, field


class Delta(Struct):
    """A piece of a block. The first piece may have a call ID and a name."""

    block: str
    type: str
    """The type in the format `tap`: `text`, `refusal`, `thinking`, `summary`, `call`, `reply`, or `unknown`."""
    text: str = ""
    id: str = ""
    name: str = ""


class Closed(Struct, frozen=True):
    """A block that is complete."""

    block: str


class Whole(Struct, frozen=True):
    """A value with the structure of a complete API answer. The format `tap` reads it like one."""

    body: Mapping[str, Any]


Step = Delta | Closed | Whole


class Ending(Struct):
    """The known facts about the end of an answer."""

    finish: str = ""
    usage: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    """`failed` if the answer reports a failure."""
    error: dict[str, Any] | None = None
    """The error that the answer reports."""
    id: str = ""
    """The ID by which a later request may refer to the answer."""
    is_complete: bool = False
    """True if the answer has declared its end."""

    def note_usage(self, value: object) -> None:
        """Record token counts. Later counts replace earlier ones."""
        self.usage |= numbers(value)

    def note_error(self, value: object) -> None:
        """Record an error from the server."""
        self.error = {"error": error_of(value)}
        self.problem = "failed"


class Answer(Protocol):
    """Reads the events of one streamed answer."""

    def take(self, event: Mapping[str, Any]) -> list[Step]:
        """Return the steps for an event, and record what it reports about the end of the answer."""


class Blocks:
    """Tracks the blocks of an answer. Only one block is open at a time."""

    def __init__(self) -> None:
        self._open = ""

    def add(self, delta: Delta) -> list[Step]:
        """Return the steps for a piece, which may first close the previous block."""
        steps: list[Step] = []
        if self._open and self._open != delta.block:
            steps.append(Closed(self._open))
        self._open = delta.block
        steps.append(delta)
        return steps


def has_others(value: Mapping[str, Any], known: Collection[str]) -> bool:
    """True if an object has an unknown nonempty member. Such a member may mean that the text is hidden."""
    return any(member and key not in known for key, member in value.items())


def numbers(value: object, depth: int = 2) -> dict[str, Any]:
    """Return the integers in an object and, up to `depth` levels, in the objects inside it. Other members are
    dropped."""
    if not isinstance(value, Mapping):
        return {}
    found: dict[str, Any] = {}
    for key, member in value.items():
        if isinstance(member, int) and not isinstance(member, bool):
            found[key] = member
        elif depth > 1 and (inner := numbers(member, depth - 1)):
            found[key] = inner
    return found


_LONGEST_ERROR = 4096


def error_of(value: object) -> dict[str, str]:
    """Return only the type, code, and message of an error, because a server may repeat parts of the request in other
    members."""
    if isinstance(value, str):
        return {"message": value[:_LONGEST_ERROR]}
    if not isinstance(value, Mapping):
        return {"message": ""}
    return {
        key: str(member)[:_LONGEST_ERROR]
        for key in ("type", "code", "message")
        if isinstance(member := value.get(key), str | int) and member != ""
    }


def text_of(value: object) -> str:
    """Return a string unchanged, None as an empty string, and any other value as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def object_at(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object under a key, or an empty one."""
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def objects_at(value: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """Return the objects in the list under a key."""
    found = value.get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def unmapped(value: object, block: str = "unknown") -> Delta:
    """Return a value of unknown meaning as hidden text."""
    return Delta(block, "unknown", f"{text_of(value)}\n")
