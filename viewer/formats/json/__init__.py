"""Readers and writers of JSON messages and ChatML JSON."""
