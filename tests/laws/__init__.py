"""Laws: one property per file, tested over all samples."""
