"""Reader of Harmony token ids, and their vocabulary."""
