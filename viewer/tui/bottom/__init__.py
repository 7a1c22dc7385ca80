"""The bottom pane, with tabs for problems, calls, and the timeline."""
