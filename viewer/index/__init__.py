"""Columns of everything that was read: messages, calls, call ids, and diagnostics; no bodies."""
