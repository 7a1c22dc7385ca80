"""Controllers for panes, lists, and commands."""
