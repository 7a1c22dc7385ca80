"""Documents: an input read in one format, and its projections, each for one audience."""
