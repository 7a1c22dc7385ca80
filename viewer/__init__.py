"""Terminal viewer for language-model transcripts: shows what the end user was allowed to see."""

__version__ = "0.1.0"
