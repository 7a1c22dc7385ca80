"""Exchanges as the log writer receives them, and what the resulting log shows."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.reading import Reading, read
from viewer.tap.apis import APIS
from viewer.tap.exchange import Exchange, Record, line_of
from viewer.tap.sessions import Sessions

BY_NAME = {api.name: api for api in APIS}
SSE, LINES, JSON = "text/event-stream", "application/x-ndjson", "application/json"
TIME = 1_767_322_000_000


def sse(*events: object) -> bytes:
    return b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)


def ndjson(*events: object) -> bytes:
    return b"".join(f"{json.dumps(event)}\n".encode() for event in events)


class Logged:
    """The log of several exchanges."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self._sessions = Sessions("run")
        self._count = 0

    def add(
        self,
        api: str,
        request: object,
        answer: bytes | Iterable[bytes] = b"",
        kind: str = SSE,
        *,
        status: int = 200,
        codings: str = "",
        outcome: str = "",
    ) -> None:
        """Add an exchange. Its answer may come in several pieces."""
        self._count += 1
        exchange = Exchange(BY_NAME[api], self._count, self._sessions)
        exchange.take_request(request if isinstance(request, bytes) else json.dumps(request).encode())
        self.records += exchange.end_request("", TIME, is_cut=False)
        exchange.begin_answer(status, kind, codings)
        for piece in [answer] if isinstance(answer, bytes) else answer:
            self.records += exchange.take_answer(piece, TIME)
        self.records += exchange.end_answer(outcome, TIME)

    @property
    def text(self) -> str:
        """The log."""
        return b"".join(map(line_of, self.records)).decode()

    @property
    def reading(self) -> Reading:
        """The log as the viewer reads it."""
        return read(self.text, "tap")

    @property
    def shown(self) -> list[str]:
        """The text of each message that the safe view shows."""
        reading = self.reading
        return [text for text, visible in zip(reading.texts, reading.visible, strict=True) if visible]


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    """Return a chunk of a chat completion."""
    return {"id": "c", "choices": [{"index": index, "delta": delta, "finish_reason": finish}]}
