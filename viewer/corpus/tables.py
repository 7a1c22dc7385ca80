"""`TABLES`: the tables of a scan and their columns, and `Contents`, which describes what a directory contains."""

from __future__ import annotations

from enum import Enum

import msgspec
from msgspec import Struct

from viewer.errors import ViewerError
from viewer.model.visibility import Audience, Reveal

SCHEMA_VERSION = 1
"""The version of the tables. Increase it when a table or a column changes."""
READING_VERSION = 1
"""The version of the results. Increase it when diagnostics or visibility change so that all files are scanned
again."""
DEBUG_SUFFIX = ".DEBUG"
"""The suffix of directories that contain revealed data."""
DESCRIPTION = "scan.json"
"""The file that describes the contents of a directory."""


class FileState(Enum):
    """The result of scanning a file."""

    OK = "ok"
    EMPTY = "empty"
    NOT_A_TRANSCRIPT = "not-a-transcript"
    TRUNCATED = "truncated"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too-large"
    TIMEOUT = "timeout"
    KILLED = "killed"


FAILED = frozenset({FileState.UNREADABLE, FileState.TIMEOUT, FileState.KILLED})
"""Files in these states cause exit code 2, and `--retry-failed` scans them again."""


class Need(Enum):
    """A condition that a directory must meet to have a column."""

    NOTHING = ""
    COUNTS = "counts"
    """Any view except a strict safe view, which does not reveal that anything is hidden."""
    REVEALED = "revealed"
    TEXT = "text"
    LEAKS = "leaks"
    CONTENT = "content"


class Column(Struct, frozen=True):
    """A column of a table."""

    name: str
    type: str
    """`string`, `dict` (a string from a dictionary), `int64`, `int32`, `double`, or `bool`."""
    need: Need = Need.NOTHING


def _columns(type: str, names: str, need: Need = Need.NOTHING) -> tuple[Column, ...]:
    return tuple(Column(name, type, need) for name in names.split())


_KEY = (Column("file_key", "string"), Column("part", "dict"))

TABLES: dict[str, tuple[Column, ...]] = {
    "messages": (
        *_KEY,
        *_columns("int32", "transcript"),
        *_columns("int64", "message"),
        *_columns("int32", "turn"),
        *_columns("dict", "role channel channel_given ending format model"),
        *_columns("int64", "time_ms"),
        *_columns("bool", "visible preamble"),
        *_columns("string", "recipient name", Need.REVEALED),
        *_columns("dict", "intent", Need.REVEALED),
        *_columns("string", "call_id", Need.REVEALED),
        *_columns("int64", "bytes start line", Need.REVEALED),
        *_columns("bool", "json", Need.REVEALED),
        *_columns("string", "text", Need.TEXT),
    ),
    "calls": (
        *_KEY,
        *_columns("int32", "transcript turn"),
        *_columns("dict", "tool"),
        *_columns("string", "call_id"),
        *_columns("int64", "call reply"),
        *_columns("dict", "state"),
        *_columns("bool", "inferred"),
        *_columns("int64", "call_ms latency_ms deadline_ms"),
    ),
    "diagnostics": (
        *_KEY,
        *_columns("dict", "code reason severity"),
        *_columns("int64", "message start end line column"),
        *_columns("int32", "count"),
    ),
    "files": (
        *_KEY,
        *_columns("string", "path"),
        *_columns("int64", "size mtime_ms"),
        *_columns("dict", "format state reason model"),
        *_columns("int32", "transcripts"),
        *_columns("int64", "messages shown"),
        *_columns("int64", "hidden", Need.COUNTS),
        *_columns("int64", "errors warnings dropped"),
        *_columns("double", "seconds"),
        *_columns("int64", "scanned_ms"),
        *_columns("dict", "tool_version run_id"),
        *_columns("int32", "leak", Need.LEAKS),
        *_columns("dict", "leak_level", Need.LEAKS),
        *_columns("int64", "leak_message", Need.LEAKS),
        *_columns("string", "content_hash", Need.CONTENT),
    ),
    "runs": (
        *_columns("string", "run_id"),
        *_columns("int64", "started_ms ended_ms heartbeat_ms"),
        *_columns("dict", "state engine"),
        *_columns("int32", "workers"),
        *_columns("int64", "listed skipped known done failed bytes"),
        *_columns("dict", "tool_version"),
        *_columns("string", "arguments"),
    ),
}
"""All tables, in the order in which the parts of a batch are written. The part of `files` is the commit."""
OF_FILES = ("messages", "calls", "diagnostics")
"""The tables whose rows belong to a file and are valid only while the row of that file is current."""


class Contents(Struct, frozen=True):
    """The content of the tables of a directory, and their audience. A scan with other settings needs its own
    directory."""

    reveal: tuple[str, ...] = ()
    """The sorted names of the revealed kinds."""
    strict_safe: bool = False
    text: bool = False
    leaks: bool = False
    by_content: bool = False
    schema: int = SCHEMA_VERSION

    @property
    def audience(self) -> Audience:
        """The audience of the tables."""
        return Audience(frozenset(map(Reveal, self.reveal)), self.strict_safe)

    @property
    def needs_met(self) -> frozenset[Need]:
        """The conditions that the directory meets."""
        met = {
            Need.NOTHING: True,
            Need.COUNTS: not self.strict_safe,
            Need.REVEALED: bool(self.reveal),
            Need.TEXT: self.text,
            Need.LEAKS: self.leaks,
            Need.CONTENT: self.by_content,
        }
        return frozenset(need for need, is_met in met.items() if is_met)

    @property
    def has_calls(self) -> bool:
        """True if the directory has a table of calls, which requires that tools are revealed."""
        return self.audience.reveals(Reveal.TOOL)

    def columns(self, table: str) -> list[Column]:
        """Return the columns of a table in this directory."""
        met = self.needs_met
        return [column for column in TABLES[table] if column.need in met]

    @property
    def view(self) -> str:
        """The audience in words, for errors."""
        if self.reveal:
            return f"what --reveal {','.join(self.reveal)} shows"
        return "the strict safe view" if self.strict_safe else "the safe view"


class Description(Struct, frozen=True):
    """The data in the `scan.json` file of a directory."""

    contents: Contents
    is_compact: bool = False
    """True if the tables contain no superseded rows, so the views need not filter them out."""


def contents_of(audience: Audience, *, text: bool = False, leaks: bool = False, by_content: bool = False) -> Contents:
    """Return the contents of a directory for this audience."""
    reveal = tuple(sorted(kind.value for kind in audience.revealed))
    return Contents(reveal, audience.strict and audience.is_safe, text, leaks, by_content)


def read_description(data: bytes, name: str) -> Description:
    """Parse `scan.json`. Raise ViewerError if an incompatible version wrote it."""
    try:
        found = msgspec.json.decode(data, type=Description)
        known = {kind.value for kind in Reveal}
        if found.contents.schema == SCHEMA_VERSION and known.issuperset(found.contents.reveal):
            return found
    except msgspec.DecodeError:
        pass
    raise ViewerError(f"{name} was written by another version of ocmlview; scan again into another directory")


def check_name(name: str, contents: Contents) -> None:
    """Refuse a directory for revealed data if its name does not end in .DEBUG."""
    bare = name.rstrip("/")
    if contents.reveal and not bare.endswith(DEBUG_SUFFIX):
        raise ViewerError(f"tables with revealed data need a name ending in .DEBUG: --to {bare}{DEBUG_SUFFIX}")
