"""Panes around the transcript: outline, inspector, calls, and problems."""
