"""Panes beside the transcript: outline, inspector, calls, and problems."""
