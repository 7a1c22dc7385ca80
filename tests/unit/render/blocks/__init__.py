"""Tests of `viewer/render`."""
