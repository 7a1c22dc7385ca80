"""The settings: values, file, template, and paths."""
