"""NumPy, imported without the threads of its linear algebra.

OpenBLAS starts one thread per core when NumPy is imported. They wait for work by spinning, for up to 0.1 s, and never
get any, because the program multiplies no matrices. OpenBLAS reads its variable only once, so it is removed again:
programs that this one starts use as many threads as they want."""

from __future__ import annotations

import os

_THREADS = "OPENBLAS_NUM_THREADS"
_IS_SET_BY_USER = _THREADS in os.environ
if not _IS_SET_BY_USER:
    os.environ[_THREADS] = "1"

import numpy as np  # noqa: E402
from numpy.typing import NDArray  # noqa: E402

if not _IS_SET_BY_USER:
    del os.environ[_THREADS]

__all__ = ["NDArray", "np"]
