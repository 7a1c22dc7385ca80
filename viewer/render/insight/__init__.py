"""Printed results of analyses: the diff of two transcripts, leaks, and timing."""
