"""The file list: of a folder, of named files, or of agent sessions."""
