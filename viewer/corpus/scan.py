"""`Scan`: list the files, skip those already committed, process the others, and record the run."""

from __future__ import annotations

import fcntl
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import IO, Self

import msgspec
from msgspec import Struct

from viewer import __version__
from viewer.corpus.engines.attempts import Engine
from viewer.corpus.listing import MEMBER, Entry, Keyed, Listing, batches
from viewer.corpus.part import Job, Outcome, write_part
from viewer.corpus.rows import content_hash
from viewer.corpus.store import LocalStore, is_url, open_store
from viewer.corpus.tables import (
    DESCRIPTION,
    FAILED,
    OF_FILES,
    Contents,
    Description,
    FileState,
    check_name,
    read_description,
)
from viewer.corpus.views import Tables, current_files, dataset_of
from viewer.errors import ViewerError

HEARTBEAT = 60.0
"""The minimum number of seconds between two records of an active run."""
SILENT = 600.0
"""How many seconds after its last record a run on an object store is considered dead."""
_LOCK = ".lock"


class Known(Struct, frozen=True, gc=False):
    """The recorded result for a file that need not be scanned again."""

    state: FileState
    has_errors: bool
    has_warnings: bool


class Totals(Struct):
    """The progress of a scan, as counts only."""

    listed: int = 0
    is_listing: bool = True
    listed_bytes: int = 0
    skipped: int = 0
    known: int = 0
    done: int = 0
    done_bytes: int = 0
    failed: int = 0
    errors: int = 0
    warnings: int = 0
    seconds: float = 0.0
    """The CPU time of the workers."""
    written: int = 0
    states: Counter[str] = msgspec.field(default_factory=Counter)
    codes: Counter[str] = msgspec.field(default_factory=Counter)
    known_states: Counter[str] = msgspec.field(default_factory=Counter)
    known_with_errors: int = 0
    known_with_warnings: int = 0

    def add(self, outcome: Outcome) -> None:
        """Add the outcome of a batch."""
        self.done += outcome.files
        self.done_bytes += outcome.size
        self.errors += outcome.errors
        self.warnings += outcome.warnings
        self.seconds += outcome.seconds
        self.written += outcome.written
        self.states.update(outcome.states)
        self.codes.update(outcome.codes)
        self.failed += sum(count for state, count in outcome.states.items() if FileState(state) in FAILED)

    def skip(self, known: Known) -> None:
        """Count a file that an earlier run scanned."""
        self.known += 1
        self.known_states[known.state.value] += 1
        self.known_with_errors += known.has_errors
        self.known_with_warnings += known.has_warnings

    @property
    def has_failed(self) -> bool:
        """True if this run or an earlier one could not read a file."""
        return self.failed > 0 or any(self.known_states[state.value] for state in FAILED)

    @property
    def has_errors(self) -> bool:
        """True if this run or an earlier one found errors in a file."""
        return self.errors > 0 or self.known_with_errors > 0

    @property
    def has_warnings(self) -> bool:
        """True if this run or an earlier one found warnings in a file."""
        return self.warnings > 0 or self.known_with_warnings > 0


class Directory:
    """The directory of a scan, locked while open. It contains the tables for one audience."""

    def __init__(self, place: str, contents: Contents) -> None:
        check_name(place, contents)
        self.contents = contents
        self.store = open_store(place, private=bool(contents.reveal))
        self._lock: IO[str] | None = None
        self._is_new = False

    def __enter__(self) -> Self:
        """Lock the directory, check its contents, and remove what a killed scan left behind."""
        known = self._description()
        if known is not None and known.contents != self.contents:
            raise ViewerError(
                f"{self.store.place} contains {_difference(known.contents, self.contents)}; "
                "use another directory, or scan with the same options"
            )
        if known is None and not is_url(self.store.place) and _has_files(self.store.place):
            raise ViewerError(f"{self.store.place} is not empty and contains no tables; choose a new directory")
        if isinstance(self.store, LocalStore):
            self.store.create()
            self._take_lock(self.store)
        else:
            self._check_runs()
        self._clean()
        self.describe()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lock is not None:
            self._lock.close()

    def _description(self) -> Description | None:
        data = self.store.read(DESCRIPTION)
        return read_description(data, self.store.place) if data is not None else None

    def _take_lock(self, store: LocalStore) -> None:
        path = os.path.join(store.place, _LOCK)
        self._lock = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = self._lock.read().strip() or "another scan"
            raise ViewerError(f"{store.place} is in use by {holder}") from None

    def describe(self, *, is_compact: bool = False) -> None:
        """Write the description of the directory."""
        data = msgspec.json.encode(Description(self.contents, is_compact))
        self.store.write(DESCRIPTION, msgspec.json.format(data) + b"\n")

    def hold(self, run_id: str) -> None:
        """Record which run holds the lock."""
        if self._lock is not None:
            self._lock.seek(0)
            self._lock.truncate()
            self._lock.write(f"run {run_id} on {socket.gethostname()}, process {os.getpid()}\n")
            self._lock.flush()

    def _check_runs(self) -> None:
        """Refuse an object store that another run wrote to recently."""
        since = time.time_ns() // 10**6 - int(SILENT * 1000)
        rows = dataset_of(self.tables, "runs").to_table(["run_id", "state", "heartbeat_ms"]).to_pylist()
        found = [row["run_id"] for row in rows if row["state"] == "running" and row["heartbeat_ms"] > since]
        if found:
            raise ViewerError(f"{self.store.place} is in use by run {found[0]}")

    def _clean(self) -> None:
        """Remove stale temporary files and uncommitted parts."""
        committed = set(map(_part_of, self.store.names("files")))
        for table in OF_FILES:
            for name in self.store.names(table):
                if _part_of(name) not in committed:
                    self.store.remove(name)
        if isinstance(self.store, LocalStore):
            for table in (*OF_FILES, "files", "runs", "."):
                for name in self.store.stale(table):
                    self.store.remove(name)

    @property
    def tables(self) -> Tables:
        """The current tables of the directory."""
        return Tables(self.store, self.contents)

    def known(self, *, retry_failed: bool) -> dict[str, Known]:
        """Return the recorded results of the current files by file key. With `retry_failed`, omit the files that
        failed."""
        failed = {state.value for state in FAILED} if retry_failed else set()
        return {
            row["file_key"]: Known(FileState(row["state"]), row["errors"] > 0, row["warnings"] > 0)
            for row in current_files(self.tables, ("state", "errors", "warnings"))
            if row["state"] not in failed
        }


