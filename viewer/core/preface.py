"""The YAML block that a transcript begins with: where it ends, and what it says."""

from __future__ import annotations

import re
from typing import NamedTuple

from viewer.core.headers import looks_like_header
from viewer.core.memory import remembering
from viewer.core.record import Record
from viewer.core.tokens import Window
from viewer.core.yaml_header import DocumentHeader, read_document_header

LONGEST = 64 * 1024
LONGEST_REMEMBERED = 4 * 1024

_LINE_START = re.compile(rb"^<\|start\|>", re.MULTILINE)
_ANY_START = re.compile(rb"(?<!<)<\|start\|>(.{0,600}?)<\|message\|>", re.DOTALL)
_NOT_SPACE = re.compile(rb"[^ \t\r\n]")
_VERSION_LINE = re.compile(rb"^version:[^\r\n]*", re.MULTILINE)
_KNOWN_VERSION = re.compile(r"2\.[02]|2|1(\.\d+)?|0\.1")
_BLOCK_LINES = (b"---", b"version:")


class Preface(NamedTuple):
    """Where the text before the first message ends, and whether it is a header."""

    end: int
    is_header: bool
    is_cut: bool = False
    """It goes on beyond what is read of a header."""


def find_preface(window: Window, start: int, scan: int, ended: bool) -> Preface | None:
    """The text from `start` to the first message; None while more input is needed to know.

    No `<|start|>` that begins a line stands before `scan`; the window begins at the beginning of a line.
    """
    limit = start + LONGEST
    first = _NOT_SPACE.search(window.data, start - window.base)
    if first and first[0] == b"{":
        return Preface(start, False)
    match = _LINE_START.search(window.data, scan - window.base, limit + len(b"<|start|>") - window.base)
    if match:
        end = match.start() + window.base
        return Preface(end, is_yaml_like(window.text(start, end)))
    if window.end > limit + len(b"<|start|>") or ended:
        head = window.text(start, min(limit, window.end))
        return Preface(start + _end_without_line_start(head), is_yaml_like(head), window.end > limit)
    return None


def _end_without_line_start(head: bytes) -> int:
    """No message begins a line: the first that has a plausible header, or all of the text."""
    for match in _ANY_START.finditer(head):
        if looks_like_header(match[1]):
            return match.start()
    return len(head)


def is_yaml_like(text: bytes) -> bool:
    """Whether text before a message is a document header, also a malformed one."""
    return text.lstrip(b" \t\r\n").startswith(b"---") or _VERSION_LINE.search(text) is not None


def begins_block(line: bytes, whole: bool) -> bool | None:
    """Whether a line between messages begins a new document header; None while too little of it is known."""
    bare = line.rstrip(b" \t\r\n")
    if line.startswith(b"version:"):
        return True
    if bare == b"---":
        return True if whole else None
    if whole or not any(begin.startswith(line) for begin in _BLOCK_LINES):
        return False
    return None


@remembering(256)
def _remembered(data: bytes) -> DocumentHeader:
    return read_document_header(data)


def start_transcript(record: Record, data: bytes, base: int, dialect: str | None = None) -> str | None:
    """Record a transcript with this document header; returns its version."""
    header = _remembered(data) if len(data) <= LONGEST_REMEMBERED else read_document_header(data)
    record.start(base, header.version, header.model, header.values, dialect)
    for fault in header.faults:
        record.report("E-PARSE-HEADER", fault.reason, base + fault.start, base + fault.end)
    if header.version is not None and not _KNOWN_VERSION.fullmatch(header.version):
        start, end = _place_of(header.version, data)
        record.report("W-VERSION-UNKNOWN", None, base + start, base + end)
    return header.version


def _place_of(version: str, data: bytes) -> tuple[int, int]:
    """Where the version stands in its line; the line, where it is spelled in another way."""
    line = _VERSION_LINE.search(data)
    if line is None:
        return 0, 0
    spelled = version.encode()
    at = data.find(spelled, line.start() + len(b"version:"), line.end())
    return (at, at + len(spelled)) if at >= 0 else line.span()
