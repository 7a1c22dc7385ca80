"""Reader of Harmony token IDs, and their vocabulary."""
