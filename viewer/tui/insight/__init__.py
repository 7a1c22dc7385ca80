"""Screens that answer questions about transcripts."""
