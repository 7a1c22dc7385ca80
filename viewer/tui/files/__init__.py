"""The list of files: of a folder, of named files, or of the sessions of agents."""
