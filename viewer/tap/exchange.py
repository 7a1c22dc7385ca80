"""Turn the bytes of a request and its answer into log records."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from viewer.formats.tables.completions import OPEN_THOUGHTS
from viewer.tap.apis import Api
from viewer.tap.decoding import LARGEST_BODY, Decoder, Events, UndecodableError, read_json
from viewer.tap.deltas import Answer, Closed, Delta, Ending, Step, error_of, numbers, object_at, objects_at, text_of
from viewer.tap.sessions import Place, Sessions

Record = dict[str, Any]
_SETTINGS = (
    *("max_tokens", "max_completion_tokens", "max_output_tokens", "num_predict", "n_predict", "temperature", "top_p"),
    *("stream", "n", "seed", "reasoning_effort", "parallel_tool_calls", "echo"),
)
"""Request members that are logged unchanged if they are numbers or short strings."""
_SETTLED = ("tools", "system", "instructions", "functions")
"""Request members that are logged once per conversation, and again when they change."""
_LONGEST_WORD = 256
_OF_TOOL = frozenset(
    {
        *("type", "name", "description", "parameters", "input_schema", "function", "custom", "strict", "format"),
        *("server_label", "max_uses", "display_width_px", "display_height_px"),
    }
)
"""The logged members of a tool declaration. Others, such as the headers and URLs of MCP servers, may contain keys."""
_OF_ANSWER = frozenset({"choices", "content", "output", "message", "annotations", "metadata"})
"""Members of a complete answer that contain text or flags."""
_OF_FUNCTION = frozenset({"name", "description", "parameters", "strict", "format"})
STREAMS = {"text/event-stream": False, "application/x-ndjson": True, "application/jsonl": True}
"""The content types of streams. The value is True if each line is an event."""


class Exchange:
    """Turns the bytes of one exchange into records."""

    def __init__(self, api: Api, number: int, sessions: Sessions) -> None:
        self._api = api
        self._number = str(number)
        self._sessions = sessions
        self._request = bytearray()
        self._place = Place("", 0, 0)
        self._status = 0
        self._is_hidden = False
        """True if the answer may begin inside a thought or repeat its prompt."""
        self._end = Ending()
        self._answer: Answer = api.answer(self._end)
        self._decoder: Decoder | None = None
        self._events: Events | None = None
        self._body = bytearray()
        self._fault = ""
        """Why the body of the answer is missing from the log; empty if it is not."""
        self._size = 0

    # The request.

    def take_request(self, data: bytes) -> None:
        """Add bytes of the request body."""
        self._request += data

    def end_request(self, codings: str, time_ms: int, *, is_cut: bool) -> Iterator[Record]:
        """Handle the end of the request body and yield the record of the request."""
        raw, self._request = bytes(self._request), bytearray()
        body: Any = None
        if not is_cut:
            try:
                body = read_json(_decoded(raw, codings))
            except UndecodableError:
                body = None
        if not isinstance(body, Mapping):
            self._begin_session()
            yield self._record("request", time_ms) | {
                "api": self._api.name,
                "missing": "too large" if is_cut else "body",
            }
            return
        yield self._read_request(body, time_ms)

    def _read_request(self, body: Mapping[str, Any], time_ms: int) -> Record:
        api = self._api
        given = body.get(api.items)
        items = given if isinstance(given, list) else [given] if isinstance(given, str) else []
        place = self._place = self._sessions.place(api.name, items, text_of(body.get("previous_response_id")))
        prompt = body.get("prompt")
        is_open = isinstance(prompt, str) and prompt.endswith(OPEN_THOUGHTS)
        self._is_hidden = api.is_text and (is_open or bool(body.get("echo")) or bool(body.get("raw")))
        made: Record = {}
        others = {name: body.get(name) for name in api.others}
        for name, value in {"tools": [_tool(tool) for tool in objects_at(body, "tools")], **others}.items():
            if value and not (name in _SETTLED and self._sessions.is_repeated(place.session, name, value)):
                made[name] = value
        first = place.known + place.repeated
        new = items[first:]
        if new:
            made[api.items] = given if isinstance(given, str) else new
        record = self._record("request", time_ms) | {"api": api.name}
        if isinstance(body.get("model"), str):
            record["model"] = body["model"][:_LONGEST_WORD]
        settings = {name: body[name] for name in _SETTINGS if _is_plain(body.get(name))}
        if settings:
            record["settings"] = settings
        if place.known:
            record["known"] = place.known
        if place.repeated:
            record["earlier"] = items[place.known : first]
        return record | {"body": made}

    def _begin_session(self) -> None:
        self._place = self._sessions.place(self._api.name, (), "")

    # The answer.

    def begin_answer(self, status: int, content_type: str, codings: str) -> None:
        """Record the status in the head of the answer, and prepare to decode the body."""
        self._status = status
        kind = content_type.partition(";")[0].strip().lower()
        try:
            self._decoder = Decoder(codings)
        except UndecodableError:
            self._fault = "coding"
        if status < 300 and kind in STREAMS:
            self._events = Events(are_lines=STREAMS[kind])

    def take_answer(self, data: bytes, time_ms: int) -> Iterator[Record]:
        """Add bytes of the answer body. Yield the records that they complete."""
        if self._fault or self._decoder is None:
            return
        steps: list[Step] = []
        try:
            for text in self._decoder.feed(data):
                if self._events is None:
                    self._body += text
                    if len(self._body) > LARGEST_BODY:
                        raise UndecodableError
                else:
                    for event in self._events.feed(text):
                        steps += self._take(event)
        except UndecodableError:
            self._lose("body")
        yield from self._records(steps, time_ms)

    def cut(self) -> None:
        """Record that the rest of the answer is missing from the log."""
        self._lose("too large")

    def end_answer(self, outcome: str, time_ms: int) -> Iterator[Record]:
        """Yield the last records. If the exchange ended early, `outcome` names the side that ended it."""
        if not self._place.session:
            self._begin_session()
        steps: list[Step] = []
        try:
            if self._events is not None and not self._fault:
                for event in self._events.close():
                    steps += self._take(event)
        except UndecodableError:
            self._lose("body")
        yield from self._records(steps, time_ms)
        body = self._whole_body(outcome)
        if body is not None:
            yield from self._whole(body, time_ms)
        if self._end.error is not None:
            yield self._record("error", time_ms) | {"status": self._status, "body": self._shown_error(self._end.error)}
        yield self._last(outcome, time_ms)
        if self._status < 300 and not self._end.problem:
            self._sessions.note_answer(self._place, self._end.id)

    def _last(self, outcome: str, time_ms: int) -> Record:
        record = self._record("end", time_ms) | {"api": self._api.name, "status": self._status}
        end = self._end
        problem = "" if end.is_complete else outcome
        for name, value in (
            ("finish", end.finish[:_LONGEST_WORD]),
            ("usage", end.usage),
            ("problem", problem or (end.problem if end.error is None else "")),
            ("missing", self._fault),
        ):
            if value:
                record[name] = value
        return record

    def _whole_body(self, outcome: str) -> Mapping[str, Any] | None:
        """Return the JSON object in an answer that was not streamed, or None if there is none. Record a fault if the
        JSON is invalid."""
        if self._events is not None or self._fault or not self._body:
            return None
        raw, self._body = bytes(self._body), bytearray()
        try:
            body = read_json(raw)
        except UndecodableError:
            self._fault = "" if outcome else "body"
            if self._status >= 400:
                self._end.error = {"error": {"message": ""}}
            return None
        return body if isinstance(body, Mapping) else None

    def _whole(self, body: Mapping[str, Any], time_ms: int) -> Iterator[Record]:
        end = self._end
        if self._status >= 300:
            end.note_error(body.get("error") or body.get("message") or body.get("detail") or "")
            return
        if self._api.is_text:
            yield from self._records(self._answer.take(body), time_ms)
            return
        end.usage |= numbers(body.get("usage")) or numbers(
            {key: body[key] for key in ("prompt_eval_count", "eval_count") if key in body}
        )
        end.id = text_of(body.get("id"))
        choice = next(iter(objects_at(body, "choices")), {})
        reason = object_at(body, "incomplete_details").get("reason")
        end.finish = text_of(
            choice.get("finish_reason") or body.get("stop_reason") or body.get("done_reason") or reason
        )
        if body.get("error"):
            end.note_error(body["error"])
        yield self._record("response", time_ms) | {"api": self._api.name, "body": _answer_of(body)}

    def _take(self, event: bytes) -> list[Step]:
        if event.strip() in (b"[DONE]", b""):
            self._end.is_complete = True
            return []
        value = read_json(event)
        return self._answer.take(value) if isinstance(value, Mapping) else []

    def _records(self, steps: list[Step], time_ms: int) -> Iterator[Record]:
        """Yield the records for these steps. Adjacent pieces of a block are joined."""
        last: Delta | None = None
        for step in steps:
            if isinstance(step, Delta):
                if self._is_hidden and step.type in ("text", "refusal"):
                    step.type = "unknown"
                if last is not None and (last.block, last.type) == (step.block, step.type) and not step.id + step.name:
                    last.text += step.text
                    continue
            if last is not None:
                yield self._delta(last, time_ms)
            last = None
            if isinstance(step, Delta):
                last = step
            elif isinstance(step, Closed):
                yield self._record("close") | {"block": step.block}
            else:
                yield self._record("response", time_ms) | {"api": self._api.name, "body": step.body}
        if last is not None:
            yield self._delta(last, time_ms)

    def _delta(self, delta: Delta, time_ms: int) -> Record:
        part = {"type": delta.type, "text": delta.text}
        if delta.id:
            part["id"] = delta.id
        if delta.name:
            part["name"] = delta.name
        return self._record("delta", time_ms) | {"block": delta.block, "part": part}

    def _shown_error(self, error: Record) -> Record:
        """Return the error. If its message may repeat the API key of the request, replace the message."""
        if self._status in (401, 403, 407):
            return {"error": {"message": "The server refused the key."}}
        return {"error": error_of(error.get("error"))}

    def _lose(self, fault: str) -> None:
        self._fault = self._fault or fault
        self._body = bytearray()

    def _record(self, kind: str, time_ms: int = 0) -> Record:
        record: Record = {"tap": kind, "exchange": self._number, "session": self._place.session}
        if time_ms:
            moment = datetime.fromtimestamp(time_ms / 1000, UTC)
            record["time"] = f"{moment:%Y-%m-%dT%H:%M:%S}.{time_ms % 1000:03}Z"
        return record


def line_of(record: Record) -> bytes:
    """Encode a record as one line."""
    try:
        return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def _decoded(raw: bytes, codings: str) -> bytes:
    made = bytearray()
    for text in Decoder(codings).feed(raw):
        made += text
        if len(made) > LARGEST_BODY:
            raise UndecodableError
    return bytes(made)


def _answer_of(body: Mapping[str, Any]) -> Record:
    """Return a complete answer without members that may repeat the request. Text, flags, numbers, and short strings are
    kept; flags may mean that the text is hidden."""
    return {key: value for key, value in body.items() if key in _OF_ANSWER or _is_plain(value)}


def _is_plain(value: object) -> bool:
    return (isinstance(value, str) and len(value) <= _LONGEST_WORD) or isinstance(value, int | float)


def _tool(tool: Mapping[str, Any]) -> Record:
    """Return a tool declaration without members that may contain keys."""
    made = {key: value for key, value in tool.items() if key in _OF_TOOL}
    for key in ("function", "custom"):
        if isinstance(made.get(key), Mapping):
            made[key] = {name: value for name, value in made[key].items() if name in _OF_FUNCTION}
    return made
