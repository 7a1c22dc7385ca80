"""Redaction: secrets, home directories, and addresses in shown text, replaced by the same mask everywhere."""
