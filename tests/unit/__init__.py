"""Tests of single modules: the folders mirror `viewer`."""
