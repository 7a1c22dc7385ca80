"""Corpora: scan many transcripts to Parquet tables, and query them. The viewer and `check` do without this folder."""
