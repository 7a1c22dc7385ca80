"""Byte sources: files, pipes, folders, and compressed or growing inputs."""
