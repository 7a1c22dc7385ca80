"""The app through a pilot, and reference pictures."""
