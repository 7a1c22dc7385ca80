"""The lens: how every text format reads the same input."""
