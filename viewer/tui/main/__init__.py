"""The main screen, its controllers, and its background tasks."""
