"""Search in bodies: regular expressions, byte patterns, and literal search over whole blocks of the file."""
