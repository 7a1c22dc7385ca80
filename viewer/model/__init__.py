"""The values of a transcript, and the visibility rule for the end user."""
