"""The YAML document header at the start of a transcript: find its end and read its values."""

from __future__ import annotations

import re

from msgspec import Struct, field

from viewer.cache import bounded_cache, lazy_regex
from viewer.reading.cursor import Window
from viewer.reading.header import looks_like_header
from viewer.reading.recorder import Recorder
from viewer.rules.errors import E_PARSE_HEADER
from viewer.rules.structure import W_VERSION_UNKNOWN
from viewer.syntax.json_text import read_json
from viewer.syntax.yaml_reader import MALFORMED, YamlFault, read_yaml

VERSION_MISSING = "version-missing"

_FALSE = frozenset({"false", "no", "off", "n"})
LONGEST = 64 * 1024
LONGEST_REMEMBERED = 4 * 1024

_LINE_START = lazy_regex(rb"^<\|start\|>", re.MULTILINE)
_ANY_START = lazy_regex(rb"(?<!<)<\|start\|>(.{0,600}?)<\|message\|>", re.DOTALL)
_NOT_SPACE = lazy_regex(rb"[^ \t\r\n]")
_VERSION_LINE = lazy_regex(rb"^version:[^\r\n]*", re.MULTILINE)
_VERSION_KEY = lazy_regex(rb"(?:^|[{,?])[ \t]*[\"']?version[\"']?\s*:[^\r\n]*", re.MULTILINE)
_VERSION_BEGINS_LINE = lazy_regex(rb"version[ \t]*:|\"version\"[ \t]*:|'version'[ \t]*:")
_EVENT_KEY = lazy_regex(rb"\"(?:type|event)\"[ \t]*:")
_KNOWN_VERSION = lazy_regex(r"2\.[02]|2|1(\.\d+)?|0\.1")
_BLOCK_LINES = (b"---", b"version", b'"version"', b"'version'")


class DocumentHeader(Struct, frozen=True):
    """The values in a document header, and its faults."""

    values: dict[str, object] = field(default_factory=dict)
    version: str | None = None
    model: str | None = None
    faults: tuple[YamlFault, ...] = ()


class HarmonyProfile(Struct, frozen=True):
    """The keys of `profiles.harmony` that affect diagnostics."""

    require_channels: bool = False
    tool_calls_in: str = "commentary"
    builtins_in: tuple[str, ...] = ("analysis", "commentary")


class DocumentHeaderSpan(Struct, frozen=True, gc=False):
    """Where the text before the first message ends, and whether it is a header."""

    end: int
    is_header: bool
    is_cut: bool = False
    """True if the text exceeds the size limit of a header."""


def find_document_header(window: Window, start: int, scan: int, ended: bool) -> DocumentHeaderSpan | None:
    """Find the text from `start` to the first message. Return None if more input is needed.

    No line before `scan` begins with `<|start|>`. The window begins at the start of a line.
    """
    limit = start + LONGEST
    first = _NOT_SPACE.search(window.data, start - window.base)
    if first and first[0] == b"{":
        is_record = _begins_record(window, first.start() + window.base, limit, ended)
        if is_record is not False:
            return DocumentHeaderSpan(start, False) if is_record else None
    match = _LINE_START.search(window.data, scan - window.base, limit + len(b"<|start|>") - window.base)
    if match:
        end = match.start() + window.base
        text = window.text(start, end)
        return DocumentHeaderSpan(end, _is_header(text) or _is_mapping(text))
    if window.end > limit + len(b"<|start|>") or ended:
        head = window.text(start, min(limit, window.end))
        return DocumentHeaderSpan(start + _end_without_line_start(head), _is_header(head), window.end > limit)
    return None


def _is_header(text: bytes) -> bool:
    """True if the text is a document header. Text that begins with a version counts as one, whatever its faults."""
    return _VERSION_BEGINS_LINE.match(text) is not None or is_yaml_like(text)


def _end_without_line_start(head: bytes) -> int:
    """Return where the first message with a plausible header begins, even inside a line, or the length of the text."""
    for match in _ANY_START.finditer(head):
        if looks_like_header(match[1]):
            return match.start()
    return len(head)


