"""The Ray engine: run batches as tasks on a cluster. Ray repeats the tasks of a lost node or worker."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from viewer import __version__
from viewer.corpus.engines.attempts import Backlog, time_limit, verdict
from viewer.corpus.engines.local import IN_FLIGHT, PAUSE
from viewer.corpus.listing import Batch
from viewer.corpus.part import Job, Outcome, do_batch, write_failed
from viewer.corpus.tables import FileState
from viewer.errors import ViewerError

MEMORY = 200 * 1024 * 1024
"""The memory, in bytes, that a task requests."""
RETRIES, RETRIES_OF_ONE_FILE = 3, 1
"""How many times Ray retries a task whose worker is lost, for a batch of several files and for a single file."""
GRACE = 10.0
"""How many seconds after the time limit an unresponsive worker is killed."""


class _OutOfTime(BaseException):
    """Raised in a task by its alarm. As a BaseException, it is not caught by handlers of file errors."""


class RayEngine:
    """Runs batches on a Ray cluster, or on this machine if no cluster is named."""

    name = "ray"

    def __init__(self, job: Job, jobs: int | None, timeout: float, address: str | None) -> None:
        self._job = job
        self._timeout = timeout
        self._owns_ray = not ray.is_initialized()
        if self._owns_ray:
            address = address or os.environ.get("RAY_ADDRESS")
            os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # a scan sends no usage statistics
            options: dict[str, Any] = {"address": address} if address else {"num_cpus": jobs}
            try:
                ray.init(include_dashboard=None if address else False, log_to_driver=False, **options)
            except (RayError, ConnectionError, ValueError, RuntimeError) as error:
                reason = str(error).partition("\n")[0].rstrip(".")
                raise ViewerError(f"the Ray cluster {address or 'on this machine'} did not start: {reason}") from None
        self.workers = jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))
        _check_versions()
        self._running: dict[Any, Batch] = {}

    def run(self, batches: Iterator[Batch]) -> Iterator[Outcome | None]:
        backlog = Backlog(batches)
        while self._running or backlog.may_have_more:
            while len(self._running) < IN_FLIGHT * self.workers and (batch := backlog.take()) is not None:
                self._submit(batch)
            if not self._running:
                continue
            done, _ = ray.wait(list(self._running), num_returns=1, timeout=PAUSE)
            for task in done:
                outcome, again = self._settle(task)
                backlog.put_back(again)
                if outcome is not None:
                    yield outcome
            if not done:
                yield None

    def _submit(self, batch: Batch) -> None:
        retries = RETRIES if len(batch.files) > 1 else RETRIES_OF_ONE_FILE
        task = _TASK.options(max_retries=retries)
        self._running[task.remote(batch, self._job, time_limit(batch, self._timeout))] = batch

    def _settle(self, task: Any) -> tuple[Outcome | None, tuple[Batch, ...]]:
        """Return the outcome of a finished task, or the batches to run instead."""
        batch = self._running.pop(task)
        state = FileState.KILLED
        try:
            outcome = ray.get(task)
        except RayError as error:
            if isinstance(error, OSError):  # raised by the task itself: the tables cannot be written
                reason = error.strerror or "the system refused"
                raise ViewerError(f"{self._job.place} cannot be written: {reason}") from None
        else:
            if isinstance(outcome, Outcome):
                return outcome, ()
            state = FileState.TIMEOUT
        decided = verdict(batch, state)
        if decided.failed is not None:
            return write_failed(decided.failed, self._job, decided.state), ()
        return None, decided.retried

    def drain(self, seconds: float) -> Iterator[Outcome]:
        done, rest = ray.wait(list(self._running), num_returns=len(self._running), timeout=seconds)
        for task in rest:
            ray.cancel(task, force=True)
        for task in done:
            try:
                outcome = ray.get(task, timeout=seconds)
            except (RayError, GetTimeoutError):
                continue
            if isinstance(outcome, Outcome):
                yield outcome

    def close(self) -> None:
        if self._owns_ray:
            ray.shutdown()


def _run(batch: Batch, job: Job, seconds: float) -> Outcome | None:
    """Process a batch. Return None if it takes too long."""

    def end(number: int, frame: FrameType | None) -> None:
        raise _OutOfTime

    from viewer.corpus.worker import prepare_worker  # loading must not count toward the time of the batch

    prepare_worker()
    watchdog = threading.Timer(seconds + GRACE, os._exit, [1])
    watchdog.daemon = True
    watchdog.start()
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return do_batch(batch, job)
    except _OutOfTime:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        watchdog.cancel()


def _version() -> str:
    return __version__


_TASK = ray.remote(num_cpus=1, memory=MEMORY)(_run)
_VERSION = ray.remote(num_cpus=0)(_version)


def _check_versions() -> None:
    """Refuse a cluster if one of its nodes has a different version of ocmlview, or cannot run it."""
    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    tasks = [
        _VERSION.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=False)).remote()
        for node in nodes
    ]
    found: set[str] = set()
    for task in tasks:
        try:
            found.add(ray.get(task, timeout=120))
        except RayTaskError:
            raise ViewerError(f"a node of the Ray cluster cannot run ocmlview {__version__}") from None
        except RayError:
            continue  # the node is gone, or still starting
    if found - {__version__}:
        others = ", ".join(sorted(found - {__version__}))
        raise ViewerError(f"some nodes of the Ray cluster have ocmlview {others}, but this machine has {__version__}")
