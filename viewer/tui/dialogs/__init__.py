"""Dialogs: files, sessions, transcripts, help, and themes."""
