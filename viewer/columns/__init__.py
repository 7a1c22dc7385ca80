"""Columns (typed arrays): one interface with a plain and a NumPy backend."""
