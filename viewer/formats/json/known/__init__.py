"""Fast path for JSON messages of known shapes."""
