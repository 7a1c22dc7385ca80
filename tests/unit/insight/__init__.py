"""Tests of `viewer/insight`."""
