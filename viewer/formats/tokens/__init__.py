"""Harmony as token ids: reader and vocabulary."""
