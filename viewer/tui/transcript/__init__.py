"""The transcript widget, its scroller, and its minimap."""
