"""The index of an input as columns: messages, calls, call IDs, and diagnostics, but no bodies."""
