"""Dialogs: files, help, and themes."""
