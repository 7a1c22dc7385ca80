"""Support code shared by the tests. It contains no tests."""
