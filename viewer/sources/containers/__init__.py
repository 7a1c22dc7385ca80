"""Containers: turn files and folders that contain transcripts into lines that a record format reads."""
