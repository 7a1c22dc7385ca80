"""Themes in the app: preview, switching, and reloading."""
