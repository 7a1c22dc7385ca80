"""Replay of inputs: let their bytes arrive again, and find the times at which the bytes first arrived."""
