"""Parsers for JSON, YAML, TypeScript types, times, and characters: bytes in, values out."""
