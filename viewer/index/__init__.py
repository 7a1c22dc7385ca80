"""The index of an input as columns: messages, calls, call ids and diagnostics, but no bodies."""
