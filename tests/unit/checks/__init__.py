"""Tests of `viewer/checks`."""
