"""Tests of `viewer/model`."""
