"""The lens: one text as every text format reads it."""
