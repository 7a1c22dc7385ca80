"""Search in bodies: patterns, bytes that a match needs, and whole blocks of the file at once."""
