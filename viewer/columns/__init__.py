"""Typed arrays: one interface with a plain and a NumPy backend."""
