"""Signal handling: Ctrl-C while following, and fatal signals while a file is being written."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import NoReturn

from viewer.held_screen import FATAL


class Interruption:
    """Context manager: record the first Ctrl-C in `heard`; raise KeyboardInterrupt on the next one.

    Ctrl-C never interrupts a pause: pauses are short, and an exception could leave locks of `threading` held."""

    def __init__(self) -> None:
        self.heard = False
        self._is_waiting = False
        self._before: object = None

    def __enter__(self) -> Interruption:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # background jobs ignore the signal
            self._before = signal.signal(signal.SIGINT, self._hear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def wait(self, pause: Callable[[], object]) -> None:
        """Call `pause`, unless the user has already pressed Ctrl-C."""
        self._is_waiting = True
        try:
            if not self.heard:
                pause()
        finally:
            self._is_waiting = False

    def _hear(self, number: int, frame: FrameType | None) -> None:
        again, self.heard = self.heard, True
        if again and not self._is_waiting:
            raise KeyboardInterrupt


@contextmanager
def ended_tidily() -> Iterator[None]:
    """Context manager: let fatal signals raise an exception so that temporary files are removed before the program
    ends."""

    def end(number: int, frame: FrameType | None) -> NoReturn:
        for heard in before:
            signal.signal(heard, signal.SIG_IGN)  # a second signal would interrupt the cleanup
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in FATAL if signal.getsignal(number) is signal.SIG_DFL}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
