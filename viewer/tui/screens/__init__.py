"""Screens: lists of parts, and the wiring between them."""
