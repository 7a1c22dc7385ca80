"""Format detection by signatures in the first 64 KB, with a reason and a confidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from operator import is_not
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer.cache import lazy_regex
from viewer.plugged import PLUGGED
from viewer.reading.document_header import LONGEST_REMEMBERED, is_yaml_like, read_header
from viewer.reading.parser import BYTE_ORDER_MARK
from viewer.syntax.json_text import JsonKind, JsonNode, JsonReading, read_json

if TYPE_CHECKING:
    from viewer.formats.tables.model import RecordFormat
    from viewer.formats.text.template_signs import Sign

HEAD = 64 * 1024
LONG_HEAD = 1024 * 1024
"""The length of the head of an input whose first members or lines are long and reveal nothing, such as a list of
tools."""
LEAST_SCORE = 80
"""The lowest score with which a record format is chosen."""

_OLD = rb"<\|im_start\|>|\[BOS\]|<\|fim_(?:prefix|middle|suffix)\|>|<\|file_separator\|>"
_NEW = rb"<\|(?:start|channel|message)\|>"
_MARKER = lazy_regex(rb"(" + _OLD + rb")|" + _NEW)
_NEW_MARKER = lazy_regex(_NEW)
_LINE_MARKER = lazy_regex(rb"^[ \t]*(?:" + _OLD + rb"|" + _NEW + rb")", re.MULTILINE)
_OPENCHATML_VERSION = lazy_regex(r"[012](?:\.[0-9])?")
_VERSION = lazy_regex(rb"version[\"']?[ \t]*:[ \t]*[\"']?([0-9A-Za-z.]+)")
_VERSION_LINE = lazy_regex(rb"^[\"']?version[\"']?[ \t]*:[ \t]*[\"']?([0-9A-Za-z.]+)", re.MULTILINE)
_FRONT_MATTER = b"---"
"""The beginning of the header of a Markdown file, whose version is its own."""
_HEADER_2_2 = lazy_regex(
    rb"<\|start\|>(?:[ \t\r\n]*tool(?![^ \t\r\n<])|[^<]{0,512}(?:<\|(?:channel|constrain)\|>[^<]{0,512}){0,8}?"
    rb"[ \t](?:call_id|name|intent|content_type)=)"
)
_ASSISTANT = lazy_regex(rb"<\|start\|>[ \t\r\n]*assistant[^<]{0,512}<\|message\|>")
"""An assistant message. An open prompt does not count."""
_CHANNELLED = lazy_regex(
    rb"<\|(?:channel|constrain|call|return)\|>|Valid channels:|<\|start\|>[ \t\r\n]*(?:tool|functions\.)"
)
_AIDER = lazy_regex(rb"^# aider chat started at ", re.MULTILINE)
MOST_KEYS_NAMED = 12
_PLAIN_KEY = lazy_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,39}")
_SSE = lazy_regex(rb"(?:event|data|id|retry):|:[ \t]?[a-z]", re.IGNORECASE)
_DATA_LINE = lazy_regex(rb"^data:[ \t]*(\{[^\r\n]*)", re.MULTILINE)
_LINES_OF_INTEGERS = lazy_regex(rb"(?:[ \t]*\d+[ \t]*(?:\r?\n\s*|$))+")
_ROWS_OF_INTEGERS = lazy_regex(rb"(?:[ \t]*\d+(?:[ \t]+\d+)*[ \t]*(?:\r?\n\s*|$))+")
_TOKEN_OF_MESSAGES = lazy_regex(rb"\b20000[5-8]\b")
"""An id of Harmony's tokens for channels, messages, and their ends."""
_LISTS_OF_INTEGERS = lazy_regex(rb"(?:\[\s*\d+(?:\s*,\s*\d+)*\s*,?\s*\]\s*)*(?:\[\s*(?:\d+\s*,\s*)*\d*\s*)?")
"""Whole arrays, and the start of an array that is cut off at the end of the head."""
_CONTROLS = lazy_regex(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]+")
_MAY_BE_LOG = lazy_regex(
    rb"Received request [^\n]{1,200}: prompt: |Request [^\n]{1,200} details: prompt: "
    rb"|Generated response [^\n]{1,300}output: |(?:Receive|Finish): [^\n]{0,200}obj="
    rb"|\"llm\.prediction\.(?:input|output)\""
)
"""A pattern that matches every text log with a record."""
_MAY_BE_LOGGED = lazy_regex(
    rb"llm\.prediction\.|\"id_task\"|Received request |Generated response |details: prompt: |: obj="
)
"""A pattern that matches every JSON log with a record."""
_MAY_BE_TEMPLATE = lazy_regex(
    rb"<\|(?:im_|start_header_id|header_start|turn>|START_OF_TURN|observation|system\||user\||assistant\|)"
    rb"|<start_of_turn>|\]~|\[gMASK\]|\[(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|MODEL_SETTINGS)\]|" + "<｜".encode()
)
"""A pattern that matches every text in a chat template."""
_SPOKEN = ("content", "parts", "text", "message", "tool_calls", "function_call", "value", "request", "input", "output")
"""Members that hold the content of a message."""
_EVENT_TYPE = lazy_regex(r"response\..*|tool\.cancel|conversation\.item\..*|session\.(?:created|updated)")


