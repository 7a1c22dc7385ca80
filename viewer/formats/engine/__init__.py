"""Record engine: reads JSON records through the table of a format."""
