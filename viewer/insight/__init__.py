"""Answers to questions about transcripts, as values made from projections."""
