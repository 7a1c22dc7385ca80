"""Tests of `viewer/render/exports`."""
