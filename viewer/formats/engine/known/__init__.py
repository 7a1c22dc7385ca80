"""Fast path for records whose shape is known."""
