"""Follow an input on the command line: read it step by step, print its content, and report resets and stalls."""

from __future__ import annotations

import time
from typing import Protocol

from msgspec.structs import replace

from viewer.cli.exits import FINE, INTERRUPTED, PipeClosed, complain, fail
from viewer.cli.interruption import Interruption
from viewer.cli.options import Followed
from viewer.cli.output import has_reader
from viewer.document.live import LiveChange, LiveDocument
from viewer.errors import FileRewrittenError
from viewer.sources.changes import WAITING, Reason, SourceCondition
from viewer.sources.files import STANDARD_INPUT, is_directory
from viewer.sources.follow import FollowSource
from viewer.sources.followed_file import Clock
from viewer.sources.newest import NewestFile
from viewer.sources.replay.recorded_times import TimeRecorder
from viewer.sources.watcher import FolderWatcher, Polling, Watch

PAUSE = 0.05
"""Seconds between polls of the file if no event arrives."""


class Printer(Protocol):
    """Prints a followed input. Each restart from the beginning of the input is a new reading."""

    def begin(self, document: LiveDocument) -> None:
        """Begin a reading."""

    def reset(self, name: str, reason: Reason) -> None:
        """Invalidate the output of the previous reading."""

    def grow(self) -> None:
        """Print what is new in the document."""

    def rest(self) -> None:
        """Handle a pause: no more data is available for now."""

    def stalled(self, document: LiveDocument) -> None:
        """Report an open message that has stalled."""

    def end(self) -> None:
        """End the reading; all open messages are settled."""

    @property
    def has_output(self) -> bool:
        """True if anything has been printed in this reading."""


def follow(followed: Followed, printer: Printer, *, watch: Watch = FolderWatcher, clock: Clock = time.monotonic) -> int:
    """Print until the input ends or the user interrupts, and return the exit code."""
    with Interruption() as interruption:
        return _Follower(followed, printer, interruption, watch, clock).run()


class _Follower:
    def __init__(
        self, followed: Followed, printer: Printer, interruption: Interruption, watch: Watch, clock: Clock
    ) -> None:
        self._followed = followed
        self._printer = printer
        self._interruption = interruption
        self._watch = watch
        self._clock = clock
        self._newest = NewestFile(followed.path, clock) if is_directory(followed.path) else None
        self._document: LiveDocument | None = None
        self._is_stalled = False
        self._recorder: TimeRecorder | None = None
        self._code = FINE

    def run(self) -> int:
        try:
            if self._newest is None:
                self._open(self._followed.path)
            else:
                self._look_for_newer()
                if self._document is None:
                    complain(f"{self._followed.path}: {WAITING.sentence}")
            while not self._interruption.heard and not self._is_over():
                self._turn()
            self._end()
        finally:
            if self._document:
                self._document.following.close()
        self._look_at_recorder()
        return INTERRUPTED if self._interruption.heard else self._code

    def _is_over(self) -> bool:
        return self._document is not None and self._document.is_complete

    def _turn(self) -> None:
        """Run one step, and pause if it had no effect."""
        is_finished = self._followed.is_finished and self._followed.is_finished()  # first, so no data is missed
        if self._document:
            try:
                if self._step(self._document):
                    return
            except FileRewrittenError:  # rewritten during printing; the next step restarts
                return
        if is_finished:
            self._end()
            return
        if not has_reader():
            raise PipeClosed
        self._look_at_recorder()
        self._interruption.wait(self._pause)
        self._look_for_newer()

    def _step(self, document: LiveDocument) -> bool:
        """Run one step. Return True if the next step should follow without a pause."""
        change = document.step()
        self._tell(document, change)
        if change.more or change.ended:
            return True
        self._printer.rest()
        self._look_at_stall(document)
        return False

    def _tell(self, document: LiveDocument, change: LiveChange) -> None:
        if change.state and change.state.condition is SourceCondition.STOPPED:
            self._code = fail(change.state.sentence)
        elif change.state and change.state.condition is not SourceCondition.ENDED:
            complain(f"{document.name}: {change.state.sentence}")
        if change.restarted:
            self._begin(document, change.reset)
        if change.ended:
            self._printer.end()
        elif change.grew or change.restarted:
            self._printer.grow()

    def _begin(self, document: LiveDocument, reason: Reason | None) -> None:
        if reason and (self._printer.has_output or reason is not Reason.DETECTED):
            self._printer.reset(document.name, reason)
        self._printer.begin(document)

    def _look_at_recorder(self) -> None:
        """If recording times has failed, report the failure once and stop recording."""
        if self._recorder and self._recorder.fault:
            self._code = fail(self._recorder.fault)
            self._recorder = None
            self._followed = replace(self._followed, record_times="")

    def _look_at_stall(self, document: LiveDocument) -> None:
        limit = self._followed.stall_after
        stalled = limit is not None and bool(document.open_numbers) and document.stalled_for >= limit
        if stalled and not self._is_stalled:
            self._printer.stalled(document)
        self._is_stalled = stalled

    def _pause(self) -> None:
        if self._document:
            self._document.following.wait(PAUSE)
        else:
            Polling().wait(PAUSE)

    def _look_for_newer(self) -> None:
        path = self._newest.look() if self._newest else None
        if path is None:
            return
        before = self._document
        self._end()
        if before:
            before.following.close()
        self._open(path, Reason.REPLACED if before else None)
        complain(f"{path}: following the newest file")

    def _open(self, path: str, reason: Reason | None = None) -> None:
        wake = Polling() if path == STANDARD_INPUT else self._watch(path)
        if self._followed.record_times and self._recorder is None:
            self._recorder = TimeRecorder(self._followed.record_times)
        source = FollowSource(path, wake=wake, clock=self._clock, recorder=self._recorder)
        self._document = LiveDocument(source, self._followed.format, self._followed.options, clock=self._clock)
        self._begin(self._document, reason)

    def _end(self) -> None:
        """Finish the current reading."""
        if self._document and not self._document.is_complete:
            self._document.close()
            try:
                self._printer.end()
            except FileRewrittenError as error:
                complain(str(error))
