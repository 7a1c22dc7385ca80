"""The merged view: several inputs as one, ordered by time."""
