"""Analyses of transcripts: comparison, leaks, readings, and next prompts, computed as values from projections."""
