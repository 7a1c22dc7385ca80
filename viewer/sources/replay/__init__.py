"""Inputs that arrive once more, and the times at which they first did."""
