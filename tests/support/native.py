"""The ways to run accelerated code in a test: with NumPy, and at each level of the native accelerator."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from viewer.native import BACKEND, LEVEL, SWITCH, Native, load

NUMPY = "numpy"


def built_levels() -> tuple[str, ...]:
    """Return the instruction sets of the module built for this machine, or none if there is no such module."""
    try:
        from viewer.native import _fast
    except ImportError:
        return ()
    return _fast.levels()


LEVELS = built_levels()
WAYS = (NUMPY, *LEVELS)
BOTH_WAYS = (NUMPY, *LEVELS[-1:])
"""NumPy, and the native module as users have it."""
COMPILES = os.environ.get(SWITCH) != "0" and bool(shutil.which((os.environ.get("CC") or "cc").split()[0]))
needs_compiler = pytest.mark.skipif(not COMPILES, reason="there is no C compiler")
EVERY_LEVEL = pytest.mark.parametrize(
    "levels", [LEVELS[-1:], pytest.param(LEVELS[:-1], marks=pytest.mark.slow)], ids=["as users have it", "all others"]
)
needs_native = pytest.mark.skipif(not LEVELS, reason="the native accelerator is not built")


@contextmanager
def using(way: str) -> Iterator[None]:
    """Run the block with NumPy or with the native level that `way` names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(BACKEND, raising=False)
        patch.setenv(SWITCH, "0" if way == NUMPY else "1")
        patch.setenv(LEVEL, "" if way == NUMPY else way)
        yield


def accelerator() -> Native:
    """Return the module at the current level, even if the accelerator is switched off for the whole run."""
    from viewer.native import _fast

    return load() or _fast
