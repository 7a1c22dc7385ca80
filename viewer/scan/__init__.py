"""Scan whole blocks for regular messages; the parser reads everything else."""
