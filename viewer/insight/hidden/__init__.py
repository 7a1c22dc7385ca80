"""Find words and rare strings in hidden text and in answers, using NumPy."""
