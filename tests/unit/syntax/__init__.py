"""Tests of `viewer/syntax`."""
