"""Tests of `viewer/rules`."""
