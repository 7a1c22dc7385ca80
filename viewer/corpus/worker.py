"""Prepare a scan worker: import the modules that it needs once, before the workers are forked, and keep its caches."""

from __future__ import annotations

import gc

import pyarrow as pa
import pyarrow.parquet

from viewer.cache import keep_caches
from viewer.checks import CHECKS
from viewer.corpus.part import do_batch
from viewer.document import document, vault
from viewer.formats import registry

LOADED = (pa, pyarrow.parquet, CHECKS, do_batch, document, vault, registry)

_COLLECTOR = (20_000, 10, 10)
"""Garbage collector thresholds. Documents are freed without the collector, and running it takes up to a tenth of the
time."""


def prepare_worker() -> None:
    """Keep caches from one file to the next and collect garbage less often."""
    keep_caches()
    gc.freeze()
    gc.set_threshold(*_COLLECTOR)
