"""Tools that a transcript declares: their schemas, and the validation of call arguments."""