def is_yaml_like(text: bytes) -> bool:
    """True if the text before a message is a document header, even a malformed one."""
    if text.lstrip(b" \t\r\n").startswith(b"---") or _VERSION_LINE.search(text):
        return True
    return b"version" in text and read_header(text).version is not None


def read_header(text: bytes) -> DocumentHeader:
    """Parse a document header, with a cache for short ones."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else read_document_header(text)


def _is_mapping(text: bytes) -> bool:
    """True for a YAML mapping without faults or messages, with or without a version."""
    if _end_without_line_start(text) < len(text):
        return False
    header = read_header(text)
    return bool(header.values) and all(fault.reason == VERSION_MISSING for fault in header.faults)


def _begins_record(window: Window, start: int, limit: int, ended: bool) -> bool | None:
    """True if a line that begins with `{` is an event or a record, not a header; None if it is incomplete."""
    end = window.line_end(start)
    if end < 0 and not ended and window.end <= limit:
        return None
    line = window.text(start, min(limit, end if end >= 0 else window.end))
    value = read_json(line)
    is_object = value.node is not None and value.fault is None
    return is_object and (_EVENT_KEY.search(line) is not None or not _VERSION_KEY.search(line))


def begins_block(line: bytes, whole: bool) -> bool | None:
    """True if a line between messages begins a new document header; None if too little of it is known."""
    bare = line.rstrip(b" \t\r\n")
    if _VERSION_BEGINS_LINE.match(line):
        return True
    if bare == b"---":
        return True if whole else None
    if whole or not any(begin.startswith(bare) for begin in _BLOCK_LINES):
        return False
    return None


@bounded_cache(256)
def _remembered(data: bytes) -> DocumentHeader:
    return read_document_header(data)


def start_transcript(record: Recorder, data: bytes, base: int, format: str | None = None) -> str | None:
    """Record a transcript with this document header and the header's faults. Return its version, or None if it has
    none."""
    header = read_header(data)
    record.start(base, header.version, header.model, header.values, format)
    for fault in header.faults:
        record.report(E_PARSE_HEADER, fault.reason, base + fault.start, base + fault.end)
    if header.version is not None and not _KNOWN_VERSION.fullmatch(header.version):
        start, end = _place_of(header.version, data)
        record.report(W_VERSION_UNKNOWN, None, base + start, base + end)
    return header.version


def _place_of(version: str, data: bytes) -> tuple[int, int]:
    """Return the span of the version number, or of its whole line if the number is spelled differently there. Without
    such a line, the span is empty."""
    line = _VERSION_LINE.search(data) or _VERSION_KEY.search(data)
    if line is None:
        return 0, 0
    spelled = version.encode()
    at = data.find(spelled, data.index(b"version", line.start()) + len(b"version"), line.end())
    return (at, at + len(spelled)) if at >= 0 else line.span()


def read_document_header(data: bytes, base: int = 0) -> DocumentHeader:
    """Parse a document header. Empty text is a header without a version."""
    reading = read_yaml(data, base)
    values = {} if reading.value == "" else reading.value
    if not isinstance(values, dict):
        faults = reading.faults or (YamlFault(MALFORMED, *reading.span),)
        return DocumentHeader(faults=faults)
    version = _text(values.get("version"))
    faults = reading.faults
    if version is None and not faults:
        faults = (YamlFault(VERSION_MISSING, base, base),)
    return DocumentHeader(values, version, _text(values.get("model")), faults)


def profile(values: dict[str, object]) -> HarmonyProfile:
    """Return the Harmony profile of a header. Its keys apply unless it contains `enabled: false`."""
    profiles = values.get("profiles")
    keys = profiles.get("harmony") if isinstance(profiles, dict) else None
    if not isinstance(keys, dict) or _is_false(keys.get("enabled", "")):
        return HarmonyProfile()
    default = HarmonyProfile()
    required = keys.get("require_channels")
    calls = _texts(keys.get("tool_calls_in"))
    return HarmonyProfile(
        bool(required) and not _is_false(required),
        calls[0] if calls else default.tool_calls_in,
        _texts(keys["builtins_in"]) if "builtins_in" in keys else default.builtins_in,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(item for item in items if isinstance(item, str) and item)


def _is_false(value: object) -> bool:
    return isinstance(value, str) and value.casefold() in _FALSE
