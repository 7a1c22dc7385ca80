"""Tests of `viewer/formats`."""
