"""Search in the transcript: engine, matchers, order of rows, and matches."""
