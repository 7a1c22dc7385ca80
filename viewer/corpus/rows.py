"""Turn a transcript into rows of the tables for one audience. An unreadable file becomes a row with the reason."""

from __future__ import annotations

import codecs
import errno
import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from viewer.corpus.tables import TABLES, Contents, FileState
from viewer.document.document import MOST_REVISIONS, Document
from viewer.document.projection import Projection
from viewer.document.rows import Rows
from viewer.document.values import ShownMessage
from viewer.errors import FileRewrittenError, ViewerError
from viewer.index.findings import MOST_PER_CODE
from viewer.model.visibility import END_USER, EVERYTHING, Audience
from viewer.rules.errors import E_STREAM_TRUNCATED
from viewer.sources.compressed import DAMAGED, TOO_LARGE, TRUNCATED
from viewer.sources.containers.table import container_at, listed_format
from viewer.sources.files import CHUNK, Source, open_source

if TYPE_CHECKING:
    from viewer.document.document import Finding

MOST_IN_NOISE = 20
"""The maximum number of diagnostics to keep for a file that is not a transcript."""
NOISE = 1024 * 1024
"""How many bytes of a file of unknown format to search for a message. If there is none, the file is not a
transcript."""
FIRST_BYTES = 64 * 1024
BLOCKS = 48 * 1024
"""The minimum size in bytes of an input that is read in blocks with NumPy, which a worker has imported anyway. For
smaller inputs, NumPy calls cost more time than they save."""
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REASONS = {errno.EACCES: "permission", errno.EPERM: "permission", errno.ENOENT: "missing", errno.ELOOP: "missing"}

Row = dict[str, Any]
Columns = dict[str, list[Any]]
"""Rows as one list per column."""


class FileRows(Struct):
    """The rows of one file. The rows of its messages, calls, and diagnostics have no file key yet."""

    file: Row
    messages: Columns = {}
    """The messages, one list per column. A file that is not a transcript has none."""
    calls: list[Row] = []
    diagnostics: list[Row] = []
    codes: dict[str, int] = {}
    """The number of errors and warnings with each code, for the report of the scan."""


def rows_of(
    path: str,
    audience: Audience = END_USER,
    *,
    text: bool = False,
    leaks: bool = False,
    max_size: int | None = None,
) -> FileRows:
    """Read a file and return its rows for an audience."""
    from viewer.corpus.tables import contents_of

    return read_rows(path, contents_of(audience, text=text, leaks=leaks), max_size)


def read_rows(
    path: str, contents: Contents, max_size: int | None = None, open: Callable[[str], Source] = open_source
) -> FileRows:
    """Read the rows of a file for a directory with these contents. `open` opens files that are not on disk."""
    began = time.perf_counter()
    found = _rows(path, contents, max_size, open)
    found.file["seconds"] = time.perf_counter() - began
    return found


def _rows(path: str, contents: Contents, max_size: int | None, open: Callable[[str], Source]) -> FileRows:
    if open is open_source:
        try:
            status = os.stat(path)
            size = status.st_size
            if not stat.S_ISDIR(status.st_mode):
                os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except OSError as error:
            return failed_rows(FileState.UNREADABLE, _REASONS.get(error.errno or 0, "io"))
        except ValueError:
            return failed_rows(FileState.UNREADABLE, "missing")
        if not size:
            return failed_rows(FileState.EMPTY)
        if max_size is not None and size > max_size:
            return failed_rows(FileState.TOO_LARGE)
    for _ in range(MOST_REVISIONS):
        try:
            source = open(path)
            if max_size is not None and source.size > max_size:  # after decompression
                return failed_rows(FileState.TOO_LARGE)
            return _DocumentRows(source, contents).rows()
        except FileRewrittenError:
            continue
        except ViewerError:
            container = container_at(path) if open is open_source else None
            if container is not None and not listed_format(container, path):
                return failed_rows(FileState.NOT_A_TRANSCRIPT)
            break
        except OSError as error:
            return failed_rows(FileState.UNREADABLE, _REASONS.get(error.errno or 0, "io"))
        except UnicodeError:
            return failed_rows(FileState.UNREADABLE, "encoding")
    return failed_rows(FileState.UNREADABLE, "io")


def failed_rows(state: FileState, reason: str | None = None) -> FileRows:
    """Return the rows of a file that was not read as a transcript: only a file row, with a state and a reason."""
    row: Row = {column.name: None for column in TABLES["files"]}
    counts = dict.fromkeys(("transcripts", "messages", "shown", "hidden", "errors", "warnings", "dropped"), 0)
    return FileRows({**row, **counts, "state": state.value, "reason": reason, "seconds": 0.0})


