"""Match each request to the conversation that it continues, so that the log contains every message once."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from msgspec import Struct

MOST_KNOWN = 16_384
"""The number of recent requests that a later request may continue."""
_ANSWERS = ("reasoning", "function_call", "custom_tool_call", "output_text", "compaction")
"""The types of items that repeat an answer, apart from those that end with `_call`."""


class Place(Struct, frozen=True):
    """The conversation of a request, and how much of the request is new."""

    session: str
    known: int
    """The number of the request's messages that an earlier request of the session already contained."""
    repeated: int
    """The number of subsequent messages that repeat the answer to that request."""
    key: bytes = b""
    """A hash of all messages in the request; empty if there are none, or if the request continues an answer by its
    ID."""


class Sessions:
    """The conversations of one run, identified by the messages of their requests."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._count = 0
        self._known: OrderedDict[bytes, str] = OrderedDict()
        """Sessions by a hash of all messages in a request, or of an answer's ID."""
        self._answered: set[bytes] = set()
        self._settings: dict[tuple[str, str], bytes] = {}
        """The hash of each repeated request member, by session and name."""

    def place(self, api: str, items: Sequence[Any], previous: str) -> Place:
        """Find the session of a request with these messages, or begin a new session. `previous` is the ID of the answer
        that the request continues, if any."""
        if previous and (session := self._known.get(_hash(b"", previous))):
            return Place(session, 0, 0)
        hashes = list(_chain(api, items))
        at = next((at for at in range(len(hashes), 0, -1) if hashes[at - 1] in self._known), 0)
        if at:
            session = self._known[hashes[at - 1]]
        else:
            self._count += 1
            session = f"{self._run}-{self._count}"
        repeated = 0
        if at and hashes[at - 1] in self._answered:
            while at + repeated < len(items) and _is_answer(items[at + repeated]):
                repeated += 1
        if hashes:
            self._note(hashes[-1], session)
        return Place(session, at, repeated, hashes[-1] if hashes else b"")

    def note_answer(self, place: Place, id: str) -> None:
        """Record that a request received an answer with this ID."""
        if place.key in self._known:
            self._answered.add(place.key)
        if id:
            self._note(_hash(b"", id), place.session)

    def is_repeated(self, session: str, name: str, value: object) -> bool:
        """True if the session's last request with this member had the same value. Record the value for the next
        request."""
        made = _hash(b"", value)
        key = session, name
        is_same = self._settings.get(key) == made
        self._settings[key] = made
        return is_same

    def _note(self, key: bytes, session: str) -> None:
        self._known[key] = session
        self._known.move_to_end(key)
        while len(self._known) > MOST_KNOWN:
            old, _ = self._known.popitem(last=False)
            self._answered.discard(old)
        if len(self._settings) > MOST_KNOWN:
            del self._settings[next(iter(self._settings))]


def _chain(api: str, items: Sequence[Any]) -> Iterator[bytes]:
    """Yield, for each message, a hash of it and all previous messages."""
    last = api.encode()
    for item in items:
        last = _hash(last, item)
        yield last


def _hash(before: bytes, value: object) -> bytes:
    text = json.dumps(_plain(value), sort_keys=True, separators=(",", ":"))
    return blake2b(before + b"\0" + text.encode(), digest_size=16).digest()


def _plain(value: object) -> object:
    """Normalize details that clients change when they repeat a value: cache marks, and whether a single piece of text
    is in a list."""
    if isinstance(value, Mapping):
        return {key: _plain(member) for key, member in value.items() if key != "cache_control"}
    if isinstance(value, list):
        items = [_plain(item) for item in value]
        if len(items) == 1 and isinstance(items[0], dict) and items[0].keys() == {"type", "text"}:
            return items[0]["text"]
        return items
    return value


def _is_answer(item: object) -> bool:
    """True if the server wrote the message."""
    if not isinstance(item, Mapping):
        return False
    kind = item.get("type")
    return item.get("role") == "assistant" or (
        "role" not in item and isinstance(kind, str) and (kind in _ANSWERS or kind.endswith("_call"))
    )
