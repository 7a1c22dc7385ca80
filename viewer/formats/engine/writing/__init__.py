"""Writing of drafts to the recorder."""
