"""Tests of scans and their tables."""