def content_hash(path: str, start: int = 0, size: int | None = None) -> str | None:
    """Hash the contents of a file, or `size` bytes of it. Return None if it cannot be read."""
    known = blake2b(digest_size=16)
    left = sys.maxsize if size is None else size
    try:
        with open(path, "rb") as file:
            file.seek(start)
            while data := file.read(min(CHUNK, left)):
                known.update(data)
                left -= len(data)
    except (OSError, ValueError):
        return None
    return known.hexdigest()


class _DocumentRows:
    """Reads one input and builds its rows."""

    def __init__(self, source: Source, contents: Contents) -> None:
        self._contents = contents
        self._source = source
        self._is_strict = contents.strict_safe
        self._document = Document(source).keep_per_code(MOST_PER_CODE)
        self._document.read_in_blocks(BLOCKS)

    def rows(self) -> FileRows:
        """Read the input and return its rows. If it is not a transcript, stop early."""
        if not self._source.size and self._source.fault == DAMAGED:
            return failed_rows(FileState.UNREADABLE, DAMAGED)
        if not self._source.size and not self._source.fault:
            return failed_rows(FileState.EMPTY)
        document = self._document
        while not document.is_complete:
            document.read_some(4 * CHUNK if document.unknown is None else NOISE)
            if document.unknown and (document.size >= NOISE or self._has_nul()):
                break
        if document.unknown and document.damage == TOO_LARGE:
            return failed_rows(FileState.TOO_LARGE)
        if document.unknown and document.damage not in (TRUNCATED, DAMAGED):
            return self._noise()
        return self._transcript()

    def _has_nul(self) -> bool:
        head = self._source.read(0, FIRST_BYTES)
        return b"\0" in head and not head.startswith(_UTF_16)

    def _noise(self) -> FileRows:
        """Return the rows for an input that is not a transcript, with only a few of its diagnostics."""
        found = failed_rows(FileState.NOT_A_TRANSCRIPT, self._document.unknown)
        if self._contents.strict_safe:
            return found
        listed = self._document.findings()
        found.diagnostics = [_diagnostic(finding) for finding in listed[:MOST_IN_NOISE]]
        self._count(found, Counter(each["severity"] for each in found.diagnostics))
        found.file["dropped"] = len(listed) - len(found.diagnostics) + sum(self._document.tally.unlisted.values())
        found.codes = _codes(found.diagnostics, {})
        return found

    @staticmethod
    def _count(found: FileRows, severities: Counter[str]) -> None:
        found.file["errors"], found.file["warnings"] = severities["error"], severities["warning"]

    def _transcript(self) -> FileRows:
        document = self._document
        projection = document.project(self._contents.audience, withholds=False)
        rows = projection.rows()
        found = FileRows(failed_rows(FileState.OK).file)
        transcripts = {each.number: each for each in projection.transcripts()}
        found.messages = self._messages(projection, rows, transcripts)
        if self._contents.has_calls:
            found.calls = list(_calls(projection, found.messages))
        self._diagnose(found, projection)
        shown, hidden = len(found.messages["message"]), projection.omissions.messages
        first = next(iter(transcripts.values()), None)
        found.file |= {
            "format": document.detection.format,
            "model": first.model if first else None,
            "transcripts": len(transcripts),
            "messages": shown + hidden,
            "shown": shown,
            "hidden": hidden,
        }
        found.file["state"], found.file["reason"] = self._state(found)
        if self._contents.leaks:
            found.file |= _leaks(document)
        return found

    def _state(self, found: FileRows) -> tuple[str, str | None]:
        damage = self._document.damage
        if damage == TOO_LARGE:
            return FileState.TOO_LARGE.value, None
        if damage == DAMAGED and not found.file["messages"]:
            return FileState.UNREADABLE.value, damage
        if damage:
            return FileState.TRUNCATED.value, damage
        cut = next((row for row in found.diagnostics if row["code"] == E_STREAM_TRUNCATED.code), None)
        return (FileState.TRUNCATED.value, cut["reason"]) if cut else (FileState.OK.value, None)

    def _messages(self, projection: Projection, rows: Rows, transcripts: dict[int, Any]) -> Columns:
        """Return the shown messages as columns, because creating an object for each message would take longer than
        reading the message."""
        table = projection.message_table(rows)
        shown, places = table.columns, table.places
        kinds = {
            kind: (each.role, each.channel, each.channel_given, each.ending, each.visible, each.intent == "preamble")
            for kind, each in shown.examples.items()
        }
        found: Columns = {
            "transcript": shown.transcripts,
            "message": shown.numbers,
            "turn": shown.turns,
            "time_ms": shown.times,
            "format": [transcripts[each].format for each in shown.transcripts],
            "model": [transcripts[each].model for each in shown.transcripts],
        }
        for place, name in enumerate(("role", "channel", "channel_given", "ending", "visible", "preamble")):
            found[name] = _of_kinds(shown.kinds, {kind: facts[place] for kind, facts in kinds.items()})
        if places is not None:
            for name in ("recipient", "name", "intent"):
                found[name] = _of_kinds(shown.kinds, {kind: getattr(one, name) for kind, one in shown.examples.items()})
            found |= {"call_id": places.call_ids, "bytes": places.sizes, "start": places.starts, "line": places.lines}
            is_json = {kind: each.content_type == "json" or each.constrained for kind, each in shown.examples.items()}
            found["json"] = [is_json[kind] or at in places.values for at, kind in enumerate(shown.kinds)]
        if self._contents.text:
            messages = (projection.item(rows, row) for row in rows.of_messages)
            found["text"] = [each.body for each in messages if isinstance(each, ShownMessage)]
        return found

    def _diagnose(self, found: FileRows, projection: Projection) -> None:
        """Add the diagnostics with the positions and codes that `check --json` prints. For a strict audience, add only
        diagnostics of shown messages, without positions."""
        tally = self._document.tally
        if not self._contents.strict_safe:
            found.diagnostics = [_diagnostic(finding) for finding in self._document.findings()]
            self._count(found, Counter({each: tally.diagnostics(each) for each in ("error", "warning")}))
            found.file["dropped"] = sum(tally.unlisted.values())
            found.codes = _codes(found.diagnostics, tally.unlisted)
        else:
            for shown in projection.diagnostics():
                if not shown.hidden:
                    row = {"code": shown.code, "reason": shown.reason, "severity": shown.severity}
                    row |= dict.fromkeys(("start", "end", "line", "column"))
                    found.diagnostics.append({**row, "message": shown.message, "count": shown.count})
            self._count(found, Counter(each["severity"] for each in found.diagnostics))
            found.codes = _codes(found.diagnostics, {})


