"""Modules that a scan worker needs, imported once before the workers are forked."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet

from viewer.checks import CHECKS
from viewer.corpus.part import do_batch
from viewer.document import document, vault
from viewer.formats import registry

LOADED = (pa, pyarrow.parquet, CHECKS, do_batch, document, vault, registry)
