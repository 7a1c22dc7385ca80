"""Containers: files and folders that hold transcripts, made into lines that a record format reads."""
