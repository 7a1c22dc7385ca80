"""Call a function for many files in several processes and print their output in the order of the files."""

from __future__ import annotations

import io
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct

if TYPE_CHECKING:
    from concurrent.futures import Future

IN_FLIGHT = 4
"""The maximum number of files per process that are submitted in advance."""

Result = TypeVar("Result")


class _Done(Struct, frozen=True):
    """The result for one file, and what the worker process printed."""

    out: bytes
    err: bytes
    result: Any


class _Work:
    """The function that the worker processes call. They inherit it by forking, so it need not be pickled."""

    act: Callable[[str], Any] | None = None


def in_order(
    act: Callable[[str], Result],
    paths: Iterable[str],
    jobs: int,
    before: Callable[[Result], None] = lambda result: None,
) -> Iterator[Result]:
    """Call `act` for each path in `jobs` processes, and yield the results in order. Call `before` with each result,
    then print the output of its call. If a worker process dies, handle the remaining paths in this process."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    _Work.act = act
    waiting: deque[tuple[str, Future[_Done]]] = deque()
    is_broken = False
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin)
    try:
        left = iter(paths)
        is_listed = False
        while waiting or not is_listed:
            while not is_listed and not is_broken and len(waiting) < IN_FLIGHT * jobs:
                path = next(left, None)
                if path is None:
                    is_listed = True
                    break
                try:
                    waiting.append((path, pool.submit(_run, path)))
                except BrokenProcessPool:
                    is_broken = True
                    left = iter((path, *left))
            if not waiting:
                path = next(left, None)
                if path is None:
                    return
                done = _run(path)
            else:
                path, future = waiting.popleft()
                try:
                    done = future.result()
                except BrokenProcessPool:
                    is_broken = True
                    done = _run(path)
            before(done.result)
            _print(done)
            yield done.result
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        _Work.act = None


def _begin() -> None:
    """Set up a worker process: it ignores Ctrl-C, which the main process handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(path: str) -> _Done:
    """Call the function for one path, and capture what it prints."""
    streams = sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), stream.encoding, newline="") for stream in streams)
    sys.stdout, sys.stderr = out, err
    assert _Work.act is not None
    try:
        result = _Work.act(path)
    finally:
        sys.stdout, sys.stderr = streams
    out.flush()
    err.flush()
    return _Done(out.buffer.getvalue(), err.buffer.getvalue(), result)


def _print(done: _Done) -> None:
    if done.err and sys.stderr is not None:
        sys.stderr.write(done.err.decode(sys.stderr.encoding or "ascii", "replace"))
        sys.stderr.flush()
    if done.out:
        sys.stdout.flush()
        sys.stdout.buffer.write(done.out)
        sys.stdout.buffer.flush()
