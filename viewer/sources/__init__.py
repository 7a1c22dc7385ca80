"""Where bytes come from, and the document that reads them through a dialect."""
