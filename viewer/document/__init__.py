"""Documents: each is an input read in one format, with a projection for each audience."""
