"""What a command line says about an input that is followed."""

from __future__ import annotations

from collections.abc import Callable

from viewer.reading.format import Options
from viewer.values import frozen


@frozen
class Followed:
    """What is followed, and how it is read."""

    path: str
    """A file, a folder of which the newest transcript is followed, or `-`."""
    dialect: str | None = None
    options: Options | None = None
    stall_after: float | None = None
    """An open message that does not go on for so many seconds is told of."""
    is_finished: Callable[[], bool] | None = None
    """Whether nothing more will be written; without it only a pipe ends."""
