"""Byte sources: files, pipes, folders, compressed and growing inputs."""
