"""Event streams: deltas, and the messages that they make."""
