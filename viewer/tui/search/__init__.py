"""Search: engine, order, and matches."""
