"""Screens of insight, over the main screen."""
