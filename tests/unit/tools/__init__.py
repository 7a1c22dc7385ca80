"""Tests of `viewer/tools`."""
