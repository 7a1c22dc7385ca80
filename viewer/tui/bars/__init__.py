"""The bars: title, channels, status, footer, and prompt."""