class Detection(Struct, frozen=True):
    """The chosen format, with a reason."""

    format: str
    reason: str
    confidence: float
    unknown: str | None = None
    """The kind of input if no format was recognized: `json`, `text`, or `binary`."""
    keys: tuple[str, ...] = ()
    """The top-level keys of unknown JSON."""


def plain_keys(keys: Sequence[str]) -> tuple[str, ...]:
    """Return the first keys that may be shown because they are plain words."""
    return tuple(key for key in keys if _PLAIN_KEY.fullmatch(key))[:MOST_KEYS_NAMED]


class Evidence:
    """Evidence from the head of a growing input, so that only its new lines are read when it grows."""

    def __init__(self) -> None:
        self._readings: dict[bytes, JsonReading] = {}
        self._ranked: list[JsonNode] | None = None
        self._best: Detection | None = None

    def read(self, texts: Sequence[bytes]) -> list[JsonReading]:
        """Read those JSON texts that were not in the previous head."""
        known = self._readings
        self._readings = {text: known.get(text) or read_json(text) for text in texts}
        return [self._readings[text] for text in texts]

    def by_table(self, values: list[JsonNode]) -> Detection | None:
        """Detect a format that is defined by a table, unless the values are the same as last time."""
        before = self._ranked
        if before is None or len(before) != len(values) or any(map(is_not, before, values)):
            self._ranked, self._best = values, _by_table(values)
        return self._best


def detect(head: bytes, size: int = HEAD, evidence: Evidence | None = None) -> Detection:
    """Detect the format of an input that begins with these bytes. The first `size` of them decide. The caller keeps
    `evidence` while the input grows."""
    text = head[:size].removeprefix(BYTE_ORDER_MARK)
    bare = text.lstrip(b" \t\r\n")
    if not bare:
        return Detection("openchatml-2.2", "empty", 0.0)
    if _AIDER.match(bare):
        return _aider()
    structured = _structured(bare, evidence or Evidence())
    if structured:
        return structured
    return (None if _is_json(bare) else _marked(text)) or _unmarked(text)


