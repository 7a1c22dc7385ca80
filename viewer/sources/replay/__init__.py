"""Replay of inputs: bytes that arrive once more, and the times at which they first arrived."""
