"""The static site: pages for a browser that list and search many exported transcripts without a server."""
