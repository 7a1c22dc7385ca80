"""Redaction: replace secrets, home directories, and addresses in shown text consistently by masks."""