def _of_kinds(kinds: list[int], values: dict[int, Any]) -> list[Any]:
    """Return, for each message, the value that belongs to its kind."""
    return [values[kind] for kind in kinds]


def _codes(diagnostics: list[Row], dropped: dict[str, int]) -> dict[str, int]:
    """Count errors and warnings by code, including those dropped from the rows."""
    codes = Counter(each["code"] for each in diagnostics if each["severity"] != "info")
    codes.update({code: count for code, count in dropped.items() if not code.startswith("I-")})
    return codes


def _diagnostic(finding: Finding) -> Row:
    diagnostic = finding.diagnostic
    return {
        "code": diagnostic.code,
        "reason": diagnostic.reason,
        "severity": diagnostic.rule.severity.value,
        "message": diagnostic.message,
        "start": diagnostic.start,
        "end": diagnostic.end,
        "line": finding.line,
        "column": finding.column,
        "count": diagnostic.count,
    }


def _calls(projection: Projection, messages: Columns) -> Iterator[Row]:
    turns = dict(zip(messages["message"], messages["turn"], strict=True))
    times = dict(zip(messages["message"], messages["time_ms"], strict=True))
    for call in projection.calls():
        yield {
            "transcript": call.transcript,
            "turn": turns.get(call.call, turns.get(call.reply)),
            "tool": call.tool,
            "call_id": call.call_id,
            "call": call.call,
            "reply": call.reply,
            "state": call.state,
            "inferred": call.inferred,
            "call_ms": times.get(call.call),
            "latency_ms": call.latency_ms,
            "deadline_ms": call.deadline_ms,
        }


def _leaks(document: Document) -> Row:
    """Return the highest leak score of an answer, with its level and message. The score is 0 if there is no leak."""
    from viewer.insight.leaks import find_leaks, mark_boilerplate  # only scans with `--leaks` need it

    everything, shown = (document.project(each, withholds=False) for each in (EVERYTHING, END_USER))
    (answers,) = mark_boilerplate([find_leaks(everything, shown)])
    worst = max(answers.leaks, key=lambda leak: leak.score, default=None)
    if worst is None:
        return {"leak": 0, "leak_level": None, "leak_message": None}
    return {"leak": worst.score, "leak_level": worst.code, "leak_message": worst.message}
