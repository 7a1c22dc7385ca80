"""Scan whole blocks for regular messages with NumPy; the parser reads everything else."""
