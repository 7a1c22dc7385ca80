"""Printed answers to questions about transcripts."""
