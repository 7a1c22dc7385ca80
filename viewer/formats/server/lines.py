"""Find prompts and outputs of model servers in the lines of a log."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from viewer.cache import lazy_regex
from viewer.formats.json.times import NOT_STATED, StatedTime, stated_time
from viewer.formats.server.source_text import Segment, of_json, of_python, of_python_in_json, plain
from viewer.model.messages import Span
from viewer.syntax.json_text import JsonKind, JsonNode, read_json

_ID = rb"([\w.:@/-]{1,200}?)"
_ASKED = rb"Received request: [A-Z]{1,8} to [^\s{]{1,200} with body\s{1,4}|log_server_r: request:\s{1,4}"
_ANSWERED = rb"Generated (?:prediction|packet):\s{1,4}|log_server_r: response:\s{1,4}|streamed chunk: data:\s{1,4}"
OPENER = lazy_regex(rb"(?:" + _ASKED + rb"|" + _ANSWERED + rb")\{\s*\Z")
"""A pattern for a line that ends with the first bracket of a logged JSON object."""
_REQUESTS = (b"Received request", b"log_server_r: request")
_CHUNKS = (b"Generated packet", b"streamed chunk")
REQUEST = "request\n"
"""The start of the IDs of requests that have none. A response belongs to the oldest request that awaits one."""
_ANCHOR = lazy_regex(
    rb"Received request " + _ID + rb": prompt: "
    rb"|Request " + _ID + rb" details: prompt: "
    rb"|Generated response " + _ID + rb"(?: \(([^)\n]{0,64})\))?: output: "
    rb"|(Receive|Finish): (?:rid=[^,\n]{0,200}, )?obj="
    rb"|Aborted request(?:\(s\))? ([\w.:@/-]{1,200})"
    rb"|(" + _ASKED + rb"|" + _ANSWERED + rb")(?=\{)"
)
_LITERAL = lazy_regex(rb"b?(?:'([^'\\]*(?:\\.[^'\\]*)*)('?)|\"([^\"\\]*(?:\\.[^\"\\]*)*)(\"?))", re.DOTALL)
_ENDED = lazy_regex(rb"[ \t]*(?:[,)}\]]|\r?\n?\Z)")
_FINISH = lazy_regex(rb"finish_reason[\"']?: (?:\{[\"']type[\"']: )?[\"']?(\w+)")
_RID = lazy_regex(rb"\brid=(?:'([^'\n]{1,200})'|\"([^\"\n]{1,200})\")")
_TEXT = lazy_regex(rb"[(, ]text=(?=[b'\"])")
_OUT_TEXT = lazy_regex(rb"[{ ][\"']text[\"']: (?=[b'\"])")
_OUT = lazy_regex(rb"\), out=")
_LISTED = lazy_regex(rb"[(, ](?:text=|out=)(?=\[)")
"""A list of prompts or of outputs in one record."""
_META_ID = lazy_regex(rb"[\"']id[\"']: [\"']([\w.:@/-]{1,200})[\"']")
_INPUT, _OUTPUT = "llm.prediction.input", "llm.prediction.output"


Made = tuple[list[Segment], bool]
"""The text of a literal, and whether all of it is readable."""


class Literal(Struct, frozen=True):
    """A quoted string in a record."""

    segments: list[Segment]
    """One segment, or one per part of a split line."""
    end: int
    """The offset in the line where the quoted string ends."""
    is_cut: bool
    """True if the logger truncated the quoted string."""
    is_odd: bool
    """True if something other than a record follows the quoted string."""
    is_object: bool = False
    """True for a JSON object instead of a quoted string: a request or a response, not a prompt or an output."""

    @property
    def data(self) -> bytes:
        """The decoded text."""
        return b"".join(segment.data for segment in self.segments)


class Logged(Struct, frozen=True):
    """One record of a log: a prompt, a complete or partial output, both, or an aborted request."""

    id: str
    span: Span
    prompt: Literal | None = None
    output: Literal | None = None
    how: str = ""
    """`delta` for a piece, `open` for an output that may continue, or `aborted`."""
    finish: tuple[str, Span] | None = None
    time: StatedTime = NOT_STATED
    replaces: bool = False
    """True if a later record with this ID replaces this one."""


class LogLine:
    """A log line, or the text of one in a JSON wrapper."""

    def __init__(
        self,
        data: bytes,
        at: int,
        made: Callable[[bytes, int], Made],
        span: Callable[[int, int], Span],
        *,
        is_plain: bool = False,
    ) -> None:
        self.data = data
        self.at = at
        self._is_plain = is_plain
        """True if the text is part of the input without any escapes."""
        self._made = made
        self._span = span

    def records(self) -> Iterator[Logged]:
        """Yield the records, in order. Anchors inside a literal are ignored."""
        at = 0
        while found := _ANCHOR.search(self.data, at):
            if found[5]:
                logged, at = self._of_object(found)
            elif found[6]:
                logged, at = Logged(_text(found[6]), self._span(*found.span()), how="aborted"), found.end()
            elif found[7]:
                logged, at = self._of_json(found)
            else:
                logged, at = self._of_text(found)
            if logged is not None:
                yield logged

    def _of_text(self, found: re.Match[bytes]) -> tuple[Logged | None, int]:
        literal = self._literal(found.end())
        id = _text(found[1] or found[2] or found[3])
        span = self._span(*found.span())
        if literal is None:
            return (Logged(id, span), found.end()) if not found[3] else (None, found.end())
        if not found[3]:
            return Logged(id, span, prompt=literal), literal.end
        how = "delta" if b"delta" in (found[4] or b"") else ""
        return Logged(id, span, output=literal, how=how, finish=self._finish(literal.end)), literal.end

    def _of_object(self, found: re.Match[bytes]) -> tuple[Logged | None, int]:
        """Return a request that was logged as an object (with its result, if the word before it is `Finish`), and the
        index after it. A request with several prompts or results cannot be read."""
        at = found.end()
        text = _TEXT.search(self.data, at)
        out = _OUT.search(self.data, at)
        listed = _LISTED.search(self.data, at, text.start() if text else len(self.data))
        if listed is None and text is not None and out is not None and self.data.startswith(b"[", out.end()):
            listed = text
        if listed is not None:
            rest = self.data[listed.end() :].rstrip(b"\r\n")
            segments, _ = self._made(rest, listed.end())
            end = listed.end() + len(rest)
            return Logged("", self._span(found.start(), end), prompt=Literal(segments, end, False, True)), end
        prompt = self._literal(text.end()) if text and not (out and out.start() < text.start()) else None
        at = prompt.end if prompt else at
        rid = _RID.search(self.data, found.end())
        id = _text(rid[1] or rid[2]) if rid else ""
        if found[5] == b"Receive" or (prompt is not None and (prompt.is_cut or prompt.is_odd)):
            return Logged(id, self._span(*found.span()), prompt=prompt), at
        out = _OUT.search(self.data, at)
        said = _OUT_TEXT.search(self.data, out.end()) if out else None
        output = self._literal(said.end()) if said else None
        meta = _META_ID.search(self.data, output.end) if output else None
        id = id or (_text(meta[1]) if meta else "")
        finish = self._finish(output.end) if output else None
        end = output.end if output else max(at, out.end() if out else at)
        return Logged(id, self._span(*found.span()), prompt=prompt, output=output, finish=finish), end

    def _of_json(self, found: re.Match[bytes]) -> tuple[Logged | None, int]:
        """Return a logged request, response, or chunk of a response, and the index after it. Such records have no
        IDs."""
        start = found.end()
        node = read_json(self.data, 0, start).node if self._is_plain else None
        if node is None:
            return None, start
        end = node.end if node.closed else len(self.data.rstrip())
        span = self._span(*found.span())
        whole = Literal([plain(self.data[start:end], self.at + start)], end, not node.closed, False, True)
        if found[7].startswith(_REQUESTS):
            prompt = node.get("prompt") if node.get("messages") is None else None
            return Logged(f"{REQUEST}{self.at + start}", span, prompt=self._text_of(prompt) or whole), end
        if found[7].startswith(_CHUNKS):
            id = node.get("id")
            return Logged(f"{REQUEST}{id.text if id else ''}", span, output=whole, how="delta"), end
        choices = node.get("choices")
        first = choices.items[0] if choices is not None and choices.items else None
        said = first.get("text") if first is not None else node.get("content")
        return Logged(REQUEST, span, output=self._text_of(said) or whole), end

    def _text_of(self, value: JsonNode | None) -> Literal | None:
        """Return a prompt or an output of a model without messages, or None if there is none."""
        if value is None or value.kind is not JsonKind.STRING or not value.closed:
            return None
        string = self.data[value.start : value.end]
        segment = replace(of_json(value, string), base=self.at + value.start)
        return Literal([segment], value.end, False, False)

    def _literal(self, at: int) -> Literal | None:
        found = _LITERAL.match(self.data, at)
        if found is None:
            return None
        group = 1 if found[1] is not None else 3
        start, end = found.span(group)
        is_open = not found[group + 1]
        is_cut = (
            is_open
            or self.data[start:end].endswith(("…".encode(), b"\\u2026"))
            or self.data[found.end() :].startswith(b" ... ")
        )
        raw = self.data[start:end].rstrip(b"\r\n") if is_open else self.data[start:end]
        is_odd = not is_cut and _ENDED.match(self.data, found.end()) is None
        segments, is_whole = self._made(raw, start)
        return Literal(segments, found.end(), is_cut or not is_whole, is_odd and is_whole)

    def _finish(self, at: int) -> tuple[str, Span] | None:
        following = _ANCHOR.search(self.data, at)
        found = _FINISH.search(self.data, at, following.start() if following else len(self.data))
        return (_text(found[1]), self._span(*found.span(1))) if found else None


def plain_line(line: bytes, at: int) -> LogLine:
    """Return a line of a text log."""
    return LogLine(
        line,
        at,
        lambda raw, start: ([of_python(raw, at + start)], True),
        lambda start, end: (at + start, at + end),
        is_plain=True,
    )


def wrapped_line(node: JsonNode, line: bytes, at: int) -> LogLine | None:
    """Return the line in a JSON wrapper of a container runtime, or None for any other object."""
    value = wrapper_of(node)
    if value is None or value.kind is not JsonKind.STRING or not value.closed:
        return None
    string = line[value.start - at : value.end - at]
    text = value.text.encode("utf-8", "replace")
    return LogLine(
        text,
        value.start,
        lambda raw, start: ([of_python_in_json(raw, start, string, value.start)], True),
        lambda start, end: (value.start, value.end),
    )


def wrapper_of(node: JsonNode) -> JsonNode | None:
    """Return the value of the member that contains a log line, or None if there is no such member."""
    return next((value for key in ("log", "message", "msg", "MESSAGE") if (value := node.get(key))), None)


def json_records(node: JsonNode, line: bytes, at: int, count: int) -> list[Logged]:
    """Return the records of LM Studio and of the slots of llama.cpp. `count` numbers prompts without an ID."""
    if node.kind is JsonKind.ARRAY:
        return [logged for item in node.items if (logged := _slot(item, line, at))]
    data = node.get("data")
    kind = data.get("type") if data is not None else None
    if data is None or kind is None or kind.kind is not JsonKind.STRING or kind.text not in (_INPUT, _OUTPUT):
        return []
    value = data.get("input" if kind.text == _INPUT else "output")
    model = data.get("modelIdentifier")
    id = model.text if model is not None and model.kind is JsonKind.STRING else ""
    literal = _json_literal(value, line, at)
    if literal is None:
        return []
    span = node.start, node.end
    is_input = kind.text == _INPUT
    logged = Logged(f"{id}\n{count}", span, prompt=literal) if is_input else Logged(f"{id}\n", span, output=literal)
    return [replace(logged, time=stated_time(node.get("timestamp")))]


def _slot(item: JsonNode, line: bytes, at: int) -> Logged | None:
    task = item.get("id_task")
    prompt = _json_literal(item.get("prompt"), line, at)
    if task is None or prompt is None or item.kind is not JsonKind.OBJECT:
        return None
    output = _json_literal(item.get("generated"), line, at)
    busy = item.get("is_processing")
    is_open = busy is None or busy.kind is not JsonKind.FALSE
    return Logged(f"slot {task.text}", (item.start, item.end), prompt, output, "open" if is_open else "", replaces=True)


def _json_literal(value: JsonNode | None, line: bytes, at: int) -> Literal | None:
    if value is None or value.kind is not JsonKind.STRING:
        return None
    segment = of_json(value, line[value.start - at : value.end - at])
    return Literal([segment], value.end, not value.closed, False)


def is_logged(values: list[JsonNode]) -> bool:
    """True if one of these values is a log record."""
    return any(_is_record(value) for value in values)


def _is_record(value: JsonNode) -> bool:
    if value.kind is JsonKind.ARRAY:
        return any(item.get("id_task") is not None and item.get("prompt") is not None for item in value.items[:64])
    data = value.get("data")
    kind = data.get("type") if data is not None else None
    if kind is not None and kind.text in (_INPUT, _OUTPUT):
        return True
    wrapper = wrapper_of(value)
    is_text = wrapper is not None and wrapper.kind is JsonKind.STRING
    return wrapper is not None and is_text and _ANCHOR.search(wrapper.text.encode("utf-8", "replace")) is not None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
