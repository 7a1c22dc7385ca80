"""Redaction: consistently replace secrets, home directories, and addresses in shown text with masks."""
