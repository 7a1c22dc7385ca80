"""Tests of `viewer/document`."""
