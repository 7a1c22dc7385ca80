"""Containers of records: documents, lines, and server-sent events."""
