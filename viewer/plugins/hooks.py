"""Guards around the hooks of a plug-in: if a hook raises an exception, takes too long, or returns an invalid value, the
record is hidden."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from msgspec.structs import replace

from viewer.formats.tables.model import Hooks
from viewer.model.messages import Kind

SECONDS = 0.05
"""The maximum CPU time of a call, in seconds."""
LONGEST_WAIT = 2.0
"""The maximum duration of a call, in seconds, no matter how busy the machine is. A longer call is abandoned."""
MOST_FAILURES = 16
Run = tuple[Kind, int, int]


class Contained:
    """Context manager for plug-in code: an exception ends the block, and only its type is recorded, not its text."""

    def __init__(self) -> None:
        self.failure = ""

    def __enter__(self) -> Contained:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if kind is None or not issubclass(kind, Exception):
            return False
        self.failure = kind.__name__
        return True


def guarded(hooks: Hooks) -> Hooks:
    """Wrap these hooks in guards for one input."""
    guard = _Guard()
    split, classify = hooks.split, hooks.classify
    return replace(
        hooks,
        split=(lambda text: guard.split(split, text)) if split else None,
        classify=(lambda text: guard.classify(classify, text)) if classify else None,
        is_disabled=lambda: guard.is_disabled,
    )


class _Guard:
    """Runs the hooks of one plug-in for one input, and counts their failures."""

    def __init__(self) -> None:
        self.is_disabled = False
        """True after too many failures, or after a call that did not return."""
        self._failures = 0

    def classify(self, hook: Callable[[str], object], text: str) -> Kind | None:
        """Return the kind of the text, or None if the hook failed."""
        kind = self._result(hook, text)
        if isinstance(kind, Kind):
            return kind
        self._fail()
        return None

    def split(self, hook: Callable[[str], object], text: str) -> list[Run] | None:
        """Return the runs of the text in order, or None if the hook failed."""
        runs = self._result(hook, text)
        found = _runs(runs, len(text))
        if found is None:
            self._fail()
        return found

    def _result(self, hook: Callable[[str], object], text: str) -> object:
        """Return the result of a hook, which runs in a thread. Return None if it raised an exception or took too long,
        or if the plug-in is disabled."""
        if self.is_disabled:
            return None
        results: list[object] = []

        def call() -> None:
            started = time.thread_time()
            with Contained():
                result = hook(text)
                if time.thread_time() - started <= SECONDS:
                    results.append(result)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(LONGEST_WAIT)
        if thread.is_alive():
            self.is_disabled = True
            return None
        return results[0] if results else None

    def _fail(self) -> None:
        self._failures += 1
        self.is_disabled = self.is_disabled or self._failures >= MOST_FAILURES


def _runs(runs: object, length: int) -> list[Run] | None:
    """Return the runs of the text, in order and without overlaps, or None for any other value."""
    if not isinstance(runs, list):
        return None
    at = 0
    for run in runs:
        if not isinstance(run, tuple) or len(run) != 3 or not isinstance(run[0], Kind):
            return None
        start, end = run[1], run[2]
        if type(start) is not int or type(end) is not int or not at <= start <= end <= length:
            return None
        at = end
    return [*runs]
