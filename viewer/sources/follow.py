"""Follow a growing file: poll it, detect that it was replaced or rotated, and return its bytes as they arrive."""

from __future__ import annotations

import errno
import os
import stat
import time
from typing import TYPE_CHECKING, Protocol

from viewer.sources.changes import (
    DENIED,
    DIRECTORY,
    ENDED,
    FAILED,
    FOLLOWING,
    GONE,
    STALE,
    WAITING,
    Change,
    Grew,
    Reason,
    Reset,
    SourceCondition,
    SourceState,
)
from viewer.sources.files import STANDARD_INPUT, Source
from viewer.sources.followed_file import Clock, FollowedFile, Identity, identity_of
from viewer.sources.followed_pipe import FollowedPipe
from viewer.sources.revision import FileRevision
from viewer.sources.watcher import Polling, Watcher

if TYPE_CHECKING:
    from viewer.sources.replay.recorded_times import TimeRecorder

TURN = 8 * 1024 * 1024
"""The maximum number of bytes read per poll."""
_FIRST_DELAY = 0.05
_LONGEST_DELAY = 1.0
_PIPES = ("/dev/fd/", "/proc/")

Held = FollowedFile | FollowedPipe


class GrowingSource(Protocol):
    """An input that a live document reads: a followed file, or a replayed input."""

    name: str

    @property
    def generation(self) -> Source:
        """The bytes read since the last reset."""

    @property
    def state(self) -> SourceState:
        """The condition of the input."""

    @property
    def size(self) -> int:
        """The number of bytes read."""

    @property
    def length(self) -> int:
        """The current number of bytes, if it is known before they are read."""

    @property
    def is_stream(self) -> bool:
        """True for a pipe or a FIFO."""

    def poll(self) -> list[Change]:
        """Return the changes since the last poll."""

    def wait(self, timeout: float) -> bool:
        """Wait until something may have changed, at most `timeout` seconds. Return True if something happened."""

    async def wait_async(self, timeout: float) -> bool:
        """Like `wait`, for use in an event loop."""

    def close(self) -> None:
        """Stop watching."""


