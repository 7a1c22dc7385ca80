"""Columns, which are typed arrays: one interface with a plain and a NumPy backend."""
