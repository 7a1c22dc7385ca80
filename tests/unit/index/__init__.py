"""Tests of `viewer/index`."""
