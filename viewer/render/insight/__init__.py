"""Printed results of analyses: the diff of two transcripts, and leaks."""
