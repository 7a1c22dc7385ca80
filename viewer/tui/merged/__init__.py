"""The merged view: several inputs in one order by time."""
