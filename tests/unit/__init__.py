"""Tests of single modules. The folders mirror `viewer`."""