def _is_json(bare: bytes) -> bool:
    """True for JSON. Marks of a chat template in its strings, as in a list of models, do not make it a transcript."""
    if not bare.startswith((b"{", b"[")) or _LINE_MARKER.search(bare) or _NEW_MARKER.search(bare):
        return False
    reading = read_json(bare)
    if reading.fault and not (reading.fault.is_truncation and len(bare) > HEAD // 2):
        return False
    return reading.node is not None and (not reading.node.closed or not bare[reading.end :].strip())


def _aider() -> Detection:
    return Detection("aider", "lines that begin with `# aider chat started at`", 0.95)


def _structured(bare: bytes, evidence: Evidence) -> Detection | None:
    """Detect JSON or an event stream, unless a line begins with a marker of a text format."""
    if bare.startswith((b"{", b"[")) and not bare.startswith(b"[BOS]"):
        marker = _LINE_MARKER.search(bare)
        if marker and not bare.startswith(b"["):
            return None
        return _json(bare, evidence)
    if _LINES_OF_INTEGERS.fullmatch(bare) or (_ROWS_OF_INTEGERS.fullmatch(bare) and _TOKEN_OF_MESSAGES.search(bare)):
        return Detection("harmony-tokens", "a list of integers", 0.8)
    if _SSE.match(bare) and not _LINE_MARKER.search(bare):
        by_table = evidence.by_table(_event_values(bare, evidence))
        return by_table or Detection("events", "lines of server-sent events", 0.9)
    return None


def _json(bare: bytes, evidence: Evidence) -> Detection | None:
    if bare.startswith(b"[") and _LISTS_OF_INTEGERS.fullmatch(bare) and re.match(rb"\[\s*\d", bare):
        return Detection("harmony-tokens", "an array of integers", 0.95)
    values, lines = _first_values(bare, evidence)
    if _is_logged(bare, values):
        return Detection("server-log", "records of a model server", 0.9)
    by_table = evidence.by_table(values)
    if by_table:
        return by_table
    for value in [*values, *lines]:
        found = _by_value(value)
        if found:
            return found
    return _by_plugin(values)


def _by_table(values: list[JsonNode]) -> Detection | None:
    """Detect a format that is defined by a table."""
    from viewer.formats import record_formats

    return _decisive(_tables(values, record_formats()))


def _by_plugin(values: list[JsonNode]) -> Detection | None:
    """Detect a plug-in format. This comes after all built-in formats."""
    return _decisive(_tables(values, PLUGGED.tables()))


def _decisive(ranking: list[Detection]) -> Detection | None:
    return ranking[0] if ranking and ranking[0].confidence * 100 >= LEAST_SCORE else None


def _tables(values: list[JsonNode], formats: list[RecordFormat]) -> list[Detection]:
    """Return the tables that fit, best first."""
    from viewer.formats.engine.detect import rank

    return [Detection(match.format, match.reason, match.score / 100) for match in rank(formats, values)]


def ranking(head: bytes) -> list[Detection]:
    """Return all formats that an input may have: first the chosen one, then those that fit less well."""
    chosen = detect(head)
    bare = head[:HEAD].removeprefix(BYTE_ORDER_MARK).lstrip(b" \t\r\n")
    from viewer.formats import record_formats

    formats = [*record_formats(), *PLUGGED.tables()]
    others = _tables(_first_values(bare, Evidence())[0], formats) if bare.startswith((b"{", b"[")) else []
    first = [] if chosen.unknown else [chosen]
    return [*first, *(other for other in others if other.format != chosen.format)]


def _event_values(bare: bytes, evidence: Evidence) -> list[JsonNode]:
    """Return the first values of server-sent events."""
    readings = evidence.read([found[1] for found in islice(_DATA_LINE.finditer(bare), 64)])
    return [reading.node for reading in readings if reading.node and not reading.fault]


def _first_values(bare: bytes, evidence: Evidence) -> tuple[list[JsonNode], list[JsonNode]]:
    """Return the first values of the input, from its lines or else from the document, and the lines inside the
    document."""
    values: list[JsonNode] = []
    readings: list[JsonReading] = []
    if bare.startswith(b"{"):
        lines = bare.split(b"\n", 64)[:64]
        readings = evidence.read([line for line in lines if line.lstrip().startswith(b"{")])
        values = [reading.node for reading in readings if reading.node and not reading.fault]
    is_first_line = bool(readings) and _is_value(readings[0]) and not readings[0].fault
    document = readings[0] if is_first_line else read_json(bare)
    whole = [document.node] if document.node else []
    is_document = bool(readings) and not _is_value(readings[0]) and document.may_go_on
    return (whole, values) if is_document else ([*values, *whole], [])


def _is_value(reading: JsonReading) -> bool:
    return reading.node is not None and reading.node.closed


def _by_value(value: JsonNode) -> Detection | None:
    if value.kind is JsonKind.ARRAY:
        return _by_items(value.items[:64])
    if value.kind is not JsonKind.OBJECT:
        return None
    kind = value.get("type") or value.get("event")
    if kind and kind.kind is JsonKind.STRING and _EVENT_TYPE.fullmatch(kind.text) and not value.get("properties"):
        return Detection("events", f"objects with an event type in `{'type' if value.get('type') else 'event'}`", 0.95)
    choices = value.get("choices")
    if choices and not any(item.kind is JsonKind.OBJECT for item in choices.items):
        choices = None
    if choices and choices.items and choices.items[0].get("delta") and not choices.items[0].get("message"):
        return Detection("events", "chunks of a chat completion", 0.9)
    if choices or value.get("messages") or value.get("role") or _carries_message(value) or _is_exchange(value):
        reason = "objects with `role` or `messages`"
        if _may_hold_messages(value):
            return Detection("json", reason, 0.9)
        return Detection("json", reason, 0.9, "json", tuple(member.key for member in value.members))
    return Detection("json", "errors in place of responses", 0.8) if _is_failed(value) else None


def _may_hold_messages(value: JsonNode) -> bool:
    """False for JSON that is a transcript only if a message is found in it: schemas, profiles, and settings also have
    members with these names."""
    listed = value.get("messages")
    if listed is not None:
        return listed.kind is not JsonKind.ARRAY or any(map(_is_spoken, listed.items)) or not listed.items
    return any(value.get(key) for key in ("choices", "author", *_SPOKEN)) or _is_failed(value)


def _is_spoken(item: JsonNode) -> bool:
    return item.kind is not JsonKind.OBJECT or any(item.get(key) for key in ("role", "author", "from", "kwargs"))


def _is_failed(value: JsonNode) -> bool:
    """True for a batch line or a response body that holds only an error."""
    if not any(value.get(key) for key in ("error", "response", "body")):
        return False
    from viewer.formats.json.api_errors import find_error

    return find_error(value) is not None


def _carries_message(value: JsonNode) -> bool:
    author = value.get("author")
    return author is not None and author.get("role") is not None


def _is_exchange(value: JsonNode) -> bool:
    """True for a request with its response."""
    if not any(value.get(key) for key in ("request", "response", "kwargs", "response_obj", "body")):
        return False
    from viewer.formats.json.wrappers import MessageFinder
    from viewer.formats.tables.messages import MESSAGE_TABLE

    return MessageFinder(MESSAGE_TABLE).is_wrapper(value)


def _by_items(items: list[JsonNode]) -> Detection | None:
    if any(item.get("token") for item in items):
        return Detection("chatml-json", "an array of strings and `token` objects", 0.95)
    for item in items:
        found = _by_value(item)
        if found and (item.kind is JsonKind.OBJECT or found.format == "json"):
            return found
    return None


def _is_logged(bare: bytes, values: list[JsonNode]) -> bool:
    """True for JSON records of a model server."""
    if not _MAY_BE_LOGGED.search(bare):
        return False
    from viewer.formats.server.lines import is_logged

    return is_logged(values)


def _sign_of(text: bytes) -> Sign | None:
    """Return the first mark of a chat template."""
    if not _MAY_BE_TEMPLATE.search(text):
        return None
    from viewer.formats.text.template_signs import find_sign

    return find_sign(text)


def _marked(text: bytes) -> Detection | None:
    marker = _MARKER.search(text)
    line_marker = _LINE_MARKER.search(text)
    before = text[: line_marker.start()] if line_marker else text
    if is_yaml_like(before) and (marker or (_names_version(before) and not before.startswith(_FRONT_MATTER))):
        return _by_version(before)
    logged = _MAY_BE_LOG.search(text)
    if logged and not (line_marker and line_marker.start() < logged.start()):
        return Detection("server-log", "lines with prompts and outputs of a model server", 0.9)
    sign = _sign_of(text)
    if sign is not None and (marker is None or sign.start <= marker.start()):
        return Detection(sign.format, f"the first mark is `{sign.mark}`", 0.95)
    if not marker:
        return None
    if marker[1]:
        return Detection("openchatml-0.1", f"the first marker is `{marker[0].decode()}`", 0.95)
    if _HEADER_2_2.search(text) or b"<|literal|>" in text:
        return Detection("openchatml-2.2", "message headers or bodies with features of 2.2, no document header", 0.85)
    if _ASSISTANT.search(text) and not _CHANNELLED.search(text):
        return Detection("openchatml-1.x", "assistant messages without any channel", 0.7)
    return Detection("harmony", "control tokens without a document header", 0.8)


def _names_version(header: bytes) -> bool:
    """True if a header without a message names a version of OpenChatML. Other files also have versions."""
    version = _version_of(header)
    return version is not None and _OPENCHATML_VERSION.fullmatch(version) is not None


def _version_of(header: bytes) -> str | None:
    """Return the version in a header. Long YAML is not parsed again each time the input grows."""
    line = _VERSION_LINE.search(header) if len(header) > LONGEST_REMEMBERED else None
    if line:
        return line[1].decode()
    match = _VERSION.search(header)
    return read_header(header).version or (match[1].decode() if match else None)


def _by_version(header: bytes) -> Detection:
    version = _version_of(header)
    if version is None:
        return Detection("openchatml-2.2", "a document header without a readable version", 0.6)
    if version.startswith("0."):
        return Detection("openchatml-0.1", "the document header gives version 0.1", 0.9)
    from viewer.formats.text.openchatml import grammar_of_version

    name = grammar_of_version(version).name
    return Detection(name, "the version in the document header", 0.99)


def _unmarked(text: bytes) -> Detection:
    if _AIDER.search(text):
        return _aider()
    from viewer.formats.text.harmony import STRIPPED

    if STRIPPED.match(text):
        return Detection("harmony", "channel words without their tokens: a decoder dropped them", 0.6)
    kind, keys = _unknown_kind(text)
    return Detection("openchatml-2.2", f"no transcript was recognized: {kind}", 0.0, kind, keys)


def _unknown_kind(text: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the kind of an unrecognized input, and the top-level keys of JSON."""
    bare = text.strip(b" \t\r\n")
    odd = sum(map(len, _CONTROLS.findall(text))) + text.decode("utf-8", "replace").count("\ufffd")
    if b"\0" in text or odd * 10 > len(text):
        return "binary", ()
    if bare.startswith((b"{", b"[")):
        reading = read_json(bare)
        is_whole = reading.fault is None or (reading.fault.is_truncation and len(text) >= HEAD)
        if (
            is_whole
            and reading.node is not None
            and (reading.end == len(bare) or b"\n" in bare or not reading.node.closed)
        ):
            node = reading.node.items[0] if reading.node.items else reading.node
            return "json", tuple(dict.fromkeys(member.key for member in node.members))
    return "text", ()
