"""Bars: title, channels, status, footer, and prompt."""
