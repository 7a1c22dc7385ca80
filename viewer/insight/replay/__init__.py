"""Replay: what arrived when, and the view at any moment."""
