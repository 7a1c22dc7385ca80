"""A followed source that records its changes since the last reset."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from viewer.sources.changes import Change, Grew, Reason, Reset, SourceCondition
from viewer.sources.follow import FollowSource


@dataclass
class Clock:
    """A clock that tests advance."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


class Recorded(FollowSource):
    """Records the text of the current file and of earlier ones, and every reported condition of the file."""

    def __init__(self, path: object, clock: Clock) -> None:
        super().__init__(str(path), clock=clock)
        self.text = b""
        self.before: list[bytes] = []
        self.resets: list[Reason] = []
        self.conditions: list[SourceCondition] = []

    def poll(self) -> list[Change]:
        changes = super().poll()
        for at, change in enumerate(changes):
            if isinstance(change, Grew):
                self.text += change.data
            elif isinstance(change, Reset):
                assert not any(isinstance(earlier, Grew) for earlier in changes[:at])
                self.before.append(self.text)
                self.text = b""
                self.resets.append(change.reason)
            else:
                self.conditions.append(change.condition)
        return changes


@dataclass
class Reader:
    """Polls a source."""

    source: Recorded
    clock: Clock

    @property
    def text(self) -> bytes:
        return self.source.text

    @property
    def resets(self) -> list[Reason]:
        return self.source.resets

    @property
    def conditions(self) -> list[SourceCondition]:
        return self.source.conditions

    def settle(self) -> bytes:
        """Poll until two polls bring no change, with enough time in between for every retry. Return the text."""
        quiet = 0
        while quiet < 2:
            self.clock.now += 5
            quiet = 0 if self.source.poll() else quiet + 1
        assert self.source.read(0, len(self.text) + 10) == self.text
        assert self.source.size == len(self.text)
        return self.text


def reader_of(path: object) -> Reader:
    """Return a reader that polls a file."""
    clock = Clock()
    return Reader(Recorded(path, clock), clock)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def followed(path: Path) -> Reader:
    reader = reader_of(path)
    reader.settle()
    return reader


def failing(number: int) -> Callable[..., None]:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail
