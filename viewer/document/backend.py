"""The backend of a document: plain Python, or NumPy, assisted by the native accelerator if that was built."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from viewer import native
from viewer.checks.analysis import Analysis
from viewer.columns.api import Columns
from viewer.columns.plain import PlainColumns
from viewer.errors import ViewerError
from viewer.reading.parser import Parser

if TYPE_CHECKING:
    from viewer.document.scanner import Scanner

BIG = 1024 * 1024
"""The minimum size in bytes of an input for which NumPy is always used. Importing NumPy takes as long as reading this
many bytes without it."""
MANY = 4096
"""The minimum number of messages with which a smaller input also uses NumPy, because its columns are long."""
VARIABLE = native.BACKEND
NAMES = ("plain", "numpy", "native")


class Backend(Struct, frozen=True):
    """The column operations and the scanner that a document uses."""

    name: str
    columns: Columns
    make_scanner: Callable[[Parser, Analysis], Scanner] | None
    """A function that creates the scanner for blocks of regular messages; None if the parser reads everything."""


PLAIN = Backend("plain", PlainColumns(), None)


def load_backend() -> Backend:
    """Load the fastest backend: NumPy, assisted by the native accelerator if that is available."""
    return _load("native" if native.load() else "numpy")


@cache
def _load(name: str) -> Backend:
    from viewer.columns.numpy_backend import NumpyColumns
    from viewer.document.scanner import Scanner

    return Backend(name, NumpyColumns(), Scanner)


def forced_backend() -> Backend | None:
    """Return the backend that an environment variable requests, or None if it is not set. For tests and bug reports."""
    native.asked_level()
    name = os.environ.get(VARIABLE)
    if not name:
        return None
    if name not in NAMES:
        raise ViewerError(f"unknown backend {name}: {VARIABLE} must be {', '.join(NAMES[:-1])}, or {NAMES[-1]}")
    return PLAIN if name == "plain" else load_backend()
