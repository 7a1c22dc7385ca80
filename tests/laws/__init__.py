"""One property per file, over all samples."""
