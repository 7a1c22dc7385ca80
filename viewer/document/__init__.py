"""Documents: one input read through a format, and projections of it for one audience."""
