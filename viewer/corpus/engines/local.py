"""The local engine: a pool of worker processes that can report which batch killed a worker."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, TimeoutError, wait
from concurrent.futures.process import BrokenProcessPool

from pebble import ProcessExpired, ProcessPool

from viewer.corpus.engines.attempts import Backlog, time_limit, verdict
from viewer.corpus.listing import Batch
from viewer.corpus.part import Job, Outcome, do_batch, write_failed
from viewer.corpus.tables import FileState
from viewer.errors import ViewerError

IN_FLIGHT = 4
"""The number of batches per worker to submit in advance."""
MOST_LOST_POOLS = 8
"""The maximum number of times to replace a pool that lost its processes."""
PAUSE = 0.2
"""Seconds to wait for a batch before reporting progress."""
_LOADED = "viewer.corpus.worker"
"""The module that is imported once, before the workers are forked."""


def available_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalEngine:
    """Runs batches in processes on this machine."""

    name = "local"

    def __init__(self, job: Job, workers: int, timeout: float) -> None:
        self.workers = workers
        self._job = job
        self._timeout = timeout
        self._pool = _pool(workers)
        self._lost_pools = 0
        self._running: dict[Future[Outcome], Batch] = {}

    def run(self, batches: Iterator[Batch]) -> Iterator[Outcome | None]:
        backlog = Backlog(batches)
        while self._running or backlog.may_have_more:
            while len(self._running) < IN_FLIGHT * self.workers and (batch := backlog.take()) is not None:
                self._submit(batch)
            done, _ = wait(self._running, PAUSE, FIRST_COMPLETED)
            for future in done:
                if future not in self._running:  # a new pool has started
                    continue
                outcome, again = self._settle(future)
                backlog.put_back(again)
                if outcome is not None:
                    yield outcome
            if not done:
                yield None

    def _submit(self, batch: Batch) -> None:
        future = self._pool.schedule(do_batch, args=[batch, self._job], timeout=time_limit(batch, self._timeout))
        self._running[future] = batch

    def _settle(self, future: Future[Outcome]) -> tuple[Outcome | None, tuple[Batch, ...]]:
        """Return the outcome of a finished batch, or the batches to run instead."""
        batch = self._running.pop(future)
        error = future.exception()
        if error is None:
            return future.result(), ()
        if isinstance(error, BrokenProcessPool):
            return None, self._begin_again(batch)
        if isinstance(error, OSError) and not isinstance(error, TimeoutError | ProcessExpired):
            raise ViewerError(f"{self._job.place} cannot be written: {error.strerror or 'the system refused'}")
        decided = verdict(batch, FileState.TIMEOUT if isinstance(error, TimeoutError) else FileState.KILLED)
        if decided.failed is not None:
            return write_failed(decided.failed, self._job, decided.state), ()
        return None, decided.retried

    def _begin_again(self, batch: Batch) -> tuple[Batch, ...]:
        """Replace a pool that lost its processes, and return the batches that it was running, starting with this
        one."""
        self._lost_pools += 1
        if self._lost_pools > MOST_LOST_POOLS:
            raise ViewerError("the scan processes exit before they start any work")
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool = _pool(self.workers)
        lost = (batch, *self._running.values())
        self._running.clear()
        return lost

    def drain(self, seconds: float) -> Iterator[Outcome]:
        for future in self._running:
            if not future.running():
                future.cancel()
        done, _ = wait(self._running, seconds)
        for future in done:
            try:
                if future.exception() is None:
                    yield future.result()
            except CancelledError:
                continue

    def close(self) -> None:
        self._pool.stop()  # type: ignore[no-untyped-call]
        self._pool.join()


def _pool(workers: int) -> ProcessPool:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_LOADED])
    return ProcessPool(max_workers=workers, initializer=begin_worker, context=context)


def begin_worker() -> None:
    """Prepare a worker. It ignores Ctrl-C, because the main process lets running batches finish."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdin = None
    from viewer.corpus.worker import prepare_worker  # the main process does not need a worker's modules

    prepare_worker()
