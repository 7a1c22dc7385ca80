"""Record containers: documents, lines, and server-sent events."""