class FollowSource:
    """The bytes of a growing file. Polling raises no exception, whatever happens to the file."""

    def __init__(
        self,
        path: str,
        *,
        wake: Watcher | None = None,
        clock: Clock = time.monotonic,
        descriptor: int = 0,
        recorder: TimeRecorder | None = None,
    ) -> None:
        """`descriptor` is the descriptor of standard input, because 0 may be the keyboard. `recorder` records when
        bytes arrive."""
        self._recorder = recorder
        self.name = "<stdin>" if path == STANDARD_INPUT else path
        self.state = FOLLOWING
        self.generation = FileRevision(self.name, None)
        """The bytes read since the last reset. They stay readable while something refers to this revision."""
        self._path = path
        self._standard_input = descriptor
        self._wake = wake or Polling()
        self._clock = clock
        self._held: Held | None = None
        self._known_fault = ""
        """The last reported fault of the current revision."""
        self._is_lost = False
        """True if the open file became unreadable and must be reopened."""
        self._delay = 0.0
        self._retry_at = clock()

    @property
    def size(self) -> int:
        """The number of bytes read from the current revision."""
        return self.generation.size

    @property
    def length(self) -> int:
        """The current size of the file, or the number of bytes read so far if that is all that is known."""
        return max(self.size, self._held.length if self._held and not self._is_lost else 0)

    @property
    def converted(self) -> bool:
        """True if the text was UTF-16. Offsets refer to its UTF-8 form."""
        return self.generation.converted

    @property
    def note(self) -> str:
        """A note on the source for the status line."""
        return self.generation.note

    @property
    def is_stream(self) -> bool:
        """True for a pipe or a FIFO, whose writers block while nobody reads."""
        return isinstance(self._held, FollowedPipe)

    @property
    def has_ended(self) -> bool:
        """True if no more data will arrive or be read."""
        return self.state.is_final

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes between two offsets of the current revision."""
        return self.generation.read(start, end)

    def read_again(self, start: int, end: int) -> bytes:
        """Like `read`, but without relying on the stamp of the file."""
        return self.generation.read_again(start, end)

    def wait(self, timeout: float) -> bool:
        """Wait until something may have changed, at most `timeout` seconds. Return True if something happened."""
        return self._woken(self._wake.wait(timeout))

    async def wait_async(self, timeout: float) -> bool:
        """Like `wait`, for use in an event loop."""
        return self._woken(await self._wake.wait_async(timeout))

    def _woken(self, woken: bool) -> bool:
        if woken:
            self._retry_at = self._clock()
        return woken

    def close(self) -> None:
        """Stop watching. The bytes read so far stay readable."""
        self._wake.close()
        if self._recorder:
            self._recorder.close()

    def poll(self) -> list[Change]:
        """Return the changes since the last poll. In the list, only states can precede a reset."""
        if self.has_ended:
            return []
        changes = self._look_for_changes()
        if self._recorder and any(isinstance(change, Grew) for change in changes):
            self._recorder.arrive(self.size)
        return changes

    def _look_for_changes(self) -> list[Change]:
        seen = self._look()  # before reading, so the old file is read to its end
        changes = self._read_on()
        if changes or seen is None:
            return changes
        if isinstance(seen, SourceState):
            return self._fail(seen)
        if self._held and self._held.identity == seen and not self._is_lost:
            self._delay = 0.0
            return self._changes_to(FOLLOWING)
        return self._open()

    def _look(self) -> Identity | SourceState | None:
        """Return the identity of the file that now has this name, or a state if there is none; None while waiting to
        retry."""
        if self._path == STANDARD_INPUT and self._held:
            return self._held.identity
        if self._clock() < self._retry_at:
            return None
        try:
            status = os.fstat(self._standard_input) if self._path == STANDARD_INPUT else os.stat(self._path)  # noqa: PTH116
        except OSError as error:
            return self._state_of(error)
        return DIRECTORY if stat.S_ISDIR(status.st_mode) else identity_of(status)

    def _read_on(self) -> list[Change]:
        if not self._held or self._is_lost:
            return []
        try:
            return self._taken(self._held)
        except OSError as error:
            self._is_lost = True
            return self._fail(self._state_of(error))

    def _taken(self, held: Held) -> list[Change]:
        data = held.take(TURN)
        if isinstance(data, Reason):
            assert isinstance(held, FollowedFile)
            return self._begin(held.begun_again(), data)
        generation = self.generation
        before = generation.converted, self._known_fault
        text = generation.add(data, ends=held.has_ended)
        self._known_fault = generation.fault
        is_news = text or before != (generation.converted, self._known_fault)  # a fault can arrive without text
        changes: list[Change] = [Grew(text)] if is_news else []
        if generation.stopped:
            return [*changes, *self._changes_to(SourceState(SourceCondition.STOPPED, generation.stopped))]
        return [*changes, *self._changes_to(ENDED)] if held.has_ended else changes

    def _begin(self, held: Held, reason: Reason | None) -> list[Change]:
        """Begin a new revision and read its first bytes."""
        self._held, self._is_lost, self._delay = held, False, 0.0
        if self._recorder and reason:
            self._recorder.restart()
        if self._recorder:
            self._recorder.begin(held.identity, held.length)
        self.generation, self._known_fault = FileRevision(self.name, held), ""
        changes: list[Change] = [Reset(reason)] if reason else []
        return [*changes, *self._read_on()]

    def _open(self) -> list[Change]:
        """Open the file that now has this name: either the file that was lost, or another file."""
        try:
            descriptor = self._descriptor()
            if isinstance(self._held, FollowedFile) and self._held.goes_on_in(descriptor):
                self._is_lost, self._delay = False, 0.0
                return [*self._changes_to(FOLLOWING), *self._read_on()]
            held = self._holding(descriptor)
        except OSError as error:
            return self._fail(self._state_of(error))
        if held is None:
            return self._fail(DIRECTORY)
        changes = self._changes_to(FOLLOWING)
        return [*changes, *self._begin(held, Reason.REPLACED if self._held else None)]

    def _descriptor(self) -> int:
        if self._path == STANDARD_INPUT:
            return os.dup(self._standard_input)
        return os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def _holding(self, descriptor: int) -> Held | None:
        """Return the opened file or pipe, or None for a directory."""
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            os.close(descriptor)
            return None
        if stat.S_ISREG(mode):
            return FollowedFile(descriptor, self._clock, self.name)
        return FollowedPipe(descriptor, ends=_is_pipe(self._path) or stat.S_ISCHR(mode))

    def _state_of(self, error: OSError) -> SourceState:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return GONE if self._held else WAITING
        if error.errno in (errno.EACCES, errno.EPERM):
            return DENIED
        return STALE if error.errno == errno.ESTALE else FAILED

    def _fail(self, state: SourceState) -> list[Change]:
        """Report the state, and schedule a retry after a delay that grows with each failure."""
        self._delay = min(_LONGEST_DELAY, 2 * self._delay or _FIRST_DELAY)
        self._retry_at = self._clock() + self._delay
        return self._changes_to(state)

    def _changes_to(self, state: SourceState) -> list[Change]:
        if state is self.state:
            return []
        self.state = state
        return [state]


def _is_pipe(path: str) -> bool:
    """True if the input ends when its writers close it. A named FIFO can be opened by other processes later."""
    return path == STANDARD_INPUT or os.path.realpath(path).startswith(_PIPES)
