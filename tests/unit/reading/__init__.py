"""Tests of `viewer/reading`."""
