"""Settings: values, file, and template."""
