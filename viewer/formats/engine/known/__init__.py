"""Fast path for records of known shapes."""
