"""The YAML block that a transcript begins with: where it ends, and what it says."""

from __future__ import annotations

import re
from typing import NamedTuple

from viewer.cache import bounded_cache
from viewer.reading.cursor import Window
from viewer.reading.header import looks_like_header
from viewer.reading.recorder import Recorder
from viewer.reading.yaml_header import VERSION_MISSING, DocumentHeader, read_document_header
from viewer.syntax.json_text import read_json

LONGEST = 64 * 1024
LONGEST_REMEMBERED = 4 * 1024

_LINE_START = re.compile(rb"^<\|start\|>", re.MULTILINE)
_ANY_START = re.compile(rb"(?<!<)<\|start\|>(.{0,600}?)<\|message\|>", re.DOTALL)
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_VERSION_LINE = re.compile(rb"^version:[^\r\n]*", re.MULTILINE)
_VERSION_KEY = re.compile(rb"(?:^|[{,?])[ \t]*[\"']?version[\"']?\s*:[^\r\n]*", re.MULTILINE)
_VERSION_BEGINS_LINE = re.compile(rb"version[ \t]*:|\"version\"[ \t]*:|'version'[ \t]*:")
_EVENT_KEY = re.compile(rb"\"(?:type|event)\"[ \t]*:")
_KNOWN_VERSION = re.compile(r"2\.[02]|2|1(\.\d+)?|0\.1")
_BLOCK_LINES = (b"---", b"version", b'"version"', b"'version'")


class DocumentHeaderSpan(NamedTuple):
    """Where the text before the first message ends, and whether it is a header."""

    end: int
    is_header: bool
    is_cut: bool = False
    """It goes on beyond what is read of a header."""


def find_document_header(window: Window, start: int, scan: int, ended: bool) -> DocumentHeaderSpan | None:
    """The text from `start` to the first message; None while more input is needed to know.

    No `<|start|>` that begins a line stands before `scan`; the window begins at the beginning of a line.
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
    """True if text is a document header; one whose first line gives a version may have any fault."""
    return _VERSION_BEGINS_LINE.match(text) is not None or is_yaml_like(text)


def _end_without_line_start(head: bytes) -> int:
    """No message begins a line: the first that has a plausible header, or all of the text."""
    for match in _ANY_START.finditer(head):
        if looks_like_header(match[1]):
            return match.start()
    return len(head)


def is_yaml_like(text: bytes) -> bool:
    """Whether text before a message is a document header, also a malformed one."""
    if text.lstrip(b" \t\r\n").startswith(b"---") or _VERSION_LINE.search(text):
        return True
    return b"version" in text and read_header(text).version is not None


def read_header(text: bytes) -> DocumentHeader:
    """The document header that a text is."""
    return _remembered(text) if len(text) <= LONGEST_REMEMBERED else read_document_header(text)


def _is_mapping(text: bytes) -> bool:
    """True for a YAML mapping without a fault, with or without a version, that holds no message."""
    if _end_without_line_start(text) < len(text):
        return False
    header = read_header(text)
    return bool(header.values) and all(fault.reason == VERSION_MISSING for fault in header.faults)


def _begins_record(window: Window, start: int, limit: int, ended: bool) -> bool | None:
    """True if the line that begins with `{` is an event or a record, not a header; None while it is not whole."""
    end = window.line_end(start)
    if end < 0 and not ended and window.end <= limit:
        return None
    line = window.text(start, min(limit, end if end >= 0 else window.end))
    value = read_json(line)
    is_object = value.node is not None and value.fault is None
    return is_object and (_EVENT_KEY.search(line) is not None or not _VERSION_KEY.search(line))


def begins_block(line: bytes, whole: bool) -> bool | None:
    """Whether a line between messages begins a new document header; None while too little of it is known."""
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


def start_transcript(record: Recorder, data: bytes, base: int, dialect: str | None = None) -> str | None:
    """Record a transcript with this document header; returns its version."""
    header = read_header(data)
    record.start(base, header.version, header.model, header.values, dialect)
    for fault in header.faults:
        record.report("E-PARSE-HEADER", fault.reason, base + fault.start, base + fault.end)
    if header.version is not None and not _KNOWN_VERSION.fullmatch(header.version):
        start, end = _place_of(header.version, data)
        record.report("W-VERSION-UNKNOWN", None, base + start, base + end)
    return header.version


def _place_of(version: str, data: bytes) -> tuple[int, int]:
    """The place of the version in its line; the line if it is spelled in another way."""
    line = _VERSION_LINE.search(data) or _VERSION_KEY.search(data)
    if line is None:
        return 0, 0
    spelled = version.encode()
    at = data.find(spelled, data.index(b"version", line.start()) + len(b"version"), line.end())
    return (at, at + len(spelled)) if at >= 0 else line.span()
