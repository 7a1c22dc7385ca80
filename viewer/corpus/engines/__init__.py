"""Engines: run the batches of a scan on one machine or on a cluster."""
