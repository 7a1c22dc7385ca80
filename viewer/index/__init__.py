"""Index of an input as columns: messages, calls, call ids and diagnostics; no bodies."""
