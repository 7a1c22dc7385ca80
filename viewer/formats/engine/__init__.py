"""The record engine, which reads JSON records according to the table of their format."""
