"""Tests of `viewer/sources`."""
