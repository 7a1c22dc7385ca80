"""Controllers of panes, lists and commands."""
