"""Replay of inputs: feed in their bytes again as if they were just arriving, and find out when they first arrived."""
