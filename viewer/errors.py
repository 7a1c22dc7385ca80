"""`ViewerError`: a usage or input error in one sentence. `ended` in `cli/exits.py` determines the exit code."""

from __future__ import annotations


class Excerpt:
    """The text that the user typed, and the position of the mistake. A plain class, because every start loads it."""

    def __init__(self, source: str, column: int, length: int) -> None:
        self.source = source
        self.column = column
        """The column of the fault, counted from 0."""
        self.length = length


class ViewerError(Exception):
    """A request that cannot be fulfilled. The message is one clear sentence."""

    excerpt: Excerpt | None = None
    """The faulty text, quoted below the sentence."""


class RefusedError(ViewerError):
    """The transcript cannot be written as requested; `convert` passes the sentence to `refuse` (exit code 1)."""


class FileRewrittenError(ViewerError):
    """The input no longer contains the bytes that were indexed, so nothing may be shown with the old index."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: the file was rewritten")


class UnprovenError(FileRewrittenError):
    """The input may have been rewritten: the requested bytes have no checksum that would prove otherwise."""


class HiddenError(Exception):
    """A body was requested for an audience that may not see it. This is a bug in the program."""
