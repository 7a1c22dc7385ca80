"""A terminal viewer for transcripts of language models that shows what the end user was allowed to see."""

__version__ = "0.1.0"
