"""Tests of `viewer/render/blocks`."""
