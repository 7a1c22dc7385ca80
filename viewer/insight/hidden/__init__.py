"""Words and rare strings of hidden text and answers, in NumPy."""
