"""Dialogs: transcripts, marks, help, themes, the palette, and the welcome."""
