"""Write drafts to the recorder."""
