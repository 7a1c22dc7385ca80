"""Corpora: scan many transcripts into Parquet tables, and query them. The viewer and `check` do not need it."""