def _part_of(name: str) -> str:
    """Return the name of the part to which a file belongs. A merged part may have several files per table."""
    return name.rpartition("/")[2].partition(".")[0].partition("-")[0]


def _has_files(place: str) -> bool:
    try:
        return any(not name.startswith(".") for name in os.listdir(place))
    except FileNotFoundError:
        return False
    except OSError as error:
        raise ViewerError(f"{place} cannot be used: {(error.strerror or 'input error').lower()}") from None


def _difference(known: Contents, wanted: Contents) -> str:
    """Describe how the contents of the directory differ from the requested contents, naming only the first
    difference."""
    if (known.reveal, known.strict_safe) != (wanted.reveal, wanted.strict_safe):
        return known.view
    for option in ("text", "leaks", "by_content"):
        if getattr(known, option) != getattr(wanted, option):
            name = f"--{option.replace('_', '-')}"
            return f"the tables of a scan {'with' if getattr(known, option) else 'without'} {name}"
    return "the tables of another version"


class Scan:
    """One run of a scan over a listing."""

    def __init__(
        self, directory: Directory, listing: Listing, job: Job, *, again: bool, retry_failed: bool, arguments: str
    ) -> None:
        self._directory = directory
        self._listing = listing
        self._job = job
        self._arguments = arguments
        self._known = {} if again else directory.known(retry_failed=retry_failed)
        self.totals = Totals()
        self._started = time.time_ns() // 10**6
        self._recorded = 0.0

    def run(self, engine: Engine, report: Callable[[Totals], None]) -> bool:
        """Scan all files. Return False if Ctrl-C stopped the scan; finished work is kept, and the next scan
        continues."""
        self._directory.hold(self._job.run_id)
        self._record(engine, "running")
        try:
            for outcome in engine.run(batches(self._wanted(), engine.workers)):
                self._take(outcome)
                report(self.totals)
                if time.monotonic() - self._recorded > HEARTBEAT:
                    self._record(engine, "running")
        except KeyboardInterrupt:
            for outcome in engine.drain(5.0):
                self._take(outcome)
            self._record(engine, "stopped")
            return False
        self._record(engine, "done")
        report(self.totals)
        return True

    def _take(self, outcome: Outcome | None) -> None:
        if outcome is not None:
            self.totals.add(outcome)

    def _wanted(self) -> Iterator[Keyed]:
        """Yield the listed files that are not committed yet."""
        for file in keyed(self._listing, self._job.contents):
            self.totals.listed += 1
            self.totals.listed_bytes += file.entry.size
            self.totals.skipped = self._listing.skipped
            known = self._known.get(file.key)
            if known is None:
                yield file
            else:
                self.totals.skip(known)
                self.totals.listed_bytes -= file.entry.size
        self.totals.skipped = self._listing.skipped
        self.totals.is_listing = False

    def _record(self, engine: Engine, state: str) -> None:
        """Write the row of this run in the table of runs."""
        now, totals = time.time_ns() // 10**6, self.totals
        row = {
            "run_id": self._job.run_id,
            "started_ms": self._started,
            "ended_ms": now if state != "running" else None,
            "heartbeat_ms": now,
            "state": state,
            "engine": engine.name,
            "workers": engine.workers,
            "listed": totals.listed,
            "skipped": totals.skipped,
            "known": totals.known,
            "done": totals.done,
            "failed": totals.failed,
            "bytes": totals.done_bytes,
            "tool_version": __version__,
            "arguments": self._arguments,
        }
        columns = {name: [value] for name, value in row.items()}
        write_part(self._directory.store, self._job.contents, "runs", self._job.run_id, columns)
        self._recorded = time.monotonic()


def keyed(entries: Iterable[Entry], contents: Contents) -> Iterator[Keyed]:
    """Yield the files with keys derived from their modification times or their content."""
    for entry in entries:
        found = _hash_of(entry) if contents.by_content and not entry.fault else None
        if found is not None:
            entry = msgspec.structs.replace(entry, stamp=found, content_hash=found)
        yield Keyed(entry, entry.key(contents))


def _hash_of(entry: Entry) -> str | None:
    if entry.start is None:
        return content_hash(entry.path)
    return content_hash(entry.path.partition(MEMBER)[0], entry.start, entry.size)


def new_run_id() -> str:
    """Return a new ID for a run: the current time and a few random digits."""
    import secrets

    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
