"""Checks of messages and calls, the prefilters that select messages for them, and their queue."""
