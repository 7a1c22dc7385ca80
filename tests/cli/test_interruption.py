"""Ctrl-C while following, at any moment, even inside the locks of Python's `threading`."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import pytest

from viewer.cli.interruption import Interruption
from viewer.sources.watcher import FolderWatcher


@pytest.fixture
def watcher(monkeypatch: pytest.MonkeyPatch) -> Iterator[FolderWatcher]:
    monkeypatch.setattr(FolderWatcher, "_watch", lambda self: self._stopped.wait())
    watcher = FolderWatcher("run.ocml")
    yield watcher
    watcher._stopped.set()


class Interrupter:
    """Raises SIGINT before one instruction of the traced code."""

    def __init__(self, place: int) -> None:
        self._left = place

    @property
    def is_beyond(self) -> bool:
        return self._left > 0

    def __call__(self, frame: FrameType, event: str, _: object) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode":
            self._left -= 1
            if self._left == 0:
                signal.raise_signal(signal.SIGINT)
        return self


def is_free(event: threading.Event) -> bool:
    """True if a thread can set the event."""
    setter = threading.Thread(target=event.set, daemon=True)
    setter.start()
    setter.join(10)
    return not setter.is_alive()


def test_an_interrupt_at_any_instruction_of_a_pause_leaves_no_lock(watcher: FolderWatcher) -> None:
    before, place, beyond = sys.gettrace(), 0, False
    while not beyond:
        place += 1
        interrupter = Interrupter(place)
        with Interruption() as interruption:
            sys.settrace(interrupter)
            try:
                interruption.wait(lambda: watcher.wait(0))
            finally:
                sys.settrace(before)
            beyond = interrupter.is_beyond
            assert interruption.heard is not beyond
        assert is_free(watcher._happened), place
    assert place > 50


def test_a_second_interrupt_ends_work_at_once_and_lets_a_pause_end() -> None:
    def interrupt(times: int = 1) -> None:
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)

    with Interruption() as interruption:
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    with Interruption() as interruption:
        interruption.wait(lambda: interrupt(2))
        assert interruption.heard
        with pytest.raises(KeyboardInterrupt):
            interrupt()


def test_after_an_interrupt_there_is_no_pause() -> None:
    paused = []
    with Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
        interruption.wait(lambda: paused.append(1))
    assert not paused
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
