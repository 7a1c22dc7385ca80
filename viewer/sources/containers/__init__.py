"""Containers: turn files and folders that hold transcripts into lines that a record format reads."""
