"""Event streams: reader, deltas, and the kinds of events."""
