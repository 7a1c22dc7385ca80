"""Tools that a transcript declares: their schemas, and what is wrong with the arguments of a call."""
