"""The values of a transcript, and the one rule for what an end user may see."""
