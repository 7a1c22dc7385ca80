"""Estimate a scan: read a sample of the files, and extrapolate the rate, core-hours, and size of the tables."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from itertools import groupby

from viewer.corpus.listing import Entry, Keyed, sample
from viewer.corpus.part import encode_part, read_entry, row_count, table_columns
from viewer.corpus.tables import Contents

WORKERS = (1, 16, 64, 256)


def estimate_lines(entries: Iterable[Entry], contents: Contents, max_size: int) -> Iterator[str]:
    """Read a sample of up to 200 files of all sizes, and yield lines that estimate a scan of all files."""
    chosen, strata = sample(entries)
    seconds, read, written = dict.fromkeys(strata, 0.0), dict.fromkeys(strata, 0), dict.fromkeys(strata, 0)
    for level, group in groupby(chosen, lambda entry: entry.size.bit_length()):
        began = time.process_time()
        found = [(Keyed(entry, ""), read_entry(entry, contents, max_size)) for entry in group]
        tables = table_columns(found, contents, "", "")
        written[level] = sum(len(encode_part(contents, name, each)) for name, each in tables.items() if row_count(each))
        seconds[level] = time.process_time() - began
        read[level] = sum(file.entry.size for file, _ in found)
    files, size = sum(count for count, _ in strata.values()), sum(total for _, total in strata.values())
    cores = sum(seconds[level] * total / read[level] for level, (_, total) in strata.items() if read[level])
    tables_size = sum(written[level] * total / read[level] for level, (_, total) in strata.items() if read[level])
    yield f"{files:,} files, {size / 1e6:,.1f} MB; read a sample of {len(chosen):,}"
    if not cores:
        yield "nothing to extrapolate from"
        return
    yield f"{size / cores / 1e6:,.1f} MB/s per core, {cores / 3600:,.3f} core-hours"
    yield f"{tables_size / 1e6:,.1f} MB of tables ({100 * tables_size / size:.1f}% of the files)"
    for workers in WORKERS:
        yield f"{workers:>4} workers: {cores / workers / 3600:,.3f} h"
