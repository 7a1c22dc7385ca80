"""The tables of the record formats: one module per format, data only."""
