"""Event streams: deltas, and the messages that are built from them."""
