"""The record engine, which reads JSON records as the table of a format describes."""
