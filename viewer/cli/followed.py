"""Command-line options of a followed input."""

from __future__ import annotations

from collections.abc import Callable

from viewer.reading.format import Options
from viewer.values import frozen


@frozen
class Followed:
    """The followed input, and how it is read."""

    path: str
    """A file, a folder whose newest transcript is followed, or `-`."""
    dialect: str | None = None
    options: Options | None = None
    stall_after: float | None = None
    """Report an open message that has not grown for this many seconds."""
    is_finished: Callable[[], bool] | None = None
    """True if no more data will be written; without it only a pipe ends."""
