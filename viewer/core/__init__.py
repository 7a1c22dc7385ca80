"""What a transcript is, how its bytes are read and who may see what: pure functions and values, no I/O."""
