"""Themes: files, preview, and reload."""
