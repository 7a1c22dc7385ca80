"""JSON messages and ChatML JSON: readers and writers."""
