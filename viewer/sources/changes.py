"""Changes that a followed source reports: new bytes, a restart from byte 0, or a new condition of the file."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


class Reason(Enum):
    """Why the input is read again from the start."""

    TRUNCATED = "truncated"
    REWRITTEN = "rewritten"
    REPLACED = "replaced"
    DETECTED = "detected"
    """The start of the file now looks like another format."""

    @property
    def sentence(self) -> str:
        """The reason as a fixed sentence."""
        return _REASONS[self]


_REASONS = {
    Reason.TRUNCATED: "the file was truncated; reading again",
    Reason.REWRITTEN: "the file was rewritten; reading again",
    Reason.REPLACED: "the file was replaced; reading again",
    Reason.DETECTED: "the format became clear; reading again",
}


class SourceCondition(Enum):
    """The condition of a followed file."""

    OK = "ok"
    WAITING = "waiting"
    DENIED = "denied"
    DIRECTORY = "directory"
    ERROR = "error"
    ENDED = "ended"
    """The writers have closed the pipe, so no more data arrives."""
    STOPPED = "stopped"
    """Reading stopped, although more data may arrive."""


class Grew(Struct, frozen=True, gc=False):
    """The input grew by these bytes."""

    data: bytes


class Reset(Struct, frozen=True, gc=False):
    """The bytes that follow begin at byte 0 of a new revision."""

    reason: Reason


class SourceState(Struct, frozen=True, gc=False):
    """The condition of a followed file, with a fixed sentence."""

    condition: SourceCondition
    sentence: str

    @property
    def is_final(self) -> bool:
        """True if nothing more will be read."""
        return self.condition in (SourceCondition.ENDED, SourceCondition.STOPPED)


Change = Grew | Reset | SourceState

FOLLOWING = SourceState(SourceCondition.OK, "following")
ENDED = SourceState(SourceCondition.ENDED, "the pipe has ended")
WAITING = SourceState(SourceCondition.WAITING, "waiting for the file")
GONE = SourceState(SourceCondition.WAITING, "the file was removed; waiting for it to reappear")
DENIED = SourceState(SourceCondition.DENIED, "permission denied; retrying")
DIRECTORY = SourceState(SourceCondition.DIRECTORY, "this is a directory; waiting for a file")
STALE = SourceState(SourceCondition.ERROR, "the file handle is stale; retrying")
FAILED = SourceState(SourceCondition.ERROR, "the file cannot be read; retrying")
