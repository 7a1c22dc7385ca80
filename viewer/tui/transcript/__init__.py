"""The transcript widget: its lines, scroller, and block cache."""
