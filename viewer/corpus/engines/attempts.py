"""Shared by all engines: the backlog of batches, and what to do with a batch that kills its worker or takes too
long."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from viewer.corpus.listing import Batch
from viewer.corpus.part import Outcome
from viewer.corpus.tables import FileState

MOST_ATTEMPTS = 2
"""The maximum number of attempts to read a single file. After that, the file is recorded as a row with its failure."""
SECONDS_PER_MEGABYTE = 4.0
"""The seconds that each megabyte adds to the time limit of a batch. The slowest format reads 0.65 MB/s."""


class Engine(Protocol):
    """Runs batches in its workers. An engine never reads a transcript itself."""

    name: str
    workers: int

    def run(self, batches: Iterator[Batch]) -> Iterator[Outcome | None]:
        """Run all batches and yield each outcome when it arrives. Yield None from time to time while waiting."""

    def drain(self, seconds: float) -> Iterator[Outcome]:
        """Wait at most this long for the running batches, and yield their outcomes."""

    def close(self) -> None:
        """Stop the workers."""


class Backlog:
    """The batches to submit: first those to retry, then new ones from the listing."""

    def __init__(self, batches: Iterator[Batch]) -> None:
        self._batches = batches
        self._again: deque[Batch] = deque()
        self._is_listed = False

    @property
    def may_have_more(self) -> bool:
        """True if a batch is waiting to be retried, or if the listing may have another batch."""
        return bool(self._again) or not self._is_listed

    def take(self) -> Batch | None:
        """Return the next batch, or None if there is none at the moment."""
        if self._again:
            return self._again.popleft()
        batch = next(self._batches, None)
        self._is_listed = batch is None
        return batch

    def put_back(self, batches: Iterable[Batch]) -> None:
        """Add batches to retry."""
        self._again.extend(batches)


class Verdict(Struct, frozen=True):
    """The decision about a failed batch."""

    retried: tuple[Batch, ...] = ()
    failed: Batch | None = None
    """The batch whose single file is recorded as a row with `state`; None if batches are retried."""
    state: FileState = FileState.KILLED


def verdict(batch: Batch, state: FileState) -> Verdict:
    """Decide how to handle a failed batch: split it into single files, or retry a single file before giving up on
    it."""
    if len(batch.files) > 1:
        return Verdict(tuple(Batch((each,)) for each in batch.files))
    if batch.attempt < MOST_ATTEMPTS:
        return Verdict((replace(batch, attempt=batch.attempt + 1),))
    return Verdict(failed=batch, state=state)


def time_limit(batch: Batch, timeout: float) -> float:
    """Return how many seconds a batch may take."""
    return timeout + SECONDS_PER_MEGABYTE * batch.size / 1e6
