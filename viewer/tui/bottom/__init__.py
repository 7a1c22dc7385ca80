"""The bottom pane: problems, calls and timeline."""
